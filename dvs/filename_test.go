package dvs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestCheckFileNames(t *testing.T) {
	const (
		unsafeName = dvs.CodeUnsafeName
		clash      = dvs.CodeNameClash
		outside    = "the path does not lead to a file below the skill's directory"
		hidden     = "a name has a character that cannot be seen"
		blank      = "a name begins or ends with a blank or ends with a dot, which some systems drop"
		device     = "a name is that of a device on Windows"
		git        = "a directory of that name holds what git or Mercurial runs"
		same       = "on some systems the file is the same as another one"
		signs      = `a name has one of < > : " | ? * \, which mean something to some systems`
	)
	long := strings.Repeat("a", 200)
	for name, c := range map[string]struct {
		paths []string
		code  lookleap.Code
		says  string
	}{
		"none":                   {nil, "", ""},
		"different":              {[]string{"SKILL.md", "data/a.csv", "data/b.csv"}, "", ""},
		"directory-twice":        {[]string{"x/y/a", "x/y/b", "x/z/a", "x/y/c"}, "", ""},
		"twice":                  {[]string{"a.md", "A.md"}, clash, same},
		"same-path-twice":        {[]string{"x/a.md", "x/a.md"}, clash, same},
		"directory":              {[]string{"a", "A/b"}, clash, same},
		"file-then-directory":    {[]string{"a", "a/b"}, clash, same},
		"directory-then-file":    {[]string{"a/b", "a"}, clash, same},
		"directory-in-capitals":  {[]string{"x/a", "X/b"}, clash, same},
		"sharp-s":                {[]string{"stra\u00dfe", "STRASSE"}, clash, same},
		"compatibility-form":     {[]string{"\ufb01le", "file"}, clash, same},
		"without-capital":        {[]string{"\u0131", "i"}, clash, same},
		"empty":                  {[]string{""}, unsafeName, outside},
		"dot":                    {[]string{"."}, unsafeName, outside},
		"parent":                 {[]string{"../a"}, unsafeName, outside},
		"absolute":               {[]string{"/a"}, unsafeName, outside},
		"slash-at-the-end":       {[]string{"a/"}, unsafeName, outside},
		"1000-bytes":             {[]string{strings.Repeat(long+"/", 4) + long[:196]}, "", ""},
		"1001-bytes":             {[]string{strings.Repeat(long+"/", 4) + long[:197]}, unsafeName, "the path is longer than 1000 bytes"},
		"name-of-201-bytes":      {[]string{"x/" + long + "a"}, unsafeName, "a name is longer than 200 bytes"},
		"16-names":               {[]string{strings.Repeat("a/", 15) + "a"}, "", ""},
		"17-names":               {[]string{strings.Repeat("a/", 16) + "a"}, unsafeName, "the path has too many directories"},
		"not-utf-8":              {[]string{"a\xff"}, unsafeName, "the path is not UTF-8"},
		"stream":                 {[]string{"a:b"}, unsafeName, signs},
		"backslash":              {[]string{`a\b`}, unsafeName, signs},
		"override":               {[]string{"a\u202eb"}, unsafeName, hidden},
		"hangul-filler":          {[]string{"a\u3164b"}, unsafeName, hidden},
		"replacement-character":  {[]string{"a\ufffdb"}, unsafeName, hidden},
		"private-use":            {[]string{"a\ue000b"}, unsafeName, hidden},
		"control-character":      {[]string{"a\x01b"}, unsafeName, hidden},
		"blank-inside":           {[]string{"a b"}, "", ""},
		"blank-before":           {[]string{" a"}, unsafeName, blank},
		"blank-behind":           {[]string{"a "}, unsafeName, blank},
		"dot-behind":             {[]string{"a."}, unsafeName, blank},
		"device":                 {[]string{"con"}, unsafeName, device},
		"device-with-extension":  {[]string{"NUL.tar.gz"}, unsafeName, device},
		"device-with-blank":      {[]string{"aux .txt"}, unsafeName, device},
		"device-with-digit":      {[]string{"com0"}, unsafeName, device},
		"device-with-high-digit": {[]string{"LPT\u00b9.x"}, unsafeName, device},
		"port-without-digit":     {[]string{"com", "lpt.txt"}, "", ""},
		"port-with-two-digits":   {[]string{"com12"}, "", ""},
		"port-with-letter":       {[]string{"comx"}, "", ""},
		"decomposed":             {[]string{"o\u0308"}, unsafeName, "a name is not in composed form, so systems store it differently"},
		"git":                    {[]string{"x/.Git/config"}, unsafeName, git},
		"short-name-of-git":      {[]string{"GIT~1/config"}, unsafeName, git},
	} {
		t.Run(name, func(t *testing.T) {
			err := dvs.CheckFileNames(c.paths...)
			var e *lookleap.Error
			if c.code == "" && err == nil || errors.As(err, &e) && e.Code == c.code && e.Message == c.says {
				return
			}
			t.Errorf("%#v", err)
		})
	}
}

// TestUnsafeNames has each kind of name that some system reads as another one, or refuses.
func TestUnsafeNames(t *testing.T) {
	const (
		device  = "a name is that of a device on Windows"
		blank   = "a name begins or ends with a blank or ends with a dot, which some systems drop"
		sign    = `a name has one of < > : " | ? * \, which mean something to some systems`
		outside = "the path does not lead to a file below the skill's directory"
		git     = "a directory of that name holds what git or Mercurial runs"
	)
	check := func(name, says string, paths ...string) {
		t.Run("D07/reject-"+name, func(t *testing.T) {
			for _, path := range paths {
				var e *lookleap.Error
				if err := dvs.CheckFileNames(path); !errors.As(err, &e) || e.Code != dvs.CodeUnsafeName || e.Message != says {
					t.Errorf("%q: %#v", path, err)
				}
			}
		})
	}
	check("devices", device, "CON", "prn", "Aux", "nul", "conin$", "CONOUT$", "clock$", "x/nul/y", "con.txt", "aux .txt")
	check("ports", device, "com0", "com1", "COM2", "com3.txt", "com4", "com5", "com6", "com7", "com8", "com9", "com\u00b9", "com\u00b2", "com\u00b3",
		"lpt0", "lpt1", "LPT2", "lpt3.txt", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt\u00b9", "lpt\u00b2", "lpt\u00b3")
	check("signs", sign, "a<b", "a>b", "a:b", `a"b`, "a|b", "a?b", "a*b", `a\b`, `..\x`, "C:x", `\\?\x`)
	check("blanks-and-dots", blank, " a", "a ", "a.", "x/a./y", "x/ a")
	check("outside", outside, "../x", "/x", "x/../y", "./x", "x//y", "x/", ".", "")
	check("repositories", git, ".git/config", "x/.GIT/hooks/a", "git~1/config", ".hg/hgrc", "HG~1/hgrc")
	t.Run("D07/accept-almost", func(t *testing.T) {
		for _, path := range []string{"com", "com12", "comx", "lpt", "console.js", "nul1", "a b", ".gitignore", "git", "x/.env", "..x", "a..b"} {
			if err := dvs.CheckFileNames(path); err != nil {
				t.Error(err)
			}
		}
	})
	for name, paths := range map[string][]string{
		"same-name": {"a.md", "a.md"}, "other-case": {"Run.sh", "run.sh"}, "directory-in-other-case": {"x/a", "X/b"},
		"sharp-s": {"stra\u00dfe", "STRASSE"}, "compatibility-form": {"\ufb01le", "file"}, "without-capital": {"\u0131", "i"},
		"case-of-an-accent": {"\u00c9", "\u00e9"}, "file-before-directory": {"a", "A/b"}, "directory-before-file": {"A/b", "a"},
	} {
		t.Run("D05/reject-"+name, func(t *testing.T) {
			if err := dvs.CheckFileNames(paths...); lookleap.CodeOf(err) != dvs.CodeNameClash {
				t.Error(err)
			}
		})
	}
	t.Run("D05/accept-different", func(t *testing.T) {
		if err := dvs.CheckFileNames("a/x", "a/y", "b/x", "e", "\u00e9"); err != nil {
			t.Error(err)
		}
	})
}
