package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// TestScripted runs the demo with users who decide differently.
func TestScripted(t *testing.T) {
	for name, c := range map[string]struct {
		keys      string
		want, not []string
	}{
		"accept-all":     {strings.Repeat("y\n", 6), []string{"Two seats to the island are booked", "disclosed email", "disclosed tel", "for confirm"}, []string{"refused "}},
		"accept-no-tel":  {"y\ny\nn\ny\ny\ny\n", []string{"Two seats to the island are booked", "disclosed email", "refused   tel"}, []string{"disclosed tel"}},
		"reject-reserve": {"n\n", []string{`The step "reserve" failed`, "did not agree"}, []string{"booked", "disclosed", "00pay"}},
		"reject-pay":     {"y\nn\nn\nn\nn\ny\n", []string{"I gave the seats back", `The step "pay" failed`}, []string{"booked", "disclosed", "00confirm"}},
		"reject-away":    {"", []string{"did not agree"}, []string{"booked", "disclosed"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := play(t, c.keys)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, not := range c.not {
				if strings.Contains(out, not) {
					t.Errorf("%q is in the output", not)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// play runs the program with the keys that its user types.
func play(t *testing.T, keys string, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(context.Background(), args, strings.NewReader(keys), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestFiles has the files of a policy, a ledger and a profile.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = `{"type":"application/vnd.lookleap.policy+json;version=1",`
	never := file("policy.json", head+`"agent":{"neverTell":["tel"]}}`)
	me := file("me.json", `{"fn":"Robin Example","email":"robin@example.com","tel":"+1 555 0101"}`)
	ledger := filepath.Join(dir, "ledger")

	out := play(t, strings.Repeat("y\n", 6), "--policy", never, "--ledger", ledger, "--profile", me)
	if !strings.Contains(out, "are booked") || !strings.Contains(out, `"robin@example.com"`) || strings.Contains(out, "disclosed tel") || strings.Contains(out, "0101") {
		t.Error(out)
	}
	store, err := lookleap.OpenStore(ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var recorded strings.Builder
	if _, err := (agent.Filter{}).Export(t.Context(), agent.NewLedger(store), &recorded); err != nil || !strings.Contains(recorded.String(), `"field":"email"`) {
		t.Errorf("%v\n%s", err, recorded.String())
	}

	for name, c := range map[string]struct {
		want string
		args []string
	}{
		"reject-policy":      {"nothing is allowed", []string{"--policy", filepath.Join(dir, "missing.json")}},
		"reject-denied":      {"denied", []string{"--policy", file("deny.json", head+`"skills":{"deny":["ferries.example"]}}`)}},
		"reject-profile":     {"kim@example.com", []string{"--profile", file("list.json", `[]`)}},
		"reject-same-skill":  {"are both called", []string{"--skill", "https://ferries.example/skills/book-a-ferry/SKILL.md"}},
		"reject-model-alone": {"--model-url", []string{"--model", "m"}},
		"reject-site-alone":  {"scripted model", []string{"--site", "https://shop.example"}},
		"reject-no-task":     {"no task", []string{"--site", "https://shop.example", "--model", "m", "--model-url", "http://localhost:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(context.Background(), c.args, strings.NewReader(""), &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
