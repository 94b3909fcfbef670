package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/lookleap/lookleap"
)

func tell(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// tellInBubble tells at a time that stands still while anything is worked on: a
// slow machine comes to no other end.
func tellInBubble(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { code, stdout, stderr = tell(args...) })
	return code, stdout, stderr
}

// TestScenes plays every scene alone: each keeps its story, and tells it the
// same way each time.
func TestScenes(t *testing.T) {
	for _, name := range sceneNames() {
		t.Run(name, func(t *testing.T) {
			code, first, errs := tellInBubble(t, "--scene", name)
			if code != exitAsTold {
				t.Fatalf("exit code %d\n%s%s", code, first, errs)
			}
			if _, second, _ := tellInBubble(t, "--scene", name); second != first {
				t.Errorf("the second telling differs:\n%s\nfrom the first:\n%s", second, first)
			}
			for _, r := range first {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("the output holds %U raw", r)
				}
			}
		})
	}
}

var update = flag.Bool("update", false, "write docs/transcript.md")

// TestTranscript holds docs/transcript.md to the story.
func TestTranscript(t *testing.T) {
	code, text, errs := tellInBubble(t, "--transcript")
	if code != exitAsTold {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	const page = "../../docs/transcript.md"
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(page); err != nil || string(kept) != text {
		t.Errorf("%v: %s is not what the quickstart tells: go test ./examples/quickstart -run TestTranscript -update", err, page)
	}
	for i, sc := range scenes() {
		if heading := fmt.Sprintf("\n## %d. %s\n", i+1, sc.title); !strings.Contains(text, heading) {
			t.Errorf("the transcript lacks %q", heading)
		}
	}
	if want := fmt.Sprintf("\n%d scenes, ", len(scenes())); !strings.Contains(text, want) {
		t.Errorf("the transcript does not end with %q", want)
	}
}

// TestShort: what a newcomer sees first fits a screen.
func TestShort(t *testing.T) {
	code, out, errs := tellInBubble(t)
	if code != exitAsTold {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	lines := strings.Split(out, "\n")
	if len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)shows this request:\n\n```text\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README shows no request")
	}
	shown := strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(string(block[1]), "\n", "\n     | ")), "…", ".{19}")
	if !regexp.MustCompile(strings.TrimSuffix(shown, `     \| `)).MatchString(out) {
		t.Errorf("the README has another request:\n%s", block[1])
	}
	if code, out, errs := tellInBubble(t, "--all"); code != exitAsTold || !strings.Contains(out, fmt.Sprintf("\n%d. ", len(scenes()))) {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--scene", "nope"}, {"argument"}, {"--nope"}} {
		if code, out, _ := tell(args...); code != exitUsage || out != "" {
			t.Errorf("%q: exit code %d, %q", args, code, out)
		}
	}
	if code, _, _ := tell("--help"); code != exitAsTold {
		t.Errorf("--help: exit code %d", code)
	}
}

// TestBrokenStory shows that a scene whose decision comes out otherwise is
// caught: the story is part of what is tested.
func TestBrokenStory(t *testing.T) {
	no := &lookleap.Error{Code: lookleap.CodeConsentRefused, Err: lookleap.ErrConsentRefused}
	for name, broken := range map[string]func(*stage){
		"allowed, but the library refused": func(s *stage) { s.allowed("it", no, "") },
		"refused, but the library allowed": func(s *stage) { s.refused("it", nil, lookleap.CodeConsentRefused) },
		"refused for another reason":       func(s *stage) { s.refused("it", no, lookleap.CodeTimeout) },
		"asked, but the library refused":   func(s *stage) { s.asked("it", no, "") },
		"a fact that is none":              func(s *stage) { s.refused("it", no, no.Code); s.fact(false, "it") },
		"the scene stops":                  func(s *stage) { s.refused("it", no, no.Code); must("", errors.New("no lab")) },
		"nothing is decided":               func(*stage) {},
	} {
		t.Run(name, func(t *testing.T) {
			got := &tally{by: map[outcome]int{}}
			if play(context.Background(), scene{play: broken}, printer{w: io.Discard}, nil, got); got.wrong == 0 {
				t.Error("it was not noticed")
			}
		})
	}
}
