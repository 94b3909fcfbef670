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
