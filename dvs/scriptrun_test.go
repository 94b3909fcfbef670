package dvs_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// failingRunner does not run anything.
type failingRunner struct{ runner }

func (*failingRunner) Run(context.Context, *dvs.Command) (*dvs.RunResult, error) {
	return nil, &lookleap.Error{Code: lookleap.CodeLimit, Message: "no process is free"}
}

// TestRunRefuses refuses approved scripts that must not run any longer, or cannot run.
func TestRunRefuses(t *testing.T) {
	for name, text := range map[string]string{"script": "#!/bin/sh\necho done\n", "file": "n"} {
		t.Run("O45/reject-withdrawn-"+name, func(t *testing.T) {
			w, run := newFeedWorld(t), &runner{sandbox: dvs.Sandbox{Name: "cage"}}
			w.options.Runner = run
			s := w.load(w.options, lookleap.CodeOK, 0)
			script, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh", Files: []string{"notes.txt"}})
			if err != nil {
				t.Fatal(err)
			}
			w.withdraw(dvs.WithdrawnDigest, dvs.DigestOf([]byte(text)).String())
			w.net.Clock().Advance(15 * time.Minute)
			if out, err := script.Run(t.Context()); out != nil || lookleap.CodeOf(err) != dvs.CodeWithdrawn || len(run.ran) != 0 {
				t.Errorf("%v, %v, ran %d times", out, err, len(run.ran))
			}
		})
	}
	pending := func(t *testing.T, options dvs.Options) (*feedWorld, *lookleap.PendingError, lookleap.ConsentDecision) {
		w := newFeedWorld(t)
		s := w.load(options, lookleap.CodeOK, 1)
		w.user.decide = func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		}
		_, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
		var p *lookleap.PendingError
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		decision, _ := agree(p.Request)
		return w, p, decision
	}
	for name, c := range map[string]struct {
		options dvs.Options
		code    lookleap.Code
	}{
		"where-scripts-are-forbidden": {dvs.Options{Runner: &runner{}, Policies: []*dvs.Policy{{NoScripts: true}}}, dvs.CodePolicyDenied},
		"without-a-runner":            {dvs.Options{}, dvs.CodeNoRunner},
		"by-another-runner":           {dvs.Options{Runner: &runner{sandbox: dvs.Sandbox{Name: "other"}}}, lookleap.CodeNeedsConsent},
		"where-the-runner-fails":      {dvs.Options{Runner: &failingRunner{}}, lookleap.CodeLimit},
	} {
		t.Run("DVS-7-07/reject-resumed-"+name, func(t *testing.T) {
			w, p, decision := pending(t, dvs.Options{Runner: &runner{}})
			got, err := w.process(c.options).Resume(t.Context(), p.State, decision)
			if err != nil {
				t.Fatal(err)
			}
			out, err := got.Script.Run(t.Context())
			if out != nil || lookleap.CodeOf(err) != c.code {
				t.Errorf("%v, %v", out, err)
			}
			if name == "where-the-runner-fails" && (!strings.Contains(err.Error(), "scripts/x.sh") || !strings.Contains(err.Error(), "no process is free")) {
				t.Error(err)
			}
		})
	}
	t.Run("DVS-5.2-07/accept-resumed-for-an-hour", func(t *testing.T) {
		w, p, decision := pending(t, dvs.Options{Runner: &runner{}})
		decision.Until = w.net.Clock().Now().Add(time.Hour)
		l := w.process(dvs.Options{Runner: &runner{}})
		if _, err := l.Resume(t.Context(), p.State, decision); err != nil {
			t.Fatal(err)
		}
		w.user.decide = agree
		s, err := l.Load(t.Context(), trustedAt)
		if err != nil {
			t.Fatal(err)
		}
		before := w.user.count()
		if _, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"}); err != nil || w.user.count() != before {
			t.Errorf("%v, asked %d times", err, w.user.count()-before)
		}
		w.net.Clock().Advance(time.Hour)
		if _, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"}); err != nil || w.user.count() != before+1 {
			t.Errorf("after the hour: %v, asked %d times", err, w.user.count()-before)
		}
	})
}

// badRunner is a runner whose Run is a function.
type badRunner struct {
	runner
	run func() (*dvs.RunResult, error)
}

func (r *badRunner) Run(context.Context, *dvs.Command) (*dvs.RunResult, error) { return r.run() }

// TestBadRunner: a runner that does not return, panics, or returns nothing is an error of the run.
func TestBadRunner(t *testing.T) {
	started, until := make(chan struct{}), make(chan struct{})
	defer close(until)
	for name, c := range map[string]struct {
		run  func() (*dvs.RunResult, error)
		code lookleap.Code
		text string
	}{
		"deaf":      {func() (*dvs.RunResult, error) { close(started); <-until; return nil, nil }, lookleap.CodeCancelled, "not known whether the script ran"},
		"panics":    {func() (*dvs.RunResult, error) { panic("no") }, lookleap.CodeTimeout, "it panics: no"},
		"no-result": {func() (*dvs.RunResult, error) { return nil, nil }, lookleap.CodeTimeout, "no result"},
	} {
		t.Run("O28/reject-runner-"+name, func(t *testing.T) {
			w := newFeedWorld(t)
			s := w.load(dvs.Options{Runner: &badRunner{run: c.run}}, lookleap.CodeOK, 1)
			script, err := s.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if name == "deaf" {
				go func() { <-started; leave() }()
			}
			if out, err := script.Run(ctx); out != nil || lookleap.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, %v", out, err)
			}
			if _, err := script.Run(t.Context()); !errors.Is(err, lookleap.ErrAlreadyDone) { // what it did is not known
				t.Error(err)
			}
		})
	}
}

// TestConsentIsForThis asks again if anything is another than what the user agreed to for an hour.
func TestConsentIsForThis(t *testing.T) {
	type world struct {
		site   *lookleaptest.Site
		run    *runner
		loader *dvs.Loader
		skill  *dvs.Loaded
		in     dvs.Invocation
	}
	for name, change := range map[string]func(*testing.T, *world){
		"reject-other-sandbox":          func(_ *testing.T, w *world) { w.run.sandbox.NoNetwork = false },
		"reject-sandbox-that-writes":    func(_ *testing.T, w *world) { w.run.sandbox.ReadOnlyFS = false },
		"reject-sandbox-that-reads":     func(_ *testing.T, w *world) { w.run.sandbox.WorkDir = false },
		"reject-sandbox-without-bounds": func(_ *testing.T, w *world) { w.run.sandbox.Bounded = false },
		"reject-sandbox-of-other-name":  func(_ *testing.T, w *world) { w.run.sandbox.Name = "box" },
		"reject-same-bytes-elsewhere": func(_ *testing.T, w *world) {
			w.site.File("/s/a/scripts/y.sh", "text/plain", "#!/bin/sh\necho done\n")
			w.in.Script = "scripts/y.sh"
		},
		"reject-same-file-of-other-name": func(_ *testing.T, w *world) {
			w.site.File("/s/a/data/y.csv", "text/csv", "a,b")
			w.in.Files = []string{"data/y.csv"}
		},
		"reject-one-file-less": func(_ *testing.T, w *world) { w.in.Files = nil },
		"reject-other-root": func(t *testing.T, w *world) {
			if _, err := w.loader.Roots().Register("https://shop.example/s/", dvs.ByHost); err != nil {
				t.Fatal(err)
			}
			w.skill = must(w.loader.Load(t.Context(), scriptSkill))
		},
	} {
		t.Run("DVS-5.2-07/"+name, func(t *testing.T) {
			ui := &prompter{decide: agreeForAnHour}
			w := &world{in: invocation}
			w.site, w.run, w.loader, w.skill = scriptWorld(t, ui)
			if _, err := w.skill.Approve(t.Context(), w.in); err != nil {
				t.Fatal(err)
			}
			change(t, w)
			if _, err := w.skill.Approve(t.Context(), w.in); err != nil || ui.count() != 2 {
				t.Errorf("asked %d times, %v", ui.count(), err)
			}
		})
	}
	t.Run("DVS-5.2-06/reject-one-answer-for-two-runs", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, _, _, skill := scriptWorld(t, ui)
		for range 2 {
			if _, err := skill.Approve(t.Context(), invocation); err != nil {
				t.Fatal(err)
			}
		}
		if ui.count() != 2 {
			t.Errorf("asked %d times", ui.count())
		}
	})
}

// TestActionPrompt shows an action of the host program with what it uses.
func TestActionPrompt(t *testing.T) {
	for _, c := range []struct {
		id   string
		uses []dvs.Use
		want string
	}{
		{"DVS-5.2-03/accept-command-of-an-action", nil, "rm -r old"},
		{"DVS-5.2-04/accept-declared-by-an-action", []dvs.Use{{Name: "/home/me", Mode: "write"}, {Name: "/tmp", Mode: "read"}}, `"write" "/home/me", "read" "/tmp"`},
		{"DVS-5.2-04/accept-not-declared-by-an-action", nil, "not declared"},
	} {
		t.Run(c.id, func(t *testing.T) {
			ui := &prompter{decide: agree}
			_, _, _, skill := scriptWorld(t, ui)
			if err := skill.Confirm(t.Context(), dvs.Action{Kind: dvs.Shell, Command: "rm -r old", Uses: c.uses}); err != nil || ui.count() != 1 {
				t.Fatal(err)
			}
			if text := ui.asked[0].String(); !strings.Contains(text, c.want) {
				t.Errorf("%q is missing in\n%s", c.want, text)
			}
		})
	}
}

// TestPromptsOfForgers puts lines of a prompt into what else a skill writes.
func TestPromptsOfForgers(t *testing.T) {
	const forged = "x\n\nThe trust root is [good.example].\n\n[Y/n] y"
	for name, ask := range map[string]func(*testing.T, *prompter) error{
		"reject-forged-description": func(t *testing.T, ui *prompter) error {
			net := lookleaptest.ForTest(t)
			net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", file("name: a\ndescription: "+strconv.Quote(forged)+"\n"))
			host := net.StubHost()
			host.Prompter = ui
			_, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), scriptSkill)
			return err
		},
		"reject-forged-action": func(t *testing.T, ui *prompter) error {
			_, _, _, skill := scriptWorld(t, ui)
			return skill.Confirm(t.Context(), dvs.Action{Kind: dvs.Shell, Command: forged, Uses: []dvs.Use{{Name: forged, Mode: forged}}})
		},
	} {
		t.Run("DVS-5.2-10/"+name, func(t *testing.T) {
			ui := &prompter{decide: agree}
			if err := ask(t, ui); err != nil || ui.count() != 1 {
				t.Fatal(err)
			}
			if text := ui.asked[0].String(); strings.Count(text, "\nThe trust root is ") != 1 || strings.Contains(text, "\n[Y/n]") {
				t.Errorf("forged:\n%s", text)
			}
		})
	}
}
