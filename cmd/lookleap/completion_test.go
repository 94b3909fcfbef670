package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// completing runs a script, and print the words that each line is completed to, on a line of their own.
// The line stands in %[1]s, and %[2]d is the index of its last word.
var completing = map[string]struct {
	args         []string
	before, each string
}{
	"bash": {[]string{"--norc", "-c"}, "", `COMP_WORDS=(%[1]s); COMP_CWORD=%[2]d; _lookleap; echo "${COMPREPLY[*]}"`},
	"zsh":  {[]string{"-f", "-c"}, "autoload -U compinit && compinit -u -D", `emulate ksh; COMP_WORDS=(%[1]s); COMP_CWORD=%[2]d; _lookleap; echo "${COMPREPLY[*]}"`},
	"fish": {[]string{"--no-config", "-c"}, "", `echo (complete -C "%[1]s" | string split -f1 \t)`},
}

// TestCompletion runs the scripts in the shells that are here.
func TestCompletion(t *testing.T) {
	for _, shell := range shells {
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
			how, ok := completing[shell]
			path, err := exec.LookPath(shell)
			if !ok || err != nil {
				t.Skip("the script was not run: there is no ", shell)
			}
			lines := [][2]string{
				{"lookleap doc", "doctor"},
				{"lookleap doctor --de", "--dev"},
				{"lookleap --de", "--dev"},
				{"lookleap --json url --ro", "--root"},
				{"lookleap --ca x.pem doc", "doctor"},
				{"lookleap --ca site doc", "doctor"},
				{"lookleap help wel", "wellknown"},
				{"lookleap completion po", "powershell"},
				{"lookleap code --robo", ""},
				{"lookleap --timeout do", ""},
				{"lookleap url --root doc", ""},
				{"lookleap agentstxt --robo", "--robots"},
			}
			program := how.before + "\n" + script.String()
			for _, line := range lines {
				program += fmt.Sprintf(how.each, line[0], len(strings.Fields(line[0]))-1) + "\n"
			}
			command := exec.Command(path, append(how.args, program+"true\n")...)
			command.Dir = t.TempDir() // no file has such a name
			// Nothing of the user's shell: no start-up files, no language that is not installed here.
			command.Env = []string{"HOME=" + command.Dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
			out, err := command.CombinedOutput()
			printed := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if err != nil || len(printed) != len(lines) {
				t.Fatalf("%v\n%s", err, out)
			}
			for i, line := range lines {
				words := strings.Fields(line[0])
				var got []string
				for word := range strings.FieldsSeq(printed[i]) {
					if strings.HasPrefix(word, words[len(words)-1]) { // zsh itself selects the words that fit
						got = append(got, word)
					}
				}
				if strings.Join(got, " ") != line[1] {
					t.Errorf("%s<TAB> is %q", line[0], printed[i])
				}
			}
		})
	}
}
