package dvs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestActivation is who is asked, and what nobody's answer means.
func TestActivation(t *testing.T) {
	const own, hub = "https://shop.example/s/a/SKILL.md", "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	world := func(t *testing.T, p lookleap.ConsentPrompter) (*lab.Internet, *lookleap.Host) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
		github(net, "/example-org/skills/main/refund/SKILL.md", refund)
		host := net.Host()
		host.Prompter = p
		return net, host
	}
	t.Run("DVS-5.2-05/accept-registered-no-prompt", func(t *testing.T) {
		ui := &prompter{decide: decline}
		_, host := world(t, ui)
		if _, err := (dvs.Options{Roots: registry(t, "https://shop.example/")}).NewLoader(host).Load(t.Context(), own); err != nil || ui.count() != 0 {
			t.Errorf("asked %d times, %v", ui.count(), err)
		}
	})
	t.Run("DVS-5.2-05/accept-default-asks-once", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		loader := dvs.NewLoader(host)
		for range 2 {
			skill, err := loader.Load(t.Context(), own)
			if err != nil || skill.Source != dvs.DefaultOrigin || !hasCheck(skill.Verdict, lookleap.CodeNotRegistered) {
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
		loader := dvs.NewLoader(host)
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
		if _, err := dvs.NewLoader(host).Load(t.Context(), hub); err != nil {
			t.Fatal(err)
		}
		text := ui.asked[0].String()
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
					skill, err := dvs.NewLoader(host).Load(t.Context(), url)
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
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/\nname:", 1))
		skill, err := dvs.NewLoader(host).Load(t.Context(), own)
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
		skill, err := dvs.Options{Roots: registry(t, "https://github.com/example-org/")}.NewLoader(host).Load(t.Context(), hub)
		if err != nil || skill.Root.String() != "https://github.com/example-org/" || !hasCheck(skill.Verdict, lookleap.CodeSelfDeclared) {
			t.Error(skill, err)
		}
	})
}

func TestResumeActivation(t *testing.T) {
	const hub = "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	net := lab.ForTest(t)
	github(net, "/example-org/skills/main/refund/SKILL.md", refund)
	host := net.Host()
	host.Prompter = &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}}
	skill, err := dvs.NewLoader(host).Load(t.Context(), hub)
	var pending *lookleap.PendingError
	if skill != nil || !errors.As(err, &pending) {
		t.Fatal(err)
	}
	asked := len(net.Journal().Requests())
	decision, _ := agree(pending.Request)
	t.Run("DVS-5.2-09/accept-resumed-elsewhere", func(t *testing.T) {
		other := dvs.NewLoader(host)
		got, err := other.Resume(t.Context(), pending.State, decision)
		if err != nil || got.Loaded.Source != dvs.ByUser || got.Loaded.Name != "refund" {
			t.Fatal(got, err)
		}
		if n := len(net.Journal().Requests()); n != asked {
			t.Errorf("%d requests were sent again", n-asked)
		}
		if _, err := other.Resume(t.Context(), pending.State, decision); !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("a second time gives %v", err)
		}
	})
	t.Run("DVS-5.2-08/reject-resumed-no", func(t *testing.T) {
		if got, err := dvs.NewLoader(host).Resume(t.Context(), pending.State, lookleap.ConsentDecision{Digest: decision.Digest}); got != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(got, err)
		}
	})
}
