package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestSameSkill withdraws, refuses, pins or changes a skill under one URL, and loads it under another.
func TestSameSkill(t *testing.T) {
	const page, bytes = "https://github.com/example-org/skills/blob/main/a/SKILL.md", "/example-org/skills/main/a/SKILL.md"
	spellings := []struct{ name, first, then, bytes string }{
		{"qualified", page, "https://github.com/example-org/skills/blob/refs/heads/main/a/SKILL.md", "/example-org/skills/refs/heads/main/a/SKILL.md"},
		{"raw-host", page, "https://raw.githubusercontent.com/example-org/skills/heads/main/a/SKILL.md", "/example-org/skills/heads/main/a/SKILL.md"},
		{"head", page, "https://github.com/example-org/skills/tree/HEAD/a", "/example-org/skills/HEAD/a/SKILL.md"},
		{"path-case", page, "https://github.com/example-org/skills/blob/main/A/SKILL.md", "/example-org/skills/main/A/SKILL.md"},
		{"from-head", "https://github.com/example-org/skills/tree/HEAD/a", page, bytes},
	}
	load := func(w *trustWorld, options dvs.Options, url string) (lookleap.Code, int) {
		before := w.user.count()
		_, err := w.process(options).Load(t.Context(), url)
		return lookleap.CodeOf(err), w.user.count() - before
	}
	world := func(t *testing.T) (*trustWorld, func(path, body string)) {
		w := newTrustWorld(t)
		raw := w.net.Site("raw.githubusercontent.com")
		publish := func(path, body string) { raw.File(path, "text/plain", string(skillText(body))) }
		for _, c := range spellings {
			publish(c.bytes, "x\n")
		}
		return w, publish
	}
	registered := func(t *testing.T) dvs.Options {
		return dvs.Options{Roots: registry(t, "https://github.com/example-org/")}
	}
	t.Run("P04", func(t *testing.T) {
		for _, c := range spellings {
			t.Run("reject-never-"+c.name, func(t *testing.T) {
				w, _ := world(t)
				w.user.decide = never
				if code, asked := load(w, dvs.Options{}, c.first); code != lookleap.CodeConsentRefused || asked != 1 {
					t.Fatal(code, asked)
				}
				if code, asked := load(w, registered(t), c.then); code != dvs.CodeRefusedBefore || asked != 0 {
					t.Error(code, asked)
				}
			})
			t.Run("reject-refused-version-"+c.name, func(t *testing.T) {
				w, _ := world(t)
				w.user.decide = decline
				if code, asked := load(w, dvs.Options{}, c.first); code != lookleap.CodeConsentRefused || asked != 1 {
					t.Fatal(code, asked)
				}
				if code, asked := load(w, registered(t), c.then); code != dvs.CodeRefusedBefore || asked != 0 {
					t.Error(code, asked)
				}
			})
			t.Run("reject-change-"+c.name, func(t *testing.T) {
				w, publish := world(t)
				if code, asked := load(w, registered(t), c.first); code != lookleap.CodeOK || asked != 0 {
					t.Fatal(code, asked)
				}
				w.user.decide = decline
				publish(c.bytes, "changed\n")
				if code, asked := load(w, registered(t), c.then); code != lookleap.CodeConsentRefused || asked != 1 {
					t.Error(code, asked)
				}
			})
			t.Run("reject-another-url-than-the-pinned-"+c.name, func(t *testing.T) {
				w, _ := world(t)
				o := registered(t)
				o.Policies = []*dvs.Policy{{Name: "team", Pins: []dvs.PolicyPin{{Skill: c.first, Pin: dvs.Pin{Digest: dvs.DigestOf([]byte("y"))}}}}}
				if code, asked := load(w, o, c.then); code != dvs.CodePolicyDenied || asked != 0 {
					t.Error(code, asked)
				}
				if err := o.Policies[0].Check(skillURL(t, c.then), dvs.Rules{}); lookleap.CodeOf(err) != dvs.CodePolicyDenied {
					t.Error(err)
				}
			})
			t.Run("accept-asked-anew-"+c.name, func(t *testing.T) { // an approval holds for one URL
				w, _ := world(t)
				w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
				}
				for _, url := range []string{c.first, c.then} {
					if code, asked := load(w, dvs.Options{}, url); code != lookleap.CodeOK || asked != 1 {
						t.Fatal(url, code, asked)
					}
				}
			})
			t.Run("accept-taken-back-"+c.name, func(t *testing.T) {
				w, _ := world(t)
				w.user.decide = never
				load(w, dvs.Options{}, c.first)
				if err := w.process(dvs.Options{}).Forget(t.Context(), c.then); err != nil {
					t.Fatal(err)
				}
				w.user.decide = agree
				if code, asked := load(w, dvs.Options{}, c.first); code != lookleap.CodeOK || asked != 1 {
					t.Error(code, asked)
				}
			})
		}
		for _, c := range append(spellings, []struct{ name, first, then, bytes string }{
			{"jsdelivr", page, "https://cdn.jsdelivr.net/gh/Example-Org/skills@main/a/SKILL.md", ""},
			{"jsdelivr-range", "https://github.com/example-org/skills/blob/v1.2.0/a/SKILL.md", "https://cdn.jsdelivr.net/gh/example-org/skills@1/a/SKILL.md", ""},
			{"jsdelivr-release", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://cdn.jsdelivr.net/npm/pkg@1.2.0/a/SKILL.md", ""},
			{"npm-range", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://esm.sh/pkg@1/a/SKILL.md", ""},
			{"npm-newest", "https://unpkg.com/@scope/pkg@1.2.0/a/SKILL.md", "https://cdn.jsdelivr.net/npm/@scope/pkg/a/SKILL.md", ""},
			{"npm-tag", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://unpkg.com/pkg@next/a/SKILL.md", ""},
			{"npm-mirror", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://registry.npmmirror.com/pkg/1.2.0/files/a/SKILL.md", ""},
			{"npm-mirror-packages", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://cdn.npmmirror.com/packages/pkg/1.2.0/files/a/SKILL.md", ""},
			{"npm-pages", "https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://app.unpkg.com/pkg@1.2.0/files/a/SKILL.md", ""},
			{"path-case-elsewhere", "https://shop.example/s/a/SKILL.md", "https://shop.example/S/a/SKILL.md", ""},
		}...) {
			t.Run("reject-withdrawn-"+c.name, func(t *testing.T) {
				w := newFeedWorld(t)
				w.withdraw(dvs.WithdrawnSkill, c.first)
				if code, _ := load(w.trustWorld, dvs.Options{Feeds: []dvs.FeedOptions{{URL: feedAt}}}, c.then); code != dvs.CodeWithdrawn {
					t.Error(code)
				}
			})
		}
		for name, c := range map[string][2]string{
			"other-branch":      {page, "https://github.com/example-org/skills/blob/v2/a/SKILL.md"},
			"other-directory":   {page, "https://github.com/example-org/skills/blob/main/b/SKILL.md"},
			"below":             {"https://shop.example/s/SKILL.md", "https://shop.example/s/SKILL.md/SKILL.md"},
			"other-release":     {"https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://unpkg.com/pkg@1.2.1/a/SKILL.md"},
			"other-package":     {"https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://unpkg.com/pkg2@1.2.0/a/SKILL.md"},
			"path-of-a-release": {"https://unpkg.com/pkg@1.2.0/a/SKILL.md", "https://unpkg.com/pkg/1.2.0/a/SKILL.md"},
			"another-publisher": {page, "https://github.com/example-com/skills/blob/main/a/SKILL.md"},
		} {
			t.Run("accept-"+name, func(t *testing.T) {
				w := newFeedWorld(t)
				w.withdraw(dvs.WithdrawnSkill, c[0])
				if code, _ := load(w.trustWorld, dvs.Options{Feeds: []dvs.FeedOptions{{URL: feedAt}}}, c[1]); code == dvs.CodeWithdrawn {
					t.Error(code)
				}
			})
		}
	})
}
