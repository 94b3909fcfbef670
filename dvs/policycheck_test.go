package dvs_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestPolicyCheck judges a skill by its URL, and refuses policies that cannot be applied.
func TestPolicyCheck(t *testing.T) {
	const at = "https://shop.example/s/a/SKILL.md"
	digest := dvs.Pin{Digest: dvs.DigestOf([]byte("a"))}
	for name, c := range map[string]struct {
		policy *dvs.Policy
		code   lookleap.Code
		says   string
	}{
		"accept-all":                    {&dvs.Policy{}, lookleap.CodeOK, ""},
		"reject-no-policy":              {nil, dvs.CodePolicyUnreadable, "the policy was not read"},
		"reject-unreadable":             {dvs.UnreadablePolicy("p.json", nil), dvs.CodePolicyUnreadable, "p.json"},
		"accept-allowed":                {&dvs.Policy{Allow: []string{"https://a.example/", "https://shop.example/s/"}}, lookleap.CodeOK, ""},
		"reject-not-allowed":            {&dvs.Policy{Allow: []string{"https://a.example/"}}, dvs.CodePolicyDenied, ""},
		"reject-none-allowed":           {&dvs.Policy{Allow: []string{}}, dvs.CodePolicyDenied, ""},
		"reject-denied-root":            {&dvs.Policy{Deny: []string{"https://shop.example/s/"}}, dvs.CodePolicyDenied, ""},
		"reject-denied-parent-host":     {&dvs.Policy{Deny: []string{"example"}, Allow: []string{"https://a.example/"}}, dvs.CodePolicyUnreadable, `"example"`},
		"accept-other-denied":           {&dvs.Policy{Deny: []string{"https://shop.example/t/", "a.example"}}, lookleap.CodeOK, ""},
		"reject-unreadable-allow":       {&dvs.Policy{Allow: []string{"http://shop.example/"}}, dvs.CodePolicyUnreadable, `"http://shop.example/"`},
		"reject-unreadable-deny":        {&dvs.Policy{Deny: []string{"http://a.example/"}}, dvs.CodePolicyUnreadable, `"http://a.example/"`},
		"reject-unreadable-deny-host":   {&dvs.Policy{Deny: []string{"a b"}}, dvs.CodePolicyUnreadable, `"a b"`},
		"reject-denied-bare-platform":   {&dvs.Policy{Deny: []string{"https://github.com/"}}, dvs.CodePolicyUnreadable, "write the host alone"},
		"reject-denied-short-root":      {&dvs.Policy{Deny: []string{"https://huggingface.co/datasets/"}}, dvs.CodePolicyUnreadable, "write the host alone"},
		"reject-denied-public-suffix":   {&dvs.Policy{Deny: []string{"https://github.io/"}}, dvs.CodePolicyUnreadable, "write the host alone"},
		"accept-pinned":                 {&dvs.Policy{PinnedOnly: true, Pins: []dvs.PolicyPin{{Skill: at, Pin: digest, Root: "https://shop.example/s/"}}}, lookleap.CodeOK, ""},
		"reject-not-pinned":             {&dvs.Policy{PinnedOnly: true}, dvs.CodePolicyDenied, ""},
		"reject-another-pinned":         {&dvs.Policy{PinnedOnly: true, Pins: []dvs.PolicyPin{{Skill: "https://shop.example/s/b/SKILL.md", Pin: digest}}}, dvs.CodePolicyDenied, ""},
		"reject-pin-of-no-skill":        {&dvs.Policy{Pins: []dvs.PolicyPin{{Skill: "http://shop.example/", Pin: digest}}}, dvs.CodePolicyUnreadable, `"http://shop.example/"`},
		"reject-pin-without-digest":     {&dvs.Policy{Pins: []dvs.PolicyPin{{Skill: at}}}, dvs.CodePolicyUnreadable, "neither digest nor commit"},
		"reject-pin-under-another-root": {&dvs.Policy{Pins: []dvs.PolicyPin{{Skill: at, Pin: digest, Root: "https://shop.example/t/"}}}, dvs.CodePolicyUnreadable, `"https://shop.example/t/"`},
		"reject-pin-under-no-root":      {&dvs.Policy{Pins: []dvs.PolicyPin{{Skill: at, Pin: digest, Root: "shop.example"}}}, dvs.CodePolicyUnreadable, `"shop.example"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.policy.Check(skillURL(t, at), dvs.Rules{})
			if lookleap.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("want %s with %q, got %v", c.code, c.says, err)
			}
		})
	}
}

// TestPolicyPins loads skills that a policy pins by digest or commit, with and without a pin of the
// caller.
func TestPolicyPins(t *testing.T) {
	const sha, other = "0123456789abcdef0123456789abcdef01234567", "1123456789abcdef0123456789abcdef01234567"
	const at = "https://github.com/example-org/skills/blob/" + sha + "/a/SKILL.md"
	right, wrong := dvs.DigestOf([]byte(refund)), dvs.DigestOf(nil)
	for name, c := range map[string]struct {
		policy, caller dvs.Pin
		code           lookleap.Code
	}{
		"accept-digest":                   {dvs.Pin{Digest: right}, dvs.Pin{}, lookleap.CodeOK},
		"accept-commit":                   {dvs.Pin{Commit: sha}, dvs.Pin{}, lookleap.CodeOK},
		"accept-commit-in-capitals":       {dvs.Pin{Commit: strings.ToUpper(sha)}, dvs.Pin{Commit: sha}, lookleap.CodeOK},
		"accept-digest-with-a-commit":     {dvs.Pin{Digest: right}, dvs.Pin{Commit: sha}, lookleap.CodeOK},
		"accept-commit-with-a-digest":     {dvs.Pin{Commit: sha}, dvs.Pin{Digest: right}, lookleap.CodeOK},
		"accept-the-same-digest":          {dvs.Pin{Digest: right}, dvs.Pin{Digest: right}, lookleap.CodeOK},
		"reject-other-bytes":              {dvs.Pin{Digest: wrong}, dvs.Pin{}, dvs.CodeDigestMismatch},
		"reject-another-commit":           {dvs.Pin{Commit: other}, dvs.Pin{}, dvs.CodeCommitRef},
		"reject-another-digest-of-caller": {dvs.Pin{Digest: right}, dvs.Pin{Digest: wrong}, dvs.CodePolicyDenied},
		"reject-another-commit-of-caller": {dvs.Pin{Commit: other}, dvs.Pin{Commit: sha}, dvs.CodePolicyDenied},
		"reject-wrong-digest-of-caller":   {dvs.Pin{Commit: sha}, dvs.Pin{Digest: wrong}, dvs.CodeDigestMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrustWorld(t)
			github(w.net, "/example-org/skills/"+sha+"/a/SKILL.md", refund)
			l := w.process(dvs.Options{Policies: []*dvs.Policy{{Pins: []dvs.PolicyPin{{Skill: at, Pin: c.policy}}}}})
			var err error
			if c.caller == (dvs.Pin{}) {
				_, err = l.Load(t.Context(), at)
			} else {
				_, err = l.LoadPinned(t.Context(), at, c.caller)
			}
			if lookleap.CodeOf(err) != c.code || w.user.count() != 0 {
				t.Errorf("%v, asked %d times", err, w.user.count())
			}
		})
	}
}

// TestPolicySentences explains each decision of a policy, and only those.
func TestPolicySentences(t *testing.T) {
	strict := dvs.AgentSkills
	digest := dvs.DigestOf([]byte("a"))
	for name, c := range map[string]struct {
		policy *dvs.Policy
		want   []string
	}{
		"none":       {nil, nil},
		"unreadable": {dvs.UnreadablePolicy("p", nil), []string{"Nothing is allowed, because the policy could not be read: the policy was not read; read it."}},
		"open": {&dvs.Policy{}, []string{"Skills may come from any place that is not denied.", "The user and the program may declare trust roots.",
			"Scripts run if the user agrees to each."}},
		"closed": {&dvs.Policy{Allow: []string{}, Register: dvs.RegisterProgram, NoScripts: true}, []string{"No skill may be loaded.",
			"Only the program may declare trust roots; a user can agree to single skills.", "Scripts and shell commands are refused, whatever the user agrees to."}},
		"full": {&dvs.Policy{Allow: []string{"https://a.example/"}, Deny: []string{"b.example"}, PinnedOnly: true, Register: dvs.RegisterPolicy, Profile: &strict,
			NoDiscovery: true, RequireSecure: true, MaxTrust: time.Hour,
			Pins: []dvs.PolicyPin{{Skill: "https://a.example/SKILL.md", Pin: dvs.Pin{Digest: digest}}, {Skill: "https://a.example/b/SKILL.md", Pin: dvs.Pin{Commit: "0123"}}}},
			[]string{
				`Skills and their files may come only from "https://a.example/".`,
				`Nothing may come from "b.example", in any spelling.`,
				`The skill "https://a.example/SKILL.md" loads only as "` + digest.String() + `", and the user is not asked about it.`,
				`The skill "https://a.example/b/SKILL.md" loads only as "0123", and the user is not asked about it.`,
				"Every other skill is refused.",
				"Only this policy declares trust roots; a user can agree to single skills.",
				"Skills are read by the profile " + strict.String() + " or a stricter one.",
				"Scripts run if the user agrees to each.",
				"The lists of an origin are not read.",
				"Hosts without signed DNS are refused.",
				"The user is asked again 1h0m0s after an approval.",
			}},
	} {
		t.Run("accept-"+name, func(t *testing.T) {
			if got := c.policy.Sentences(); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	t.Run("reject-unknown-registrar", func(t *testing.T) {
		r := dvs.RegisterPolicy
		if err := r.UnmarshalText([]byte("anyone")); lookleap.CodeOf(err) != lookleap.CodeUsage || r != dvs.RegisterPolicy {
			t.Error(r, err)
		}
		text := must(r.MarshalText())
		if err := r.UnmarshalText(text); err != nil || r != dvs.RegisterPolicy {
			t.Error(r, err)
		}
	})
}

// TestPolicyRegistrars has roots that the program, the user and two policies declare. Where only
// the policy may declare roots, its own list counts, and the longest root decides.
func TestPolicyRegistrars(t *testing.T) {
	const at, above, below = "https://shop.example/s/a/SKILL.md", "https://shop.example/", "https://shop.example/s/"
	only := func(allow ...string) *dvs.Policy { return &dvs.Policy{Register: dvs.RegisterPolicy, Allow: allow} }
	program := &dvs.Policy{Register: dvs.RegisterProgram}
	for name, c := range map[string]struct {
		policies []*dvs.Policy
		by       dvs.RootSource // who registered the root above; Undeclared: no one
		deny     bool
		root     string
		asked    int
		code     lookleap.Code
	}{
		"accept-root-of-the-user":               {by: dvs.ByUser, root: above},
		"reject-root-of-the-user":               {policies: []*dvs.Policy{program}, by: dvs.ByUser, root: above, asked: 1},
		"accept-root-of-the-program":            {policies: []*dvs.Policy{program}, by: dvs.ByHost, root: above},
		"reject-root-of-the-program":            {policies: []*dvs.Policy{{}, only()}, by: dvs.ByHost, root: above, asked: 1},
		"reject-root-of-the-user-by-policy":     {policies: []*dvs.Policy{only()}, by: dvs.ByUser, root: above, asked: 1},
		"accept-root-of-the-policy":             {policies: []*dvs.Policy{only(above)}, root: above},
		"accept-longest-root":                   {policies: []*dvs.Policy{only(above, below)}, root: below},
		"accept-longest-root-in-any-order":      {policies: []*dvs.Policy{only(below, above)}, root: below},
		"reject-list-of-another-policy":         {policies: []*dvs.Policy{only(), {Allow: []string{below}}}, root: above, asked: 1},
		"accept-lists-of-two-policies":          {policies: []*dvs.Policy{only(below), {Allow: []string{above}}}, root: below},
		"reject-list-that-does-not-cover":       {policies: []*dvs.Policy{only("https://shop.example/t/")}, code: dvs.CodePolicyDenied},
		"reject-blocked-although-listed":        {policies: []*dvs.Policy{only(above)}, by: dvs.ByHost, deny: true, code: dvs.CodeBlockedRoot},
		"reject-blocked-although-program-only":  {policies: []*dvs.Policy{program}, by: dvs.ByUser, deny: true, code: dvs.CodeBlockedRoot},
		"reject-blocked-where-no-one-registers": {policies: []*dvs.Policy{only()}, by: dvs.ByUser, deny: true, code: dvs.CodeBlockedRoot},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrustWorld(t)
			for i, p := range c.policies {
				if p.Register == dvs.RegisterPolicy && len(p.Allow) == 0 {
					p.Allow = nil // any place
				}
				c.policies[i] = p
			}
			roots := dvs.NewRoots(dvs.Rules{})
			if c.by != dvs.Undeclared {
				if _, err := roots.Register(above, c.by); err != nil {
					t.Fatal(err)
				}
			}
			if c.deny {
				if _, err := roots.Block(above); err != nil {
					t.Fatal(err)
				}
			}
			l := w.process(dvs.Options{Policies: c.policies, Roots: roots})
			skill, err := l.Load(t.Context(), at)
			if want := cmp.Or(c.code, lookleap.CodeOK); lookleap.CodeOf(err) != want || w.user.count() != c.asked {
				t.Fatalf("%v, asked %d times", err, w.user.count())
			}
			if err == nil && skill.Root.String() != c.root {
				t.Errorf("the root is %s", skill.Root)
			}
		})
	}
	t.Run("reject-denied-platform-without-a-prompter", func(t *testing.T) {
		for code, deny := range map[lookleap.Code]func(*dvs.Roots){
			dvs.CodeBlockedRoot: func(r *dvs.Roots) { _, _ = r.Block("https://github.com/o/") },
			dvs.CodeRevoked: func(r *dvs.Roots) {
				_, _ = r.Register("https://github.com/o/", dvs.ByUser)
				r.Revoke(must(dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{})))
			},
		} {
			roots := dvs.NewRoots(dvs.Rules{})
			deny(roots)
			l := dvs.NewLoader(newTrustWorld(t).net.StubHost(), dvs.Options{Policies: []*dvs.Policy{program}, Roots: roots})
			if _, err := l.Load(t.Context(), hubSkill); lookleap.CodeOf(err) != code {
				t.Errorf("want %s, got %v", code, err)
			}
		}
	})
	t.Run("reject-revoked-although-listed", func(t *testing.T) {
		w := newTrustWorld(t)
		l := w.process(dvs.Options{Policies: []*dvs.Policy{only(above)}})
		l.Revoke(must(dvs.ParseTrustRoot(above, dvs.Rules{})))
		if _, err := l.Load(t.Context(), at); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
	})
	for name, most := range map[string][]time.Duration{"accept-shortest-first": {24 * time.Hour, 48 * time.Hour, 0}, "accept-shortest-last": {0, 48 * time.Hour, 24 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			w := newTrustWorld(t)
			options := dvs.Options{Roots: registry(t, above)}
			for _, m := range most {
				options.Policies = append(options.Policies, &dvs.Policy{MaxTrust: m})
			}
			w.load(options, lookleap.CodeOK, 0)
			w.net.Clock().Advance(23 * time.Hour)
			w.load(options, lookleap.CodeOK, 0)
			w.net.Clock().Advance(2 * time.Hour)
			w.load(options, lookleap.CodeOK, 1)
		})
	}
}

// TestPinOfCaller: where a policy pins a digest, the commit that the caller knows counts as well.
func TestPinOfCaller(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	const at = "https://github.com/example-org/skills/blob/main/a/SKILL.md"
	net := lookleaptest.ForTest(t)
	github(net, "/example-org/skills/main/a/SKILL.md", refund).File("/example-org/skills/"+sha+"/a/ADVANCED.md", "text/plain", "x\n")
	policy := &dvs.Policy{Pins: []dvs.PolicyPin{{Skill: at, Pin: dvs.Pin{Digest: dvs.DigestOf([]byte(refund))}}}}
	for commit, want := range map[string]lookleap.Code{sha: lookleap.CodeOK, "": dvs.CodeCommitRef} {
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Policies: []*dvs.Policy{policy}}).LoadPinned(t.Context(), at, dvs.Pin{Commit: commit})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "https://github.com/example-org/skills/blob/"+sha+"/a/ADVANCED.md"); lookleap.CodeOf(err) != want {
			t.Errorf("%q: %v", commit, err)
		}
	}
}

// TestPolicyPinDeclares: a pin declares the root of its skill where only the policy may, and of no
// other skill.
func TestPolicyPinDeclares(t *testing.T) {
	w := newTrustWorld(t)
	digest := dvs.DigestOf(skillText("Ask for the order number.\n"))
	options := func() dvs.Options {
		return dvs.Options{Policies: []*dvs.Policy{{Register: dvs.RegisterPolicy, Pins: []dvs.PolicyPin{{Skill: trustedAt, Pin: dvs.Pin{Digest: digest}, Root: "https://shop.example/s/"}}}}}
	}
	if skill := w.load(options(), lookleap.CodeOK, 0); skill.Root.String() != "https://shop.example/s/" {
		t.Error(skill.Root)
	}
	narrow := must(dvs.ParseTrustRoot("https://shop.example/s/a/", dvs.Rules{}))
	if skill, err := w.process(options()).LoadUnder(t.Context(), trustedAt, narrow); err != nil || skill.Root.String() != narrow.String() {
		t.Errorf("the root that the caller names does not count: %v, %v", skill, err)
	}
	only := dvs.Options{Policies: []*dvs.Policy{{Register: dvs.RegisterPolicy}}, Lock: lockOf(trustedAt, "https://shop.example/", dvs.LockedFile{Path: "SKILL.md", Digest: digest})}
	w.load(only, dvs.CodePolicyDenied, 0) // a lockfile declares no root either
	w.site.File("/s/b/SKILL.md", "text/markdown", refund)
	root := must(dvs.ParseTrustRoot("https://shop.example/s/", dvs.Rules{}))
	if _, err := w.process(options()).LoadUnder(t.Context(), "https://shop.example/s/b/SKILL.md", root); lookleap.CodeOf(err) != dvs.CodePolicyDenied || w.user.count() != 0 {
		t.Errorf("%v, asked %d times", err, w.user.count())
	}
}

// TestPolicyUnreadable refuses every use where one of the policies cannot be applied.
func TestPolicyUnreadable(t *testing.T) {
	w := newFilesWorld(t)
	bad := dvs.Options{Policies: []*dvs.Policy{{}, {Deny: []string{"a b"}}}, Roots: registry(t, "https://shop.example/")}
	w.load(bad, dvs.CodePolicyUnreadable, 0)
	for _, err := range w.process(bad).Discover(t.Context(), "https://shop.example/") {
		if lookleap.CodeOf(err) != dvs.CodePolicyUnreadable {
			t.Error("discovery:", err)
		}
	}
	if n := len(w.net.Journal().Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
