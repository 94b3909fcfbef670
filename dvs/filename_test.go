package dvs_test

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

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
