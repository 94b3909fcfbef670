package policy_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
)

// TestMembers reads each member alone: what it sets, and what it says in words.
func TestMembers(t *testing.T) {
	digest := dvs.DigestOf([]byte("x"))
	strictest := dvs.AgentSkills
	keys := `{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`
	for name, c := range map[string]struct {
		body  string
		want  dvs.Policy // of the skills
		says  string     // one of the sentences
		check func(p *policy.Policy) bool
	}{
		"name":            {body: `,"name":"Example Corp"`, want: dvs.Policy{Name: "Example Corp"}, check: func(p *policy.Policy) bool { return p.Name() == "Example Corp" }},
		"no-name":         {check: func(p *policy.Policy) bool { return p.Name() == "file.json" }},
		"allow":           {body: `,"skills":{"allow":["https://example.com/"]}`, want: dvs.Policy{Allow: []string{"https://example.com/"}}},
		"allow-nothing":   {body: `,"skills":{"allow":[]}`, want: dvs.Policy{Allow: []string{}}, says: "No skill may be loaded."},
		"deny":            {body: `,"skills":{"deny":["skill.example"]}`, want: dvs.Policy{Deny: []string{"skill.example"}}},
		"pin":             {body: `,"skills":{"pins":[{"skill":"https://example.com/s/SKILL.md","digest":"` + digest.String() + `","commit":"main","root":"https://example.com/s/"}]}`, want: dvs.Policy{Pins: []dvs.PolicyPin{{Skill: "https://example.com/s/SKILL.md", Pin: dvs.Pin{Digest: digest, Commit: "main"}, Root: "https://example.com/s/"}}}},
		"pinned-only":     {body: `,"skills":{"pinnedOnly":true}`, want: dvs.Policy{PinnedOnly: true}},
		"not-pinned-only": {body: `,"skills":{"pinnedOnly":false}`},
		"register":        {body: `,"skills":{"register":"policy"}`, want: dvs.Policy{Register: dvs.RegisterPolicy}},
		"profile":         {body: `,"skills":{"profile":"agentskills"}`, want: dvs.Policy{Profile: &strictest}},
		"no-scripts":      {body: `,"skills":{"scripts":false}`, want: dvs.Policy{NoScripts: true}},
		"scripts":         {body: `,"skills":{"scripts":true}`},
		"no-discovery":    {body: `,"skills":{"discovery":false}`, want: dvs.Policy{NoDiscovery: true}},
		"discovery":       {body: `,"skills":{"discovery":true}`},
		"signed-dns":      {body: `,"skills":{"requireSecure":true}`, want: dvs.Policy{RequireSecure: true}},
		"one-day":         {body: `,"skills":{"maxTrustDays":1}`, want: dvs.Policy{MaxTrust: 24 * time.Hour}},
		"ten-years":       {body: `,"skills":{"maxTrustDays":3650}`, want: dvs.Policy{MaxTrust: 3650 * 24 * time.Hour}},
		"feed": {body: `,"skills":{"feeds":[{"url":"https://example.com/w.json"}]}`, says: "is obeyed, verified by TLS. If it cannot be reached, nothing is allowed.", check: func(p *policy.Policy) bool {
			o := p.Skills(dvs.Options{}).Feeds
			return len(o) == 1 && o[0].URL == "https://example.com/w.json" && o[0].Stale == 0 && o[0].Verify == nil
		}},
		"signed-feed": {body: `,"skills":{"feeds":[{"url":"https://example.com/w.json","keys":` + keys + `,"staleHours":720}]}`, says: `The revocation feed "https://example.com/w.json" is obeyed, signed with a key of this policy. If it cannot be reached, a copy of up to 720h0m0s is used.`, check: func(p *policy.Policy) bool {
			o := p.Skills(dvs.Options{}).Feeds
			return len(o) == 1 && o[0].Stale == 720*time.Hour && o[0].Verify != nil
		}},
		"foreign": {body: `,"agentsTxt":{"foreign":"restrict"}`, says: "An agents.txt of another format restricts its whole site.", check: func(p *policy.Policy) bool {
			return p.AgentsTxt(agentstxt.Options{Foreign: agentstxt.ForeignIgnore}).Foreign == agentstxt.ForeignRestrict
		}},
		"robots": {body: `,"agentsTxt":{"robotsToken":"ExampleBot"}`, says: `robots.txt is obeyed under the name "ExampleBot".`, check: func(p *policy.Policy) bool {
			o := p.AgentsTxt(agentstxt.Options{Foreign: agentstxt.ForeignIgnore})
			return strings.Join(o.Robots.Tokens, " ") == "ExampleBot" && o.Foreign == agentstxt.ForeignIgnore && !o.RefuseHTTP
		}},
		"refuse-http": {body: `,"agentsTxt":{"refuseHttp":true}`, says: "Sites without TLS are not visited.", check: func(p *policy.Policy) bool {
			return p.AgentsTxt(agentstxt.Options{}).RefuseHTTP
		}},
		"do-not-refuse-http": {body: `,"agentsTxt":{"refuseHttp":false}`, check: func(p *policy.Policy) bool {
			return !p.AgentsTxt(agentstxt.Options{}).RefuseHTTP && p.AgentsTxt(agentstxt.Options{RefuseHTTP: true}).RefuseHTTP
		}},
		"trust-signed": {body: `,"anmlTrust":{"requireSecure":true}`, says: "ANML servers are trusted only by signed DNS.", check: func(p *policy.Policy) bool {
			return p.Trust(anmltrust.Rules{}).RequireDNSSECForQuery
		}},
		"tier": {body: `,"anmlTrust":{"minTier":"full"}`, says: `for less than the tier "full" are refused`, check: func(p *policy.Policy) bool {
			return p.Trust(anmltrust.Rules{}).MinTier == anmltrust.Full && !p.Trust(anmltrust.Rules{}).RequireDNSSECForQuery
		}},
		"lowest-tier": {body: `,"anmlTrust":{"minTier":"display"}`, says: `for less than the tier "display" are refused`},
		"binding": {body: `,"aiuri":{"requireBinding":true}`, says: "must be signed and prove which call they answer", check: func(p *policy.Policy) bool {
			o := p.Endpoints(aiuri.ClientOptions{Credentials: []string{"bank.example"}})
			return o.Expect.RequireBinding && o.Permit == nil && len(o.Credentials) == 1
		}},
		"authorities": {body: `,"aiuri":{"authorities":["bank.example"]}`, says: `Only these AI authorities are called: ["bank.example"].`, check: func(p *policy.Policy) bool {
			return p.Endpoints(aiuri.ClientOptions{}).Permit != nil
		}},
		"credentials": {body: `,"aiuri":{"credentials":["bank.example"]}`, says: `Only these AI authorities may get credentials: ["bank.example"].`, check: func(p *policy.Policy) bool {
			return slices.Equal(p.Endpoints(aiuri.ClientOptions{Credentials: []string{"a.example", "bank.example", "c.example"}}).Credentials, []string{"bank.example"})
		}},
		"never-told": {body: `,"agent":{"neverTell":["ssn"]}`, says: `These fields of the user are never told to anyone: ["ssn"].`},
	} {
		t.Run("accept-"+name, func(t *testing.T) {
			p, err := policy.Parse("file.json", []byte(head+c.body+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if c.want.Name == "" {
				c.want.Name = "file.json"
			}
			if got := p.Skills(dvs.Options{}).Policies; len(got) != 1 || !reflect.DeepEqual(*got[0], c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if c.check != nil && !c.check(p) {
				t.Error("the member has no effect, or another one")
			}
			said := strings.Join(p.Explain()[0].Sentences, "\n")
			if !strings.Contains(said, c.says) {
				t.Errorf("%q is not in\n%s", c.says, said)
			}
			least, _ := policy.Parse("file.json", []byte(head+`}`))
			if got, want := least.Explain()[0].Sentences, (&dvs.Policy{Name: "file.json"}).Sentences(); !slices.Equal(got, want) {
				t.Errorf("a policy without members says %q, want %q", got, want)
			}
		})
	}
}

// TestParseKinds writes values of another kind or out of range. The first error is the one that is
// reported.
func TestParseKinds(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"name-is-a-number":       {`,"name":5`, "/name: a string is expected, found a number"},
		"name-is-blank":          {`,"name":" "`, "/name: the text is empty"},
		"type-is-a-number":       {`,"$schema":5`, "/$schema: a string is expected, found a number"},
		"extends-a-number":       {`,"extends":[5]`, "/extends/0: a string is expected, found a number"},
		"flag-is-a-number":       {`,"skills":{"requireSecure":1}`, "/skills/requireSecure: a boolean is expected, found a number"},
		"negated-flag-is-a-text": {`,"skills":{"discovery":"no"}`, "/skills/discovery: a boolean is expected, found a string"},
		"days-is-a-text":         {`,"skills":{"maxTrustDays":"30"}`, "/skills/maxTrustDays: a number is expected, found a string"},
		"days-too-many":          {`,"skills":{"maxTrustDays":3651}`, "the number is out of range"},
		"hours-too-many":         {`,"skills":{"feeds":[{"url":"https://example.com/w.json","staleHours":721}]}`, "write a number from 1 to 720"},
		"hours-negative":         {`,"skills":{"feeds":[{"url":"https://example.com/w.json","staleHours":-1}]}`, "the number is out of range"},
		"word-is-a-number":       {`,"skills":{"register":1}`, "/skills/register: a string is expected, found a number"},
		"profile-is-unknown":     {`,"skills":{"profile":"loose"}`, "/skills/profile"},
		"tier-is-a-number":       {`,"anmlTrust":{"minTier":2}`, "/anmlTrust/minTier: a string is expected, found a number"},
		"feed-without-url":       {`,"skills":{"feeds":[{"staleHours":1}]}`, "the feed has no URL"},
		"foreign-is-a-number":    {`,"agentsTxt":{"foreign":1}`, "/agentsTxt/foreign: a string is expected, found a number"},
		"never-tell-is-a-text":   {`,"agent":{"neverTell":"ssn"}`, "/agent/neverTell: an array is expected, found a string"},
		"first-of-two":           {`,"name":5,"agent":7`, "/name: a string is expected"},
		"first-of-two-in-a-list": {`,"skills":{"deny":[5,"https://a.example/*"]}`, "/skills/deny/0: a string is expected"},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			p, err := policy.Parse("file.json", []byte(head+c.body+`}`))
			var e *lookleap.Error
			if !errors.As(err, &e) || e.Code != dvs.CodePolicyUnreadable {
				t.Fatalf("got %v", err)
			}
			if got := e.Position.Path + ": " + e.Message + "; " + e.Fix; !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if p.Check("https://example.com/s/SKILL.md") == nil {
				t.Error("a policy that cannot be read allows something")
			}
		})
	}
	t.Run("reject-with-the-fix-of-the-rule", func(t *testing.T) {
		_, rule := dvs.ParseTrustRoot("https://github.com/", dvs.Rules{})
		_, err := policy.Parse("file.json", []byte(head+`,"skills":{"allow":["https://github.com/"]}}`))
		var want, got *lookleap.Error
		if !errors.As(rule, &want) || !errors.As(err, &got) || got.Message != want.Message || got.Fix != want.Fix {
			t.Errorf("got %v, want %v", err, rule)
		}
	})
}

// TestLoadFiles reads many files, one twice, and files that need a hint.
func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	chain := func(n int) string {
		for i := range n {
			next := ""
			if i+1 < n {
				next = fmt.Sprintf(`,"extends":["%d-%d.json"]`, n, i+1)
			}
			writeIn(t, dir, fmt.Sprintf("%d-%d.json", n, i), head+next+`}`)
		}
		return filepath.Join(dir, fmt.Sprintf("%d-0.json", n))
	}
	base := writeIn(t, dir, "base.json", strict)
	for name, c := range map[string]struct {
		paths []string
		files int    // of the policy; 0: an error
		fix   string // of the error
	}{
		"accept-twice":     {paths: []string{base, base}, files: 1},
		"accept-32-files":  {paths: []string{chain(32)}, files: 32},
		"reject-33-files":  {paths: []string{chain(33)}, fix: "use at most 32"},
		"reject-missing":   {paths: []string{filepath.Join(dir, "none.json")}, fix: "check the path, or create the file"},
		"reject-too-large": {paths: []string{writeIn(t, dir, "large.json", strings.Repeat(" ", 1<<20+1))}, fix: "use at most 1 MiB, and several files if needed"},
		"reject-directory": {paths: []string{dir}, fix: "write the policy to a file, and name that file"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load(c.paths...)
			var e *lookleap.Error
			switch {
			case c.files > 0 && (err != nil || len(p.Explain()) != c.files):
				t.Errorf("%d files, %v", len(p.Explain()), err)
			case c.files == 0 && (!errors.As(err, &e) || e.Fix != c.fix || !errors.Is(p.Err(), err)):
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNext has what a program or user decides besides the policy.
func TestNext(t *testing.T) {
	p, err := policy.Parse("p", []byte(head+`,"aiuri":{"authorities":["bank.example"]},"agent":{"neverTell":["ssn"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	own := errors.New("the program says no")
	t.Run("reject-endpoint-by-the-program", func(t *testing.T) {
		u, err := aiuri.Parse("ai://bank.example/")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Endpoints(aiuri.ClientOptions{}).Permit(u); err != nil {
			t.Error(err)
		}
		if err := p.Endpoints(aiuri.ClientOptions{Permit: func(aiuri.URI) error { return own }}).Permit(u); !errors.Is(err, own) {
			t.Error(err)
		}
	})
	t.Run("reject-field-by-the-user", func(t *testing.T) {
		user := &agent.UserPolicy{Veto: func(context.Context, agent.Decision) error { return own }}
		if err := p.Agent(user); err != nil {
			t.Fatal(err)
		}
		if err := user.Veto(t.Context(), agent.Decision{Field: "email"}); !errors.Is(err, own) {
			t.Error(err)
		}
	})
	t.Run("reject-url", func(t *testing.T) {
		if err := p.Check("http://example.com/s/SKILL.md"); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Error(err)
		}
	})
	t.Run("reject-feed-with-keys-that-are-no-keys", func(t *testing.T) {
		_, want := aiuri.ParseKeySet([]byte(`{}`))
		if got, err := (policy.Feed{Keys: []byte(`{}`)}).Verify([]byte("x"), func(string) bool { return false }); got != nil || err == nil || err.Error() != want.Error() {
			t.Error(got, err, want)
		}
	})
}
