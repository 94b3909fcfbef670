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
