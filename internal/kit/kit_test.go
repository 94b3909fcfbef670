package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap/anml"
)

// speak makes the test binary a program of the protocol: "ours", or a copy with a rule that is broken.
const speak = "LOOKLEAP_KIT_SPEAK"

// broken are copies of this module with one rule each that is broken, and a case that shows it.
var broken = map[string]struct {
	operation string
	decide    operation
	shown     string
}{
	"root-is-a-prefix-of-the-text": {"dvs.decide", typed(func(_ context.Context, in struct{ Root, URL string }) (map[string]any, error) {
		if !strings.HasPrefix(in.URL, strings.TrimSuffix(in.Root, "/")) {
			return nil, refused("outside-trust-root")
		}
		return nil, nil
	}), "dvs/decisions/string-prefix"},
	"hash-is-not-compared": {"agentstxt.parse", typed(func(ctx context.Context, in struct {
		File   string
		Base64 []byte
	}) (map[string]any, error) {
		outcome, err := parsePolicy(ctx, in)
		if outcome["hint"] != nil {
			return map[string]any{"state": "valid"}, nil
		}
		return outcome, err
	}), "agentstxt/files/one-octet-changed"},
	"signature-is-not-verified": {"ai.verify", func(context.Context, json.RawMessage) (map[string]any, error) { return nil, nil }, "aiuri/results/changed-body"},
	"values-are-not-checked":    {"anml.value", func(context.Context, json.RawMessage) (map[string]any, error) { return nil, nil }, "anml/values/number-wrong-1"},
	"says-nothing-new":          {"anml.read", typed(func(context.Context, struct{}) (map[string]any, error) { return nil, anml.ErrNotWellFormed }), "anml/documents/least-xml"},
}

func TestMain(m *testing.M) {
	name := os.Getenv(speak)
	if name == "" {
		os.Exit(m.Run())
	}
	all := maps.Clone(operations)
	if b, ok := broken[name]; ok {
		all[b.operation] = b.decide
	}
	if err := serve(context.Background(), all, os.Stdin, os.Stdout); err != nil {
		panic(err)
	}
}

func load(t *testing.T) []Document {
	t.Helper()
	documents, err := Load(Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// wrong returns the cases that a program answers wrongly.
func wrong(t *testing.T, classOnly bool, program string, args ...string) []string {
	t.Helper()
	scores, err := Run(t.Context(), load(t), program, args...)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, s := range scores {
		for _, r := range s.Wrong(classOnly) {
			ids = append(ids, r.Case.ID)
		}
	}
	return ids
}

// TestCurrent makes the kit from the vectors: "go run ./internal/kit/lookleap-kit -update" writes it.
func TestCurrent(t *testing.T) {
	want, err := Build(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range want {
		if got, err := fs.ReadFile(Embedded(), name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s is not current: %v", name, err)
		}
	}
	both := map[string]bool{}
	for _, d := range load(t) {
		for _, c := range d.Cases {
			both[c.Class] = true
			if operations[c.Operation] == nil || c.Class != Accept && c.Class != Reject {
				t.Errorf("%s: %s, %s", c.ID, c.Operation, c.Class)
			}
		}
	}
	if !both[Accept] || !both[Reject] {
		t.Errorf("the classes are %v", both)
	}
}

func TestOurs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("passes-whole", func(t *testing.T) {
		t.Setenv(speak, "ours")
		if ids := wrong(t, false, self); len(ids) != 0 {
			t.Errorf("wrong: %q", ids)
		}
	})
	for name, b := range broken {
		t.Run("finds-"+name, func(t *testing.T) {
			t.Setenv(speak, name)
			ids := wrong(t, true, self)
			if !slices.Contains(ids, b.shown) {
				t.Errorf("%s is not among %q", b.shown, ids)
			}
		})
	}
}

// TestOthers scores programs that share no code with this module. Each difference is explained.
func TestOthers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("others", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for program, interpreter := range map[string]string{"standard.py": "python3", "standard.mjs": "node"} {
		t.Run(program, func(t *testing.T) {
			path, err := exec.LookPath(interpreter)
			if err != nil {
				t.Skipf("%s is not installed", interpreter)
			}
			_, section, found := strings.Cut(string(page), "\n## "+program)
			section, _, _ = strings.Cut(section, "\n## ")
			explained := []string{}
			for line := range strings.Lines(section) {
				cells := strings.Split(line, " | ")
				if id, row := strings.CutPrefix(cells[0], "| "); row && id != "case" && len(cells) == 2 && len(cells[1]) > 20 {
					explained = append(explained, id)
				}
			}
			got := wrong(t, true, path, filepath.Join("others", program))
			slices.Sort(got)
			slices.Sort(explained)
			if !found || !slices.Equal(got, explained) {
				t.Errorf("%s differs in\n%q\nand explained are\n%q", program, got, explained)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	documents := []Document{{"d", []Case{{ID: "a", Class: Accept}}}}
	for name, script := range map[string]string{
		"no-answer":     "cat >/dev/null",
		"not-json":      "echo yes",
		"other-id":      `echo '{"id":"b","class":"accept"}'`,
		"second-answer": `echo '{"id":"a","class":"accept"}'; echo '{"id":"a","class":"reject"}'`,
		"exit-status":   `echo '{"id":"a","class":"accept"}'; exit 3`,
	} {
		t.Run(name, func(t *testing.T) {
			if scores, err := Run(t.Context(), documents, "sh", "-c", script); err == nil {
				t.Errorf("got %v", scores)
			}
		})
	}
	t.Run("answers", func(t *testing.T) {
		scores, err := Run(t.Context(), documents, "sh", "-c", `cat >/dev/null; echo '{"id":"a","class":"accept","outcome":{"more":1}}'`)
		if err != nil || len(scores) != 1 || !scores[0].Results[0].Passed() {
			t.Errorf("got %v, %v", scores, err)
		}
	})
}

func TestGrade(t *testing.T) {
	c := Case{Class: Accept, Outcome: map[string]any{"n": 1.0, "list": []any{"a"}}}
	for name, test := range map[string]struct {
		answer Answer
		class  bool
		wrong  string
	}{
		"equal":          {Answer{Class: Accept, Outcome: map[string]any{"n": 1, "list": []string{"a"}, "more": true}}, true, ""},
		"other-value":    {Answer{Class: Accept, Outcome: map[string]any{"n": 2, "list": []string{"a"}}}, true, "n"},
		"absent":         {Answer{Class: Accept}, true, "list n"},
		"other-class":    {Answer{Class: Reject}, false, ""},
		"no-such-class":  {Answer{Class: "yes"}, false, ""},
		"not-supporting": {Answer{Class: Unsupported}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if r := grade(c, test.answer); r.Class != test.class || strings.Join(r.Wrong, " ") != test.wrong {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	good := fstest.MapFS{}
	for _, name := range []string{"manifest.json", "anml.json", "agentstxt.json", "aiuri.json", "anml-agent.json", "anml-trust.json", "dvs.json", "receipts.json", "wellknown.json"} {
		data, err := fs.ReadFile(Embedded(), name)
		if err != nil {
			t.Fatal(err)
		}
		good[name] = &fstest.MapFile{Data: data}
	}
	if _, err := Load(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(fstest.MapFS){
		"changed-file":   func(f fstest.MapFS) { f["dvs.json"] = &fstest.MapFile{Data: []byte(`{"cases":[]}`)} },
		"missing-file":   func(f fstest.MapFS) { delete(f, "dvs.json") },
		"other-protocol": func(f fstest.MapFS) { f["manifest.json"] = &fstest.MapFile{Data: []byte(`{"protocol":2}`)} },
		"no-manifest":    func(f fstest.MapFS) { delete(f, "manifest.json") },
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(good)
			change(files)
			if _, err := Load(files); err == nil {
				t.Error("the kit is read")
			}
		})
	}
}
