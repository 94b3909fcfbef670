package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the scripts in testdata with what lookleap prints now")

// TestScripts runs testdata/*.txt, which read like a shell session:
//
//	# a comment
//	$ lookleap --json code "o\u006b"
//	< a line of standard input, escaped as in Go
//	a line of standard output
//	! a line of standard error
//	= 0
//
// The last line of each step is the exit code.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

// TestReadme replays the session that the README shows.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "```text\n$ go run ./cmd/lookleap "
	_, session, found := strings.Cut(string(readme), prompt)
	if !found {
		t.Fatal("the README shows no session")
	}
	session, _, _ = strings.Cut(session, "```")
	command, want, _ := strings.Cut(session, "\n")
	t.Chdir("../..") // where a reader is
	var stdout bytes.Buffer
	run(context.Background(), shellWords(command), nil, &stdout, &stdout)
	if stdout.String() != want {
		t.Errorf("lookleap %s\ngot:\n%swant:\n%s", command, &stdout, want)
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	steps := splitSteps(string(text))
	for _, s := range steps {
		got := s.play(t)
		now.WriteString(s.input + got)
		if !*update && got != s.want {
			t.Errorf("%s\ngot:\n%swant:\n%s", s.command, got, s.want)
		}
	}
	if len(steps) == 0 {
		t.Error("the script has no steps")
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// step is one command of a script.
type step struct {
	command string
	stdin   string
	input   string // the lines that want does not hold: comments, command, standard input
	want    string // the lines of both outputs, and the exit code
}

func splitSteps(text string) (steps []step) {
	var s step
	for line := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case kind == "$":
			s.command = rest
			s.input += line
		case kind == "<":
			s.stdin += unescape(rest) + "\n"
			s.input += line
		case s.command == "":
			s.input += line
		default:
			s.want += line
			if kind == "=" {
				steps = append(steps, s)
				s = step{}
			}
		}
	}
	return steps
}

func (s step) play(t *testing.T) string {
	words := shellWords(s.command)
	if len(words) == 0 || words[0] != "lookleap" {
		t.Fatalf("%q does not begin with lookleap", s.command)
	}
	var stdout, stderr, got bytes.Buffer
	code := run(context.Background(), words[1:], strings.NewReader(s.stdin), &stdout, &stderr)
	got.Write(stdout.Bytes())
	for line := range strings.Lines(stderr.String()) {
		got.WriteString("! " + line)
	}
	fmt.Fprintf(&got, "= %d\n", code)
	return got.String()
}

// shellWords splits at spaces; a word in double quotes is a Go string, one in
// single quotes stands as it is.
func shellWords(command string) (words []string) {
	for rest := strings.TrimSpace(command); rest != ""; rest = strings.TrimSpace(rest) {
		switch {
		case rest[0] == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil
			}
			word, _ := strconv.Unquote(quoted)
			words, rest = append(words, word), rest[len(quoted):]
		case rest[0] == '\'':
			word, after, _ := strings.Cut(rest[1:], "'")
			words, rest = append(words, word), after
		default:
			word, after, _ := strings.Cut(rest, " ")
			words, rest = append(words, word), after
		}
	}
	return words
}

func unescape(line string) string {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
	if err != nil {
		return line
	}
	return text
}

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
