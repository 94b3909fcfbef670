package dvs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestScriptShown asks for scripts of which a prompt could leave something out.
func TestScriptShown(t *testing.T) {
	ask := func(t *testing.T, in dvs.Invocation, files map[string]string) (lookleap.ConsentRequest, error) {
		t.Helper()
		user := &prompter{decide: agree}
		site, _, _, skill := scriptWorld(t, user)
		for name, text := range files {
			site.File("/s/a/"+name, "text/plain", text)
		}
		_, err := skill.Approve(t.Context(), in)
		if user.count() == 0 {
			return lookleap.ConsentRequest{}, err
		}
		return *user.asked[len(user.asked)-1], err
	}
	t.Run("P01", func(t *testing.T) {
		for name, c := range map[string]struct {
			in   dvs.Invocation
			want string
		}{
			"reject-hidden-argument":    {dvs.Invocation{Args: []string{"-c", "rm -rf ~"}, Uses: []dvs.Use{{Name: "rm -rf ~", Mode: "-c"}}}, `argument 2: "rm -rf ~"`},
			"reject-hidden-environment": {dvs.Invocation{Env: []string{"LD_PRELOAD=/tmp/x.so"}, Uses: []dvs.Use{{Name: "LD_PRELOAD=/tmp/x.so", Mode: "read"}}}, `: "LD_PRELOAD=/tmp/x.so"`},
			"reject-hidden-interpreter": {dvs.Invocation{Interpreter: []string{"bash"}, Uses: []dvs.Use{{Name: "bash", Mode: "execute"}}}, `interpreter: "bash"`},
		} {
			t.Run(name, func(t *testing.T) {
				c.in.Script = "scripts/x.sh"
				req, err := ask(t, c.in, nil)
				if err != nil || !strings.Contains(req.String(), c.want) {
					t.Errorf("%v\n%s", err, req.String())
				}
			})
		}
	})
	t.Run("P09", func(t *testing.T) {
		for name, class := range map[string]lookleap.ItemClass{"scripts/helper.py": lookleap.ItemCode, "scripts/tool": lookleap.ItemCode, "data.csv": ""} {
			code := class == lookleap.ItemCode
			t.Run(map[bool]string{true: "reject-hidden-code-of-", false: "accept-data-of-"}[code]+strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
				text := "import os; os.remove('x')\n" + strings.Repeat("# more\n# and more\n", 1000)
				req, err := ask(t, dvs.Invocation{Script: "scripts/x.sh", Files: []string{name}}, map[string]string{name: text})
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(req.Items, func(i lookleap.ConsentItem) bool { return i.ID == "file-1" })
				if req.Items[i].Class != class || strings.Contains(req.String(), "os.remove('x')") != code || req.Abridged() != code {
					t.Errorf("%q %v\n%s", req.Items[i].Class, req.Abridged(), req.String())
				}
			})
		}
		t.Run("reject-too-many-files-of-code", func(t *testing.T) {
			in, files := dvs.Invocation{Script: "scripts/x.sh"}, map[string]string{}
			for i := range 33 {
				name := "scripts/f" + strings.Repeat("x", i) + ".py"
				in.Files, files[name] = append(in.Files, name), "x\n"
			}
			if _, err := ask(t, in, files); lookleap.CodeOf(err) != lookleap.CodeConsentTooLong {
				t.Error(err)
			}
		})
	})
	t.Run("P10", func(t *testing.T) {
		for name, c := range map[string]struct {
			in   dvs.Invocation
			code lookleap.Code
		}{
			"reject-empty-uses":       {dvs.Invocation{Uses: make([]dvs.Use, 100_000)}, lookleap.CodeUsage},
			"reject-many-uses":        {dvs.Invocation{Uses: slices.Repeat([]dvs.Use{{Name: "x", Mode: "r"}}, 2000)}, lookleap.CodeConsentTooLong},
			"reject-empty-arguments":  {dvs.Invocation{Args: make([]string, 20_000)}, lookleap.CodeConsentTooLong},
			"reject-lines":            {dvs.Invocation{Args: []string{strings.Repeat("a\n", 2000)}}, lookleap.CodeConsentTooLong},
			"accept-equal-arguments":  {dvs.Invocation{Args: make([]string, 200)}, lookleap.CodeOK},
			"accept-arguments-spaced": {dvs.Invocation{Args: []string{"a", "b", "b", "c"}}, lookleap.CodeOK},
		} {
			t.Run(name, func(t *testing.T) {
				c.in.Script = "scripts/x.sh"
				req, err := ask(t, c.in, nil)
				if lookleap.CodeOf(err) != c.code {
					t.Fatal(err)
				}
				if s := req.String(); strings.Count(s, "\n") > 60 || name == "accept-equal-arguments" && !strings.Contains(s, `each of the arguments 1 to 200: ""`) ||
					name == "accept-arguments-spaced" && !strings.Contains(s, "each of the arguments 2 to 3: \"b\"\n") {
					t.Error(s)
				}
			})
		}
	})
}
