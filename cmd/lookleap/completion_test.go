package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion runs the scripts in the shells that are here.
func TestCompletion(t *testing.T) {
	for _, shell := range completionArgs {
		t.Run(shell, func(t *testing.T) {
			var script strings.Builder
			if err := writeCompletion(&script, shell); err != nil {
				t.Fatal(err)
			}
			for _, c := range commands() {
				if !strings.Contains(script.String(), c.name) {
					t.Errorf("%s is missing", c.name)
				}
			}
			if shell != "bash" {
				return
			}
			bash, err := exec.LookPath("bash")
			if err != nil {
				t.Skip("no bash")
			}
			for typed, want := range map[string]string{
				"lookleap doc":             "doctor",
				"lookleap doctor --de":     "--dev",
				"lookleap --json url --ro": "--root",
				"lookleap help wel":        "wellknown",
				"lookleap completion po":   "powershell",
				"lookleap doctor --root":   "",
			} {
				words := strings.Fields(typed)
				program := script.String() + "COMP_WORDS=(" + strings.Join(words, " ") + "); COMP_CWORD=" + string(rune('0'+len(words)-1)) + "; _lookleap; echo \"${COMPREPLY[*]}\""
				out, err := exec.Command(bash, "--norc", "-c", program).CombinedOutput()
				if got := strings.TrimSpace(string(out)); got != want || err != nil {
					t.Errorf("%s<TAB> is %q, %v", typed, got, err)
				}
			}
		})
	}
}
