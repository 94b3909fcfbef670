package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
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
				words := shellWords(example[strings.LastIndexByte(example, '|')+1:])
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

// judgement is what a command says about its first input, with a value of a type.
type judgement[V any] struct {
	OK            bool
	Code, Message string
	Findings      []lookleap.Finding
	Value         V
	Verdict       *lookleap.Verdict

	exit int
	text string // both outputs
}

// judged runs a command with --json.
func judged[V any](t *testing.T, args ...string) (got judgement[V]) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got.exit = run(context.Background(), append([]string{"--json"}, args...), nil, &stdout, &stderr)
	got.text = stdout.String() + stderr.String()
	if err := json.NewDecoder(&stdout).Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, got.text)
	}
	return got
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
	if err != nil || s.refused != 1 || strings.Contains(out.String(), "\x1b") {
		t.Fatalf("refused %d, %v, %q", s.refused, err, &out)
	}
	codes := regexp.MustCompile(`"code":"[a-z]+"`).FindAllString(out.String(), -1)
	if !slices.Equal(codes, []string{`"code":"ok"`, `"code":"internal"`, `"code":"ok"`}) {
		t.Errorf("codes %v", codes)
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
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

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

// Lines are wrapped at any width, no word is lost, and only a word alone is wider.
func TestWrap(t *testing.T) {
	text := "yes  \"https://example.com/\"\n     warning 1:2: the hash line is missing from the file\n     ├─ + the site is a third party to the server [B8]\n     fix " + strings.Repeat("x", 90) + " end\n\n"
	if wrap(text, 0) != text {
		t.Error("width 0 changes the text")
	}
	for width := range 130 {
		wrapped := wrap(text, width)
		if strings.Join(strings.Fields(wrapped), " ") != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("width %d changes words:\n%s", width, wrapped)
		}
		for line := range strings.Lines(wrapped) {
			line = strings.TrimSuffix(line, "\n")
			if width > 0 && columns(line) > width && len(strings.Fields(strings.Trim(line, " │├└─"))) > 1 {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
	if got := wrap("     fix put it at the end\n", 20); got != "     fix put it at\n     the end\n" {
		t.Errorf("%q", got)
	}
}

// TestProgress shows the line after a while, on a terminal alone, and takes it away.
func TestProgress(t *testing.T) {
	const start, end = "\r\x1b[Klooking at \"https://x.example/\\u{7}\"", "\r\x1b[K"
	for name, c := range map[string]struct {
		takes  time.Duration
		checks []string
		want   string
	}{
		"quick":           {patience / 2, nil, ""},
		"slow":            {patience * 2, nil, start + " …" + end},
		"names-the-check": {patience * 2, []string{"address", "skills"}, start + ": address …" + start + ": skills …" + end},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				p := &progress{w: &out}
				done := p.working("https://x.example/\a")
				for i, check := range append(c.checks, "")[:max(len(c.checks), 1)] {
					if check != "" {
						p.step(check)
					}
					if i == 0 {
						time.Sleep(c.takes)
					}
				}
				done()
				if out.String() != c.want {
					t.Errorf("%q, want %q", out.String(), c.want)
				}
			})
		})
	}
	if newProgress(&strings.Builder{}).w != io.Discard {
		t.Error("a pipe is told")
	}
}

// opened returns the way into a lab for other processes.
func opened(t *testing.T, n *lookleaptest.Internet) *lookleaptest.Door {
	t.Helper()
	door, err := n.OpenDoor()
	if err != nil {
		t.Fatal(err)
	}
	return door
}

// TestBadNetworkFlags: a wrong flag is wrong usage even where no network is used.
func TestBadNetworkFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"--dns", "example.com"}, {"--dns", "127.0.0.1:0"}, {"--dns", "127.0.0.1:65536"}, {"--dns", "ftp://127.0.0.1:53"}, {"--dns", ":53"}, {"--dns", "https://"}, {"--dns", "tls://dns.example:0"},
		{"--anchor", "no such file"}, {"--anchor", empty},
		{"--ca", "no such file"}, {"--ca", empty},
		{"--proxy", "proxy.example:3128"}, {"--proxy", "ftp://user:secret@proxy.example"}, {"--proxy", "http://127.0.0.1:3128", "--connect", "127.0.0.1:443"}, {"--proxy-by-name"},
		{"--allow", "10.0.0.0/8"}, {"--allow", "10.0.0.1=a.example"}, {"--allow", "=a.example"},
		{"--connect", "127.0.0.1"}, {"--connect", "127.0.0.1:"}, {"--connect", ":443"},
		{"--dns", "nonsense"}, {"--dns", ""}, {"--connect", "x"}, {"--at", "yesterday"},
	} {
		exit, out := trial(append([]string{"url", "https://example.com/"}, flags...), false)
		if exit != exitUsage || strings.Contains(out, "secret") || !strings.Contains(out, strings.TrimPrefix(flags[0], "--")) && flags[1] != "" {
			t.Errorf("%q: exit %d, %s", flags, exit, out)
		}
	}
}
