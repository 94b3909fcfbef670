package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lookleap/lookleap"
)

// TestCommandsAreExplained holds every command to what help promises.
func TestCommandsAreExplained(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range commands() {
		t.Run(c.name, func(t *testing.T) {
			if seen[c.name] {
				t.Error("two commands have this name")
			}
			seen[c.name] = true
			if c.summary == "" || strings.Contains(c.summary, "\n") {
				t.Errorf("the summary must be one line, it is %q", c.summary)
			}
			if !strings.Contains(c.about, "value:") && c.name != "completion" {
				t.Error("about must document the members of the value")
			}
			for example := range strings.Lines(c.examples + "\n") {
				words := shellWords(afterPipe(example))
				if len(words) < 2 || words[0] != "lookleap" {
					t.Errorf("the example %q does not call lookleap", example)
					continue
				}
				if line, err := parseLine(words[1:]); err != nil || line.topic != c.name {
					t.Errorf("the example %q does not parse as this command: %v", example, err)
				}
			}
			var help bytes.Buffer
			if err := writeHelp(&help, c.name); err != nil || !strings.Contains(strings.Join(strings.Fields(help.String()), " "), strings.Join(strings.Fields(c.about), " ")) {
				t.Errorf("help does not explain it: %v", err)
			}
		})
	}
}

// afterPipe returns the last command of a pipeline.
func afterPipe(example string) string {
	return strings.TrimSpace(example[strings.LastIndexByte(example, '|')+1:])
}

// TestFlagsAgree sees to what split relies on: a flag of one name takes a value
// in all commands or in none, and no command redefines a common flag.
func TestFlagsAgree(t *testing.T) {
	all := allFlags()
	common := commonFlags()
	for _, c := range commands() {
		c.flags().VisitAll(func(f *flag.Flag) {
			if isBool(f) != isBool(all.Lookup(f.Name)) {
				t.Errorf("%s: --%s takes a value in one command and none in another", c.name, f.Name)
			}
			if common.Lookup(f.Name) != nil {
				t.Errorf("%s: --%s is a flag of all commands", c.name, f.Name)
			}
		})
	}
}

func sessionFor(t *testing.T, o options, stdin io.Reader, stdout io.Writer) *session {
	t.Helper()
	s, err := newSession(o, stdin, stdout, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func TestPanicRefusesOneInput(t *testing.T) {
	var out bytes.Buffer
	s := sessionFor(t, options{json: true, timeout: defaultTimeout}, nil, &out)
	err := s.words(context.Background(), []string{"good", "bad", "good"}, func(_ context.Context, word string) result {
		if word == "bad" {
			panic("\x1b[2J")
		}
		return accept(nil)
	})
	if err != nil || s.refused != 1 {
		t.Fatalf("refused %d, %v", s.refused, err)
	}
	var codes []lookleap.Code
	for line := range strings.Lines(out.String()) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		codes = append(codes, r.Code)
	}
	if len(codes) != 3 || codes[0] != lookleap.CodeOK || codes[1] != lookleap.CodeInternal || codes[2] != lookleap.CodeOK {
		t.Errorf("codes %v", codes)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the panic's words came out raw")
	}
}

func TestFilesAreBounded(t *testing.T) {
	s := sessionFor(t, options{timeout: defaultTimeout}, io.LimitReader(zeros{}, maxFile+1), io.Discard)
	if _, err := s.read(t.Context(), "-"); lookleap.CodeOf(err) != lookleap.CodeTooLarge {
		t.Errorf("an endless standard input ends with %v", err)
	}
	if _, err := s.read(t.Context(), "testdata/no such file"); lookleap.CodeOf(err) != lookleap.CodeIO {
		t.Errorf("a missing file ends with %v", err)
	}
	s = sessionFor(t, options{timeout: defaultTimeout}, io.LimitReader(zeros{}, maxWord+1), io.Discard)
	if err := s.words(context.Background(), []string{"-"}, explainCode); err != nil || s.refused != 1 {
		t.Errorf("an endless line: refused %d, %v", s.refused, err)
	}
}

// TestFiles shows that every file has its line, whatever became of the one before.
func TestFiles(t *testing.T) {
	var out bytes.Buffer
	s := sessionFor(t, options{json: true, timeout: defaultTimeout}, strings.NewReader("piped"), &out)
	var seen []string
	err := s.files(context.Background(), []string{"no such file", "-", "main.go", "."}, func(content []byte) result {
		seen = append(seen, string(content[:5]))
		return accept(len(content))
	})
	if err != nil || s.refused != 2 || !slices.Equal(seen, []string{"piped", "// Lo"}) || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("refused %d, judged %q, %v:\n%s", s.refused, seen, err, &out)
	}
	if strings.Count(out.String(), `"ok":false,"code":"io"`) != 2 {
		t.Errorf("a file that cannot be read has another code:\n%s", &out)
	}
	if err := s.files(context.Background(), nil, nil); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Errorf("no file at all: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestRefuseTellsTheStory shows that a verdict's story reaches the result.
func TestRefuseTellsTheStory(t *testing.T) {
	verdict := &lookleap.Verdict{Subject: "s", Code: lookleap.CodeTruncated, Summary: "it ended", Findings: []lookleap.Finding{{Code: lookleap.CodeTruncated}}}
	r := refuse(errors.Join(errors.New("outer"), &lookleap.VerifyError{Verdict: verdict}))
	if r.OK || r.Code != lookleap.CodeTruncated || r.Message != "it ended" || r.Verdict != verdict || len(r.Findings) != 1 {
		t.Errorf("%+v", r)
	}
}

// FuzzRun throws any command line at the program: it must not panic, must end
// with one of its exit codes, and must print nothing that moves a cursor. Isolates
// (U+2068, U+2069) only keep the direction of a quotation to itself.
func FuzzRun(f *testing.F) {
	for _, line := range []string{"code\x00ok", "--json\x00code\x00-", "help\x00code", "--\x00", "url\x00--root\x00https://a.example/\x00https://a.example/b", "-\x00-=x\x00---"} {
		f.Add(line, "ok\n\x1b[2J")
	}
	f.Fuzz(func(t *testing.T, line, stdin string) {
		args := strings.Split(line, "\x00")
		if usesNetwork(args) {
			t.Skip("needs a network")
		}
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(stdin), &stdout, &stderr); code < exitAccepted || code > exitUsage {
			t.Errorf("exit code %d", code)
		}
		for _, out := range []string{stdout.String(), stderr.String()} {
			for _, r := range out {
				if r != '\n' && r != '\u2068' && r != '\u2069' && !unicode.IsPrint(r) {
					t.Fatalf("the output holds %U raw: %q", r, out)
				}
			}
		}
	})
}

// usesNetwork reports whether the command line names a command other than the pure ones.
func usesNetwork(args []string) bool {
	line, err := parseLine(args)
	return err == nil && line.topic != "url" && line.topic != "code" && line.topic != "help"
}
