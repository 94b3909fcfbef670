package dvs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const deniedAt = "https://evil.example/s/a/SKILL.md"

// policyWorld has an allowed and a denied publisher, and a user who agrees to everything.
func policyWorld(t *testing.T) (*lookleaptest.Internet, *lookleap.Host, *prompter) {
	net := lookleaptest.ForTest(t)
	for _, site := range []string{"shop.example", "evil.example", "sub.evil.example"} {
		net.Site(site).File("/s/a/SKILL.md", "text/markdown", refund).File("/s/a/ADVANCED.md", "text/markdown", "x\n").
			File("/s/a/scripts/x.sh", "text/plain", "#!/bin/sh\n").File("/s/b/SKILL.md", "text/markdown", refund)
	}
	net.Site("raw.githubusercontent.com").File("/evil-org/skills/main/a/SKILL.md", "text/plain", refund)
	host, user := net.StubHost(), &prompter{decide: agree}
	host.Prompter = user
	return net, host, user
}

// TestPolicyAround tries to get round a policy in every way that a user, a program, a skill, a plan
// or a store has. Nothing may be asked of the denied publisher.
func TestPolicyAround(t *testing.T) {
	deny := &dvs.Policy{Name: "company.json", Deny: []string{"evil.example", "https://github.com/evil-org/"}}
	pending := func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}
	load := func(url string) func(context.Context, *lookleaptest.Internet, *lookleap.Host, dvs.Options) error {
		return func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			_, err := dvs.NewLoader(h, o).Load(ctx, url)
			return err
		}
	}
	loaded := func(use func(context.Context, *dvs.Loaded) error) func(context.Context, *lookleaptest.Internet, *lookleap.Host, dvs.Options) error {
		return func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			s, err := dvs.NewLoader(h, o).Load(ctx, "https://shop.example/s/a/SKILL.md")
			if err != nil {
				return errors.New("the allowed skill does not load: " + err.Error())
			}
			return use(ctx, s)
		}
	}
	// resumed suspends an operation in a loader without a policy, and resumes it in one with it.
	resumed := func(start func(context.Context, *dvs.Loader) error) func(context.Context, *lookleaptest.Internet, *lookleap.Host, dvs.Options) error {
		return func(ctx context.Context, net *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			lax := net.StubHost()
			lax.Prompter = &prompter{decide: pending}
			var p *lookleap.PendingError
			if err := start(ctx, dvs.NewLoader(lax, dvs.Options{})); !errors.As(err, &p) {
				return errors.New("nothing was suspended")
			}
			net.Journal().Clear()
			decision, _ := agree(p.Request)
			_, err := dvs.NewLoader(h, o).Resume(ctx, p.State, decision)
			return err
		}
	}
	root := func(t *testing.T, raw string) dvs.TrustRoot {
		r, err := dvs.ParseTrustRoot(raw, dvs.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, c := range map[string]struct {
		options func(*testing.T, *dvs.Options)
		try     func(context.Context, *lookleaptest.Internet, *lookleap.Host, dvs.Options) error
	}{
		"asking-for-it": {try: load(deniedAt)},
		"archive":       {try: load("https://evil.example/s/a.zip")},
		"registered-by-program": {func(t *testing.T, o *dvs.Options) {
			o.Roots = registry(t, "https://evil.example/", "https://evil.example/s/a/")
		}, load(deniedAt)},
		"root-that-the-model-names": {try: func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			_, err := dvs.NewLoader(h, o).LoadUnder(ctx, deniedAt, root(t, "https://evil.example/"))
			return err
		}},
		"pinned": {try: func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			_, err := dvs.NewLoader(h, o).LoadPinned(ctx, deniedAt, dvs.Pin{Digest: dvs.DigestOf([]byte(refund))})
			return err
		}},
		"locked": {func(_ *testing.T, o *dvs.Options) {
			o.Lock = &dvs.Lockfile{Skills: []dvs.LockedSkill{{URL: deniedAt, Root: "https://evil.example/", Directory: "refund", Files: []dvs.LockedFile{{Path: "SKILL.md", Digest: dvs.DigestOf([]byte(refund))}}}}}
		}, load(deniedAt)},
		"registration": {try: func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			_, err := dvs.NewLoader(h, o).Register(ctx, deniedAt)
			return err
		}},
		"redirect": {try: func(ctx context.Context, net *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			net.Site("shop.example").Redirect("/r/SKILL.md", deniedAt)
			_, err := dvs.NewLoader(h, o).Load(ctx, "https://shop.example/r/SKILL.md")
			return err
		}},
		"redirected-resource": {try: func(ctx context.Context, net *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			net.Site("shop.example").Redirect("/s/a/ADVANCED.md", "https://evil.example/s/a/ADVANCED.md")
			s, err := dvs.NewLoader(h, o).Load(ctx, "https://shop.example/s/a/SKILL.md")
			if err != nil {
				return errors.New("the allowed skill does not load: " + err.Error())
			}
			if _, err = s.Resource(ctx, "ADVANCED.md"); lookleap.CodeOf(err) != lookleap.CodeNeedsConsent {
				return err
			}
			_, err = s.Resource(ctx, "https://evil.example/s/a/ADVANCED.md") // as the error says
			return err
		}},
		"entry-in-the-index-of-another": {try: func(ctx context.Context, net *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			net.Site("shop.example").File("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[
				{"name":"refund","type":"skill-md","description":"d","url":"`+deniedAt+`","digest":"`+digestOf(refund)+`"}]}`)
			l, tried := dvs.NewLoader(h, o), errors.New("the index has no entry")
			for entry, err := range l.Discover(ctx, "https://shop.example/") {
				if err == nil {
					_, tried = l.LoadListing(ctx, entry)
				}
			}
			return tried
		}},
		"reference": {try: loaded(func(ctx context.Context, s *dvs.Loaded) error { _, err := s.LoadRef(ctx, deniedAt); return err })},
		"external": {try: loaded(func(ctx context.Context, s *dvs.Loaded) error {
			_, err := s.Resource(ctx, "https://evil.example/data.txt")
			return err
		})},
		"resolve": {try: loaded(func(ctx context.Context, s *dvs.Loaded) error {
			_, err := s.Resolve("https://evil.example/data.txt")
			return err
		})},
		"discovery": {try: func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			for _, err := range dvs.NewLoader(h, o).Discover(ctx, "https://evil.example/") {
				return err
			}
			return nil
		}},
		"resumed-admission": {try: resumed(func(ctx context.Context, l *dvs.Loader) error { _, err := l.Load(ctx, deniedAt); return err })},
		"resumed-fetch": {func(t *testing.T, o *dvs.Options) { o.Roots = registry(t, "https://shop.example/") }, resumed(func(ctx context.Context, l *dvs.Loader) error {
			if _, err := l.Roots().Register("https://shop.example/", dvs.ByHost); err != nil {
				return err
			}
			s, err := l.Load(ctx, "https://shop.example/s/a/SKILL.md")
			if err != nil {
				return err
			}
			_, err = s.Resource(ctx, "https://evil.example/s/a/ADVANCED.md")
			return err
		})},
		"cached-by-another-loader": {try: func(ctx context.Context, net *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			if _, err := dvs.NewLoader(h, dvs.Options{}).Load(ctx, deniedAt); err != nil {
				return errors.New("nothing is in the cache: " + err.Error())
			}
			net.Journal().Clear()
			_, err := dvs.NewLoader(h, o).Load(ctx, deniedAt)
			return err
		}},
		"approval-edited-into-the-store": {func(t *testing.T, o *dvs.Options) {
			file := dvs.DigestOf([]byte(refund))
			o.Trust = lookleap.NewMemoryStore()
			for key, record := range map[string]any{
				"skill/" + deniedAt: dvs.TrustRecord{Type: dvs.TrustMediaType, Skill: deniedAt, Versions: []dvs.TrustedVersion{
					{File: file, Header: file, Approved: time.Now(), Root: "https://evil.example/"}}},
				"root/https://evil.example/": map[string]any{"type": dvs.TrustMediaType, "root": "https://evil.example/", "by": dvs.ByUser, "at": time.Now()},
			} {
				if err := o.Trust.Put(t.Context(), key, nil, marshal(t, record), time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			_, host, _ := policyWorld(t) // the records count, where no policy denies the skill
			l := dvs.NewLoader(host, dvs.Options{Trust: o.Trust})
			if s, err := l.Load(t.Context(), deniedAt); err != nil || s.Source != dvs.ByUser {
				t.Fatal("the store has no effect:", err)
			}
		}, load(deniedAt)},
		"approved-before": {func(t *testing.T, o *dvs.Options) {
			o.Trust = lookleap.NewMemoryStore()
			net, host, _ := policyWorld(t)
			_ = net
			if _, err := dvs.NewLoader(host, dvs.Options{Trust: o.Trust}).Load(t.Context(), deniedAt); err != nil {
				t.Fatal(err)
			}
		}, load(deniedAt)},
		"a-second-policy-that-allows-all": {func(_ *testing.T, o *dvs.Options) {
			o.Policies = append(o.Policies, &dvs.Policy{Allow: []string{"https://evil.example/"}})
		}, load(deniedAt)},
		"a-nil-policy": {func(_ *testing.T, o *dvs.Options) { o.Policies = []*dvs.Policy{nil} }, load("https://shop.example/s/a/SKILL.md")},
		"an-unreadable-policy": {func(_ *testing.T, o *dvs.Options) {
			o.Policies = []*dvs.Policy{dvs.UnreadablePolicy("x", errors.New("no such file"))}
		}, load("https://shop.example/s/a/SKILL.md")},
		"an-invalid-policy": {func(_ *testing.T, o *dvs.Options) {
			o.Policies = []*dvs.Policy{{Deny: []string{"https://evil.example/*"}}}
		}, load("https://shop.example/s/a/SKILL.md")},
		"a-policy-changed-afterwards": {try: func(ctx context.Context, _ *lookleaptest.Internet, h *lookleap.Host, o dvs.Options) error {
			l := dvs.NewLoader(h, o)
			saved := *deny
			defer func() { *deny = saved }()
			*deny = dvs.Policy{}
			_, err := l.Load(ctx, deniedAt)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			net, host, _ := policyWorld(t)
			options := dvs.Options{Policies: []*dvs.Policy{deny}}
			if c.options != nil {
				c.options(t, &options)
			}
			net.Journal().Clear()
			err := c.try(t.Context(), net, host, options)
			if code := lookleap.CodeOf(err); code != dvs.CodePolicyDenied && code != dvs.CodePolicyUnreadable && code != dvs.CodeRedirectOutside {
				t.Errorf("got %s: %v", code, err)
			}
			if sent := net.Journal().Requests("evil.example", "sub.evil.example", "raw.githubusercontent.com"); len(sent) > 0 {
				t.Errorf("%d requests were sent to the denied publisher", len(sent))
			}
		})
	}
}

// TestPolicy has one case for each thing that a policy decides, with what stays allowed.
func TestPolicy(t *testing.T) {
	const at = "https://shop.example/s/a/SKILL.md"
	ok := lookleap.CodeOK
	strict := dvs.AgentSkills
	pin := func(content string) dvs.PolicyPin {
		return dvs.PolicyPin{Skill: at, Pin: dvs.Pin{Digest: dvs.DigestOf([]byte(content))}}
	}
	load := func(url string) func(context.Context, *dvs.Loader) error {
		return func(ctx context.Context, l *dvs.Loader) error { _, err := l.Load(ctx, url); return err }
	}
	shell := func(ctx context.Context, l *dvs.Loader) error {
		s, err := l.Load(ctx, at)
		if err != nil {
			return err
		}
		return s.Confirm(ctx, dvs.Action{Kind: dvs.Shell, Command: "ls"})
	}
	script := func(ctx context.Context, l *dvs.Loader) error {
		s, err := l.Load(ctx, at)
		if err != nil {
			return err
		}
		_, err = s.Approve(ctx, dvs.Invocation{Script: "scripts/x.sh"})
		return err
	}
	discover := func(ctx context.Context, l *dvs.Loader) error {
		for _, err := range l.Discover(ctx, "https://shop.example/") {
			if lookleap.CodeOf(err) == dvs.CodePolicyDenied {
				return err
			}
		}
		return nil
	}
	for name, c := range map[string]struct {
		policy dvs.Policy
		roots  []string // registered by the program
		do     func(context.Context, *dvs.Loader) error
		code   lookleap.Code
		asked  int
	}{
		"zero-permits":      {do: load(at), code: ok, asked: 1},
		"allowed":           {policy: dvs.Policy{Allow: []string{"https://shop.example/"}}, do: load(at), code: ok, asked: 1},
		"not-allowed":       {policy: dvs.Policy{Allow: []string{"https://shop.example/other/"}}, do: load(at), code: dvs.CodePolicyDenied},
		"nothing-allowed":   {policy: dvs.Policy{Allow: []string{}}, do: load(at), code: dvs.CodePolicyDenied},
		"deny-beats-allow":  {policy: dvs.Policy{Allow: []string{"https://shop.example/s/a/"}, Deny: []string{"https://shop.example/s/"}}, do: load(at), code: dvs.CodePolicyDenied},
		"deny-is-no-prefix": {policy: dvs.Policy{Deny: []string{"https://shop.example/s/aa/", "op.example"}}, do: load(at), code: ok, asked: 1},
		"pinned-and-right":  {policy: dvs.Policy{Pins: []dvs.PolicyPin{pin(refund)}}, do: load(at), code: ok},
		"pinned-and-wrong":  {policy: dvs.Policy{Pins: []dvs.PolicyPin{pin("x")}}, do: load(at), code: dvs.CodeDigestMismatch},
		"pinned-only":       {policy: dvs.Policy{Pins: []dvs.PolicyPin{pin(refund)}, PinnedOnly: true}, do: load("https://shop.example/s/b/SKILL.md"), code: dvs.CodePolicyDenied},
		"scripts":           {do: script, code: ok, asked: 2},
		"no-scripts":        {policy: dvs.Policy{NoScripts: true}, do: script, code: dvs.CodePolicyDenied, asked: 1},
		"no-shell":          {policy: dvs.Policy{NoScripts: true}, do: shell, code: dvs.CodePolicyDenied, asked: 1},
		"no-shell-and-a-file": {policy: dvs.Policy{NoScripts: true}, do: func(ctx context.Context, l *dvs.Loader) error {
			s, err := l.Load(ctx, at)
			if err != nil {
				return err
			}
			return s.Confirm(ctx, dvs.Action{Kind: dvs.FileOp, Command: "write x"})
		}, code: ok, asked: 2},
		"discovery":    {do: discover, code: ok},
		"no-discovery": {policy: dvs.Policy{NoDiscovery: true}, do: discover, code: dvs.CodePolicyDenied},
		"platform": {policy: dvs.Policy{Allow: []string{"https://github.com/example-org/"}}, roots: []string{"https://github.com/example-org/"}, do: func(ctx context.Context, l *dvs.Loader) error {
			s, err := l.Load(ctx, "https://github.com/example-org/skills/blob/main/a/SKILL.md")
			if err == nil {
				_, err = s.Resource(ctx, "ADVANCED.md") // which another host of the platform serves
			}
			return err
		}, code: ok},
		"signed-dns":             {policy: dvs.Policy{RequireSecure: true}, do: load(at), code: dvs.CodeDNSSECInsecure},
		"stricter-profile":       {policy: dvs.Policy{Profile: &strict}, do: load("https://shop.example/s/c/SKILL.md"), code: lookleap.CodeBadName},
		"program-registers":      {policy: dvs.Policy{Register: dvs.RegisterProgram}, roots: []string{"https://shop.example/"}, do: load(at), code: ok},
		"program-does-not":       {policy: dvs.Policy{Register: dvs.RegisterPolicy}, roots: []string{"https://shop.example/"}, do: load(at), code: ok, asked: 1},
		"policy-registers":       {policy: dvs.Policy{Register: dvs.RegisterPolicy, Allow: []string{"https://shop.example/"}}, do: load(at), code: ok},
		"user-does-not-register": {policy: dvs.Policy{Register: dvs.RegisterProgram}, do: load("https://github.com/example-org/skills/blob/main/a/SKILL.md"), code: ok, asked: 1},
		"program-does-not-under": {policy: dvs.Policy{Register: dvs.RegisterPolicy}, do: func(ctx context.Context, l *dvs.Loader) error {
			root, _ := dvs.ParseTrustRoot("https://shop.example/", dvs.Rules{})
			_, err := l.LoadUnder(ctx, at, root)
			return err
		}, code: dvs.CodePolicyDenied},
	} {
		t.Run(name, func(t *testing.T) {
			net, host, user := policyWorld(t)
			net.Site("shop.example").File("/s/c/SKILL.md", "text/markdown", strings.Replace(refund, "refund", "re--fund", 1))
			net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/plain", refund).File("/example-org/skills/main/a/ADVANCED.md", "text/plain", "x\n")
			l := dvs.NewLoader(host, dvs.Options{Policies: []*dvs.Policy{{}, &c.policy}, Roots: registry(t, c.roots...)})
			err := c.do(t.Context(), l)
			if lookleap.CodeOf(err) != c.code || user.count() != c.asked {
				t.Fatalf("%d questions, %v", user.count(), err)
			}
			var refused *lookleap.Error
			if c.code == dvs.CodePolicyDenied && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Subject, "https://") || strings.Contains(refused.Message, "https://")) {
				t.Errorf("what is refused, and why: %+v", refused)
			}
			if name == "user-does-not-register" {
				for d := range l.Roots().All() {
					t.Error("registered:", d.Root)
				}
			}
		})
	}
	t.Run("max-trust", func(t *testing.T) {
		w := newTrustWorld(t)
		o := dvs.Options{Policies: []*dvs.Policy{{MaxTrust: 30 * 24 * time.Hour}, {MaxTrust: 48 * time.Hour}}}
		w.load(o, ok, 1)
		w.net.Clock().Advance(47 * time.Hour)
		w.load(o, ok, 0)
		w.net.Clock().Advance(2 * time.Hour)
		w.load(o, ok, 1)
		o.Policies[1].MaxTrust = 1
		w.net.Clock().Advance(time.Second)
		w.load(o, ok, 1)
	})
	t.Run("lenient-program", func(t *testing.T) {
		net, host, user := policyWorld(t)
		net.Site("shop.example").File("/s/c/SKILL.md", "text/markdown", strings.Replace(refund, "refund", "re--fund", 1))
		for _, policies := range [][]*dvs.Policy{{{Profile: &strict}}, {{Profile: &strict}, {}}, {{}, {Profile: &strict}}} {
			l := dvs.NewLoader(host, dvs.Options{Profile: dvs.Lenient, Policies: policies})
			if _, err := l.Load(t.Context(), "https://shop.example/s/c/SKILL.md"); lookleap.CodeOf(err) != lookleap.CodeBadName || user.count() != 0 {
				t.Error(err, user.count())
			}
		}
	})
}

// TestPolicySpelling writes the URL of a denied place in other ways. What is no other spelling of the
// place is invalid, so nothing is asked of any site.
func TestPolicySpelling(t *testing.T) {
	deny := &dvs.Policy{Name: "company.json", Deny: []string{"evil.example", "bücher.example", "https://github.com/evil-org/", "https://shop.example/bad/"}}
	for name, c := range map[string]struct {
		url  string
		code lookleap.Code // "": policy-denied
	}{
		"letter-case":        {"https://EVIL.example/s/a/SKILL.md", ""},
		"scheme-case":        {"HTTPS://evil.example/s/a/SKILL.md", ""},
		"default-port":       {"https://evil.example:443/s/a/SKILL.md", ""},
		"other-port":         {"https://evil.example:8443/s/a/SKILL.md", ""},
		"fragment":           {deniedAt + "#x", ""},
		"subdomain":          {"https://sub.evil.example/s/a/SKILL.md", ""},
		"directory":          {"https://evil.example/s/a/", ""},
		"trailing-dot":       {"https://evil.example./s/a/SKILL.md", "host-trailing-dot"},
		"query":              {deniedAt + "?x", "query-in-skill-url"},
		"idn-a-label":        {"https://xn--bcher-kva.example/SKILL.md", ""},
		"idn-u-label":        {"https://bücher.example/SKILL.md", ""},
		"idn-capitals":       {"https://BÜCHER.example/SKILL.md", ""},
		"idn-decomposed":     {"https://bu\u0308cher.example/SKILL.md", ""},
		"path-encoded":       {"https://shop.example/%62ad/SKILL.md", ""},
		"path-case":          {"https://shop.example/BAD/SKILL.md", ""},
		"path-parameter":     {"https://shop.example/bad;x/SKILL.md", ""},
		"platform-page":      {"https://github.com/evil-org/skills/blob/main/a/SKILL.md", ""},
		"platform-page-case": {"https://github.com/EVIL-org/skills/blob/main/a/SKILL.md", ""},
		"platform-www":       {"https://www.github.com/evil-org/skills/blob/main/a/SKILL.md", ""},
		"platform-raw-path":  {"https://github.com/evil-org/skills/raw/main/a/SKILL.md", ""},
		"platform-raw-host":  {"https://raw.githubusercontent.com/evil-org/skills/main/a/SKILL.md", ""},
		"platform-own-host":  {"https://evil-org.github.io/skills/a/SKILL.md", ""},
		"platform-mirror":    {"https://cdn.jsdelivr.net/gh/evil-org/skills@main/a/SKILL.md", ""},
		"platform-archives":  {"https://codeload.github.com/evil-org/skills/tar.gz/refs/heads/main", "never-trusted-host"},
		"platform-api":       {"https://api.github.com/repos/evil-org/skills/contents/a/SKILL.md", "never-trusted-host"},
		"platform-proxy":     {"https://raw.githack.com/evil-org/skills/main/a/SKILL.md", "never-trusted-host"},
	} {
		t.Run(name, func(t *testing.T) {
			net, host, _ := policyWorld(t)
			if c.code == "" {
				c.code = dvs.CodePolicyDenied
			}
			_, err := dvs.NewLoader(host, dvs.Options{Policies: []*dvs.Policy{deny}}).Load(t.Context(), c.url)
			if lookleap.CodeOf(err) != c.code {
				t.Errorf("want %s: %v", c.code, err)
			}
			if sent := net.Journal().Requests(); len(sent) > 0 {
				t.Errorf("%d requests were sent", len(sent))
			}
		})
	}
}

// TestPolicyProfileOnlyTightens: a policy with a milder profile than the loader changes nothing.
func TestPolicyProfileOnlyTightens(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", "---\nname: My Skill\ndescription: b\n---\nDo it.\n")
	lenient := dvs.Lenient
	loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Policies: []*dvs.Policy{{Profile: &lenient}}})
	if _, err := loader.Load(t.Context(), trustedAt); lookleap.CodeOf(err) != lookleap.CodeBadName {
		t.Error(err)
	}
}
