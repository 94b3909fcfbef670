package dvs

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestStillAllowed changes one thing about a loader after a skill was loaded on some terms, and
// asks whether the skill may still be used.
func TestStillAllowed(t *testing.T) {
	const url, hub = "https://shop.example/s/a/SKILL.md", "https://github.com/org/r/blob/main/a/SKILL.md"
	digest := DigestOf([]byte("x"))
	own := loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByHost, Digest: digest}
	named := loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByHost, Under: "https://shop.example/s/"}
	ownDefault := loadTerms{Skill: url, Root: "https://shop.example/", Source: DefaultOrigin}
	hubOnly := loadTerms{Skill: hub, Root: "https://github.com/org/r/blob/main/a/", Source: SkillOnly}
	withdraw := func(kind WithdrawalKind, value string) func(*Loader) {
		return func(l *Loader) {
			l.withdrawn.Store(newWithdrawals([]*feed{{state: feedState{Entries: []Withdrawal{{Kind: kind, Value: value, Reason: "r", Time: time.Unix(1, 0)}}}}}, Rules{}))
		}
	}
	register := func(root string) func(*Loader) {
		return func(l *Loader) { _, _ = l.roots.Register(root, ByHost) }
	}
	for name, c := range map[string]struct {
		terms   loadTerms
		options Options
		change  func(*Loader)
		want    lookleap.Code // "": ok
	}{
		"accept-registered":                  {terms: own, change: register("https://shop.example/s/")},
		"accept-registered-strict":           {terms: own, options: Options{Strict: true}, change: register("https://shop.example/s/")},
		"reject-unregistered":                {terms: own, want: CodeNeedsRoot},
		"accept-default":                     {terms: ownDefault},
		"reject-default-strict":              {terms: ownDefault, options: Options{Strict: true}, want: CodeNeedsRoot},
		"accept-skill-only":                  {terms: hubOnly},
		"reject-skill-only-strict":           {terms: hubOnly, options: Options{Strict: true}, want: CodeNeedsRoot},
		"reject-default-of-a-platform-now":   {terms: loadTerms{Skill: hub, Root: "https://github.com/org/", Source: DefaultOrigin}, want: CodeNeedsRoot},
		"accept-under-the-callers-root":      {terms: named},
		"reject-callers-root-does-not-cover": {terms: loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByHost, Under: "https://shop.example/t/"}, want: CodeNeedsRoot},
		"reject-callers-root-is-no-root":     {terms: loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByHost, Under: "https://github.com/"}, want: CodeNeedsRoot},
		"reject-url-is-no-skill":             {terms: loadTerms{Skill: "http://shop.example/s/a/SKILL.md", Root: "https://shop.example/s/", Source: ByHost, Under: "https://shop.example/s/"}, want: lookleap.CodeNotHTTPS},
		"reject-root-of-a-platform":          {terms: loadTerms{Skill: hub, Root: "https://github.com/", Source: ByHost}, change: register("https://github.com/org/"), want: CodeUGCBareRoot},
		"reject-root-does-not-cover":         {terms: loadTerms{Skill: url, Root: "https://shop.example/t/", Source: ByHost}, change: register("https://shop.example/s/"), want: CodeOutsideTrustRoot},
		"reject-blocked":                     {terms: named, change: func(l *Loader) { _, _ = l.roots.Block("https://shop.example/s/a/") }, want: CodeBlockedRoot},
		"reject-revoked":                     {terms: named, change: func(l *Loader) { _ = l.roots.RevokeDomain("shop.example", false) }, want: CodeRevoked},
		"reject-denied-by-policy":            {terms: named, options: Options{Policies: []*Policy{{Deny: []string{"shop.example"}}}}, want: CodePolicyDenied},
		"reject-callers-root-by-policy":      {terms: named, options: Options{Policies: []*Policy{{Register: RegisterPolicy}}}, want: CodePolicyDenied},
		"accept-root-of-the-policy":          {terms: named, options: Options{Policies: []*Policy{{Register: RegisterPolicy, Allow: []string{"https://shop.example/"}}}}},
		"reject-withdrawn-digest":            {terms: own, change: func(l *Loader) { register("https://shop.example/s/")(l); withdraw(WithdrawnDigest, digest.String())(l) }, want: CodeWithdrawn},
		"reject-withdrawn-skill":             {terms: named, change: withdraw(WithdrawnSkill, url), want: CodeWithdrawn},
		"accept-another-skill-withdrawn":     {terms: named, change: withdraw(WithdrawnSkill, "https://shop.example/s/b/SKILL.md")},
		"accept-loaded-with-signed-dns":      {terms: loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByHost, Under: "https://shop.example/s/", RequireSecure: true}, options: Options{RequireSecure: true}},
		"reject-root-of-the-user-by-policy":  {terms: loadTerms{Skill: url, Root: "https://shop.example/s/", Source: ByUser}, change: func(l *Loader) { _, _ = l.roots.Register("https://shop.example/s/", ByUser) }, options: Options{Policies: []*Policy{{Register: RegisterProgram}}}, want: CodeNeedsRoot},
		"reject-loaded-without-signed-dns":   {terms: named, options: Options{RequireSecure: true}, want: CodeDNSSECInsecure},
		"reject-read-by-a-laxer-profile":     {terms: named, options: Options{Profile: AgentSkills}, want: lookleap.CodePlanInvalid},
		"accept-read-by-a-stricter-profile":  {terms: loadTerms{Skill: url, Root: named.Root, Source: ByHost, Under: named.Under, Profile: AgentSkills}},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			l := NewLoader(&lookleap.Host{}, c.options)
			if c.change != nil {
				c.change(l)
			}
			want := c.want
			if want == "" {
				want = lookleap.CodeOK
			}
			if err := l.stillAllowed(c.terms); lookleap.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestLimitsDefaults compares the limits of a loader with those that the documentation states.
func TestLimitsDefaults(t *testing.T) {
	documented := Limits{
		Skill: 1 << 20, Frontmatter: 16 << 10, Depth: 16,
		URL: 8192, Resource: 10 << 20, Time: 10 * time.Second, Redirects: 5, Kept: 24 * time.Hour, Entries: 128, Memory: 64 << 20,
		Index: 1 << 20, IndexEntries: 1000, Sitemap: 52_428_800, SitemapURLs: 50_000, SitemapChildren: 10, Candidates: 10_000,
		Files: 1000, Total: 64 << 20, Archive: 32 << 20, ChainDepth: 4, ChainTotal: 32,
	}
	one := Limits{Skill: 1, Frontmatter: 1, Depth: 1, URL: 1, Resource: 1, Time: 1, Redirects: 1, Kept: 1, Entries: 1, Memory: 1,
		Index: 1, IndexEntries: 1, Sitemap: 1, SitemapURLs: 1, SitemapChildren: 1, Candidates: 1, Files: 1, Total: 1, Archive: 1, ChainDepth: 1, ChainTotal: 1}
	for name, c := range map[string]struct{ in, want Limits }{
		"accept-zero":             {Limits{}, documented},
		"accept-negative":         {Limits{Skill: -1, Depth: -1, Time: -1, Kept: -1, ChainTotal: -1}, documented},
		"accept-kept-a-day":       {Limits{Kept: 24 * time.Hour}, documented},
		"reject-kept-over-a-day":  {Limits{Kept: 24*time.Hour + 1}, documented},
		"accept-smallest-of-each": {one, one},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.in.withDefaults(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestRememberUntil shows for how long a session remembers what the user agreed to.
func TestRememberUntil(t *testing.T) {
	for name, c := range map[string]struct {
		until, later time.Duration
		want         bool
	}{
		"accept-before-its-end": {time.Hour, time.Hour - 1, true},
		"reject-at-its-end":     {time.Hour, time.Hour, false},
		"accept-within-a-day":   {72 * time.Hour, 24*time.Hour - 1, true},
		"reject-after-a-day":    {72 * time.Hour, 24 * time.Hour, false},
		"reject-for-no-time":    {0, 0, false},
		"reject-ended-already":  {-time.Hour, 0, false},
	} {
		t.Run("DVS-5.2-06/"+name, func(t *testing.T) {
			now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
			l := NewLoader(&lookleap.Host{Now: func() time.Time { return now }}, Options{})
			key := consentKey{effectAction, "https://shop.example/s/a/SKILL.md", "ls"}
			l.rememberUntil(key, now.Add(c.until))
			if c.until <= 0 && len(l.consents) > 0 {
				t.Error("it takes the place of another consent")
			}
			now = now.Add(c.later)
			if l.remembered(key) != c.want || l.remembered(consentKey{effectAction, key.skill, "rm"}) {
				t.Errorf("remembered: %v", !c.want)
			}
		})
	}
}

// TestStandingAsks: who is asked about a skill, by what is known of it, its root and its level.
func TestStandingAsks(t *testing.T) {
	for _, c := range []struct {
		is        standing
		source    RootSource
		to        level
		skillOnly bool
		want      bool
	}{
		{unknownSkill, ByHost, activated, false, false}, {unknownSkill, ByUser, registered, false, false},
		{unknownSkill, DefaultOrigin, activated, false, true}, {unknownSkill, DefaultOrigin, registered, false, false},
		{unknownSkill, Derived, activated, false, true}, {unknownSkill, Derived, registered, false, true},
		{approvedSkill, ByHost, activated, false, false}, {approvedSkill, DefaultOrigin, activated, false, false},
		{approvedSkill, Derived, activated, false, true}, {approvedSkill, Derived, activated, true, false}, {approvedSkill, DefaultOrigin, activated, true, false},
		{changedSkill, ByHost, activated, false, true}, {changedSkill, ByHost, registered, true, true}, {expiredSkill, ByHost, activated, false, true},
	} {
		if got := c.is.asks(c.source, c.to, c.skillOnly); got != c.want {
			t.Errorf("%d, %s, level %d, skill only %t: %t", c.is, c.source, c.to, c.skillOnly, got)
		}
	}
}

// TestStandingOfVersions: at level 1, another version with the same header counts only if the version
// itself is not known.
func TestStandingOfVersions(t *testing.T) {
	digest := func(s string) Digest { return DigestOf([]byte(s)) }
	r := &TrustRecord{Versions: []TrustedVersion{
		{File: digest("old"), Header: digest("header"), Approved: feedNow.Add(-time.Hour)}, {File: digest("new"), Header: digest("header"), Approved: feedNow},
	}}
	for name, c := range map[string]struct {
		file, header string
		to           level
		is           standing
		known        string
	}{
		"new":              {"new", "header", activated, approvedSkill, "new"},
		"new-registered":   {"new", "header", registered, approvedSkill, "new"},
		"old":              {"old", "header", activated, expiredSkill, "old"},
		"other":            {"other", "header", activated, changedSkill, "new"},
		"other-registered": {"other", "header", registered, expiredSkill, "old"},
		"another-header":   {"other", "x", registered, changedSkill, "new"},
	} {
		is, known := r.standing(digest(c.file), digest(c.header), c.to, feedNow, time.Minute)
		if is != c.is || known == nil || known.File != digest(c.known) {
			t.Errorf("%s: %d, %+v", name, is, known)
		}
	}
	if is, known := (&TrustRecord{}).standing(digest("a"), digest("b"), registered, feedNow, 0); is != unknownSkill || known != nil {
		t.Errorf("%d, %+v", is, known)
	}
}

// TestVerifiedAs reads the root and the digest of a verdict, and nothing else that it has evidence of.
func TestVerifiedAs(t *testing.T) {
	v := &lookleap.Verdict{Checks: []lookleap.Check{
		{Requirement: "x", Evidence: []lookleap.Evidence{{URL: "https://x.example/", Digest: "other"}}},
		{Requirement: rootCheck, Evidence: []lookleap.Evidence{{URL: "https://a.example/"}}},
		{Requirement: digestCheck, Evidence: []lookleap.Evidence{{Digest: "first"}, {Digest: "pin"}}},
		{Requirement: narrowCheck, Evidence: []lookleap.Evidence{{Text: "https://b.example/"}}},
	}}
	if root, digest := verifiedAs(v); root != "https://a.example/" || digest != "first" {
		t.Errorf("%q, %q", root, digest)
	}
	v.Checks[3].Evidence[0] = lookleap.Evidence{URL: "https://a.example/s/"}
	if root, _ := verifiedAs(v); root != "https://a.example/s/" {
		t.Error(root)
	}
}
