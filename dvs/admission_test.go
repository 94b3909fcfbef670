package dvs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestActivation tests who is asked, and what a missing answer means.
func TestActivation(t *testing.T) {
	const own, hub = "https://shop.example/s/a/SKILL.md", "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	world := func(t *testing.T, p lookleap.ConsentPrompter) (*lookleaptest.Internet, *lookleap.Host) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
		github(net, "/example-org/skills/main/refund/SKILL.md", refund)
		host := net.StubHost()
		host.Prompter = p
		return net, host
	}
	t.Run("DVS-5.2-05/accept-registered-no-prompt", func(t *testing.T) {
		ui := &prompter{decide: decline}
		_, host := world(t, ui)
		if _, err := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), own); err != nil || ui.count() != 0 {
			t.Errorf("asked %d times, %v", ui.count(), err)
		}
	})
	t.Run("DVS-5.2-05/accept-default-asks-once", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		loader := dvs.NewLoader(host, dvs.Options{})
		for range 2 {
			skill, err := loader.Load(t.Context(), own)
			if err != nil || skill.Source != dvs.DefaultOrigin || !hasCheck(skill.Verdict, dvs.CodeNotRegistered) {
				t.Fatal(err)
			}
		}
		if ui.count() != 1 || ui.asked[0].Kind != lookleap.ConsentSkill {
			t.Errorf("asked %d times", ui.count())
		}
	})
	t.Run("DVS-3.1-28/accept-user-confirms", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		loader := dvs.NewLoader(host, dvs.Options{})
		for range 2 {
			skill, err := loader.Load(t.Context(), hub)
			if err != nil || skill.Source != dvs.ByUser || skill.Root.String() != "https://github.com/example-org/" {
				t.Fatal(err)
			}
		}
		if ui.count() != 1 || ui.asked[0].Kind != lookleap.ConsentTrustRoot {
			t.Errorf("asked %d times", ui.count())
		}
	})
	t.Run("DVS-5.2-02/accept-root-and-domain-shown", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		if _, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), hub); err != nil {
			t.Fatal(err)
		}
		text := ui.asked[0].String()
		if req := ui.asked[0]; req.Origin != "https://github.com" || req.TrustRoot != "https://github.com/example-org/" {
			t.Errorf("got %s and %s", req.Origin, req.TrustRoot)
		}
		for _, want := range []string{"[github.com]", "https://github.com/example-org/", "[raw.githubusercontent.com]", "derived and unconfirmed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	})
	for name, p := range map[string]lookleap.ConsentPrompter{
		"nil-prompter": nil,
		"decline":      &prompter{decide: decline},
		"error": &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, errors.New("no terminal")
		}},
		"panic": &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { panic("x") }},
		"other-digest": &prompter{decide: func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: "x", Approved: []string{"skill"}}, nil
		}},
		"half": &prompter{decide: func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{"skill", "more"}}, nil
		}},
	} {
		for _, id := range []string{"DVS-5.2-08", "E10"} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				for _, url := range []string{own, hub} {
					_, host := world(t, p)
					skill, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), url)
					var no *lookleap.VerifyError
					if skill != nil || !errors.As(err, &no) || no.Verdict.OK {
						t.Errorf("got %v", err)
					}
				}
			})
		}
	}
	t.Run("DVS-3.1-30/accept-narrowed", func(t *testing.T) {
		net, host := world(t, &prompter{decide: agree})
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/\nname:", 1))
		skill, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), own)
		if err != nil || skill.Root.String() != "https://shop.example/s/" {
			t.Fatal(skill, err)
		}
		if target, err := skill.Resolve("/other/GUIDE.md"); err != nil || target.Access != dvs.NeedsConsent {
			t.Errorf("got %v, %v", target, err)
		}
	})
	t.Run("DVS-3.1-30/reject-widened", func(t *testing.T) {
		net, host := world(t, nil)
		github(net, "/example-org/skills/main/refund/SKILL.md", strings.Replace(refund, "name:", "trust-root: https://github.com/\nname:", 1))
		skill, err := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), hub)
		if err != nil || skill.Root.String() != "https://github.com/example-org/" || !hasCheck(skill.Verdict, "self-declared-root") {
			t.Error(skill, err)
		}
	})
}

func TestResumeActivation(t *testing.T) {
	const hub = "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	pending := func(t *testing.T) (*lookleaptest.Internet, *lookleap.Host, *lookleap.PendingError) {
		net := lookleaptest.ForTest(t)
		github(net, "/example-org/skills/main/refund/SKILL.md", refund)
		host := net.StubHost()
		host.Prompter = &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		}}
		skill, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), hub)
		var asked *lookleap.PendingError
		if skill != nil || !errors.As(err, &asked) {
			t.Fatal(err)
		}
		return net, host, asked
	}
	t.Run("DVS-5.2-09/accept-resumed-elsewhere", func(t *testing.T) {
		net, host, asked := pending(t)
		requests := len(net.Journal().Requests())
		yes, _ := agree(asked.Request)
		other := dvs.NewLoader(host, dvs.Options{})
		got, err := other.Resume(t.Context(), asked.State, yes)
		if err != nil || got.Loaded.Source != dvs.ByUser || got.Loaded.Name != "refund" {
			t.Fatal(got, err)
		}
		if n := len(net.Journal().Requests()) - requests; n != 0 {
			t.Errorf("%d requests were sent again", n)
		}
		if _, err := other.Resume(t.Context(), asked.State, yes); !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("a second time: %v", err)
		}
		no := lookleap.ConsentDecision{Digest: asked.Request.Digest}
		if got, err := dvs.NewLoader(host, dvs.Options{}).Resume(t.Context(), asked.State, no); got != nil || !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("a no that comes too late: %v, %v", got, err)
		}
	})
	t.Run("DVS-5.2-08/reject-resumed-no", func(t *testing.T) {
		_, host, asked := pending(t)
		no := lookleap.ConsentDecision{Digest: asked.Request.Digest}
		if got, err := dvs.NewLoader(host, dvs.Options{}).Resume(t.Context(), asked.State, no); got != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(got, err)
		}
	})
}

// TestOneSkill agrees to a skill on a platform without its publisher's root.
func TestOneSkill(t *testing.T) {
	const one, two = "https://github.com/org/skills/blob/main/one/SKILL.md", "https://github.com/org/skills/blob/main/two/SKILL.md"
	const directory = "https://github.com/org/skills/blob/main/one/"
	only := func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
	}
	world := func(t *testing.T, o dvs.Options, decide func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error)) (*lookleaptest.Internet, *dvs.Loader, *prompter) {
		net, ui := lookleaptest.ForTest(t), &prompter{decide: decide}
		net.Site("raw.githubusercontent.com").File("/org/skills/main/one/SKILL.md", "text/markdown", refund).
			File("/org/skills/main/one/ADVANCED.md", "text/markdown", "more").File("/org/skills/main/two/SKILL.md", "text/markdown", refund)
		host := net.StubHost()
		host.Prompter = ui
		return net, dvs.NewLoader(host, o), ui
	}
	load := func(t *testing.T, l *dvs.Loader, url string) *dvs.Loaded {
		t.Helper()
		skill, err := l.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		return skill
	}
	t.Run("O56/accept-one-skill", func(t *testing.T) {
		_, loader, ui := world(t, dvs.Options{}, only)
		skill := load(t, loader, one)
		if skill.Source != dvs.SkillOnly || skill.Root.String() != directory || !skill.Verdict.OK || !hasCheck(skill.Verdict, dvs.CodeNotRegistered) {
			t.Errorf("%s, %s, %+v", skill.Source, skill.Root, skill.Verdict)
		}
		if r, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil || r.External || ui.count() != 1 {
			t.Errorf("%v, asked %d times", err, ui.count())
		}
		for d := range loader.Roots().All() {
			t.Errorf("%s is registered", d.Root)
		}
	})
	t.Run("O56/accept-same-bytes-in-the-session", func(t *testing.T) {
		_, loader, ui := world(t, dvs.Options{}, only)
		r, err := loader.Register(t.Context(), one)
		if err != nil || r.Source != dvs.SkillOnly {
			t.Fatal(r, err)
		}
		if skill, err := r.Activate(t.Context()); err != nil || skill.Source != dvs.SkillOnly || ui.count() != 1 {
			t.Errorf("%v, asked %d times", err, ui.count())
		}
	})
	t.Run("O56/accept-generic-type-as-under-a-root", func(t *testing.T) {
		net, loader, _ := world(t, dvs.Options{}, only)
		net.Site("raw.githubusercontent.com").File("/org/skills/main/one/SKILL.md", "application/octet-stream", refund)
		load(t, loader, one)
	})
	t.Run("O56/reject-other-bytes", func(t *testing.T) {
		net, loader, ui := world(t, dvs.Options{}, only)
		load(t, loader, one).Deactivate()
		github(net, "/org/skills/main/one/SKILL.md", refund+"More.\n")
		ui.decide = decline
		skill, err := loader.Load(t.Context(), one)
		if skill != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused || ui.count() != 2 {
			t.Errorf("%v, asked %d times", err, ui.count())
		}
		var refused *lookleap.VerifyError
		if !errors.As(err, &refused) || len(refused.Verdict.Checks) != 14 {
			t.Fatalf("%v", err)
		}
		if last := refused.Verdict.Checks[13]; last.Requirement != "DVS-5.2-08" || last.Status != lookleap.Failed || last.Code != lookleap.CodeConsentRefused {
			t.Errorf("%+v", last)
		}
	})
	t.Run("O56/reject-other-skill", func(t *testing.T) {
		_, loader, ui := world(t, dvs.Options{}, only)
		skill := load(t, loader, one)
		ui.decide = decline
		if other, err := loader.Load(t.Context(), two); other != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			t.Error(other, err)
		}
		if other, err := skill.LoadRef(t.Context(), "../two/SKILL.md"); other != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(other, err)
		}
		if target, err := skill.Resolve("../two/GUIDE.md"); err != nil || target.Access != dvs.NeedsConsent {
			t.Errorf("%v, %v", target, err)
		}
	})
	for name, c := range map[string]struct{ url, to string }{
		"redirect-out-of-its-directory":   {one, "/org/skills/main/two/SKILL.md"},
		"directory-that-cannot-be-a-root": {"https://github.com/org/skills/blob/main/a*/SKILL.md", ""},
	} {
		t.Run("O56/reject-one-skill-with-a-"+name, func(t *testing.T) {
			net, loader, ui := world(t, dvs.Options{}, only)
			site := net.Site("raw.githubusercontent.com").File("/org/skills/main/a*/SKILL.md", "text/markdown", refund)
			if c.to != "" {
				site.Redirect("/org/skills/main/one/SKILL.md", c.to)
			}
			if skill, err := loader.Load(t.Context(), c.url); skill != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Error(skill, err)
			}
			if items := ui.asked[0].Items; len(items) != 2 || items[1].Optional {
				t.Errorf("%+v", items)
			}
		})
	}
	t.Run("O56/accept-redirect-in-the-directory", func(t *testing.T) {
		net, loader, _ := world(t, dvs.Options{}, only)
		net.Site("raw.githubusercontent.com").Redirect("/org/skills/main/one/SKILL.md", "/org/skills/main/one/v2/SKILL.md").File("/org/skills/main/one/v2/SKILL.md", "text/markdown", refund)
		if skill := load(t, loader, one); skill.Source != dvs.SkillOnly || skill.Root.String() != directory {
			t.Errorf("%s, %s", skill.Source, skill.Root)
		}
	})
	t.Run("O56/accept-reference-to-one-skill", func(t *testing.T) {
		_, loader, ui := world(t, dvs.Options{}, only)
		skill := load(t, loader, one)
		for range 2 {
			if other, err := skill.LoadRef(t.Context(), "../two/SKILL.md"); err != nil || other.Source != dvs.SkillOnly || ui.count() != 2 {
				t.Fatalf("%v, %v, asked %d times", other, err, ui.count())
			}
		}
	})
	t.Run("O56/accept-root", func(t *testing.T) {
		_, loader, ui := world(t, dvs.Options{}, agree)
		load(t, loader, one)
		if skill := load(t, loader, two); skill.Source != dvs.ByUser || ui.count() != 1 {
			t.Errorf("%s, asked %d times", skill.Source, ui.count())
		}
	})
	t.Run("O56/reject-root-without-skill", func(t *testing.T) {
		_, loader, _ := world(t, dvs.Options{}, func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"root"}}, nil
		})
		if skill, err := loader.Load(t.Context(), one); skill != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(skill, err)
		}
		for d := range loader.Roots().All() {
			t.Errorf("%s is registered", d.Root)
		}
	})
	t.Run("O56/reject-one-skill-where-roots-are-demanded", func(t *testing.T) {
		_, loader, _ := world(t, dvs.Options{Strict: true}, only)
		if skill, err := loader.Load(t.Context(), one); skill != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(skill, err)
		}
	})
	t.Run("O56/reject-when-blocked", func(t *testing.T) {
		_, loader, _ := world(t, dvs.Options{}, only)
		skill := load(t, loader, one)
		if _, err := loader.Roots().Block("https://github.com/ORG/"); err != nil {
			t.Fatal(err)
		}
		if _, err := skill.ContextText(); lookleap.CodeOf(err) != dvs.CodeBlockedRoot {
			t.Error(err)
		}
		if again, err := loader.Load(t.Context(), one); again != nil || err == nil {
			t.Error("the skill loads again")
		}
	})
	for name, c := range map[string]struct {
		strict bool
		until  time.Duration
		asked  int
	}{"accept-resumed-once": {asked: 2}, "accept-resumed-and-kept": {until: time.Hour, asked: 1}, "reject-resumed-where-roots-are-demanded": {strict: true}} {
		t.Run("O56/"+name, func(t *testing.T) {
			_, loader, ui := world(t, dvs.Options{}, func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
			})
			var pending *lookleap.PendingError
			if _, err := loader.Load(t.Context(), one); !errors.As(err, &pending) {
				t.Fatal(err)
			}
			if c.strict {
				_, loader, ui = world(t, dvs.Options{Strict: true}, decline)
			}
			decision, _ := only(pending.Request)
			if c.until > 0 {
				decision.Until = time.Now().Add(c.until)
			}
			got, err := loader.Resume(t.Context(), pending.State, decision)
			if c.strict {
				if got != nil || lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
					t.Error(got, err)
				}
				return
			}
			if err != nil || got.Loaded.Source != dvs.SkillOnly || got.Loaded.Root.String() != directory {
				t.Fatal(got, err)
			}
			_, err = loader.Load(t.Context(), one)
			if kept := c.until > 0; (err == nil) != kept || ui.count() != c.asked {
				t.Errorf("%v, asked %d times", err, ui.count())
			}
		})
	}
}
