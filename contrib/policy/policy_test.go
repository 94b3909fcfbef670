package policy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

const head = `{"type":"` + policy.MediaType + `"`

// TestParse has one file for each rule of the format.
func TestParse(t *testing.T) {
	digest := dvs.DigestOf([]byte("x")).String()
	for name, c := range map[string]struct {
		text string
		want string // "": accepted; otherwise part of the error
	}{
		"least":      {head + `}`, ""},
		"all":        {head + `,"name":"Example Corp","$schema":"x","skills":{"allow":["https://example.com/"],"deny":["evil.example","https://github.com/evil/"],"pins":[{"skill":"https://example.com/s/SKILL.md","digest":"` + digest + `","root":"https://example.com/"}],"pinnedOnly":true,"register":"program","profile":"agentskills","scripts":false,"discovery":false,"requireSecure":true,"maxTrustDays":30,"feeds":[{"url":"https://example.com/w.json","staleHours":24}]},"agentsTxt":{"foreign":"restrict","robotsToken":"ExampleBot","refuseHttp":true},"anmlTrust":{"requireSecure":true,"minTier":"full"},"aiuri":{"requireBinding":true,"authorities":["bank.example","*.shop.example"],"credentials":["bank.example"]},"agent":{"neverTell":["ssn"]}}`, ""},
		"no-type":    {`{}`, `1:1: the policy has no type`},
		"newer":      {`{"type":"application/vnd.lookleap.policy+json;version=2"}`, "and this program reads"},
		"empty-file": {``, "the text has no value"},
		"duplicate":  {head + `,"skills":{"deny":[],"deny":["a.example"]}}`, `two members with the name "deny"`},
		"unknown":    {head + "," + "\n" + ` "skill":{}}`, `did you mean "skills"?`},
		"unknown-2":  {head + `,"skills":{"dney":["a.example"]}}`, `did you mean "deny"?`},
		"unknown-3":  {head + `,"skills":{"allowScripts":true}}`, `a policy has no member "allowScripts" here`},
		"far":        {head + `,"zzzzzzzz":1}`, `remove it; the members here are`},
		"kind":       {head + `,"skills":{"deny":"a.example"}}`, "an array is expected, found a string"},
		"kind-2":     {head + `,"skills":{"scripts":"no"}}`, "a boolean is expected, found a string"},
		"bad-allow":  {head + `,"skills":{"allow":["http://example.com/"]}}`, "begins with https://"},
		"bare-root":  {head + `,"skills":{"allow":["https://github.com/"]}}`, "/skills/allow/0"},
		"bad-deny":   {head + `,"skills":{"deny":["https://a.example/*"]}}`, "/skills/deny/0"},
		"platform":   {head + `,"skills":{"deny":["https://github.com/"]}}`, "/skills/deny/0"},
		"no-digest":  {head + `,"skills":{"pins":[{"skill":"https://example.com/s/SKILL.md"}]}}`, "/skills/pins/0"},
		"pin-root":   {head + `,"skills":{"pins":[{"skill":"https://example.com/s/SKILL.md","digest":"` + digest + `","root":"https://other.example/"}]}}`, "/skills/pins/0"},
		"days":       {head + `,"skills":{"maxTrustDays":0}}`, "write a number from 1 to 3650"},
		"register":   {head + `,"skills":{"register":"model"}}`, "use one of user, program, policy"},
		"looser":     {head + `,"agentsTxt":{"foreign":"ignore"}}`, "can only make agents.txt stricter"},
		"feed-http":  {head + `,"skills":{"feeds":[{"url":"http://example.com/w.json"}]}}`, "begins with https://"},
		"feed-keys":  {head + `,"skills":{"feeds":[{"url":"https://example.com/w.json","keys":{}}]}}`, "/skills/feeds/0/keys"},
		"extends":    {head + `,"extends":["other.json"]}`, "read it with Load"},
		"tier":       {head + `,"anmlTrust":{"minTier":"unlisted"}}`, "use one of display, full, self"},
		"authority":  {head + `,"aiuri":{"authorities":["https://bank.example/"]}}`, "/aiuri/authorities/0"},
		"trailing":   {head + `} x`, "something follows the value"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Parse("file.json", []byte(c.text))
			if c.want == "" {
				if err != nil || p.Err() != nil {
					t.Fatal(err)
				}
				return
			}
			var e *lookleap.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Position.Line == 0 && name != "extends" {
				t.Fatalf("got %v (line %d)", err, e.Position.Line)
			}
			if p == nil || p.Check("https://example.com/s/SKILL.md") == nil {
				t.Error("a policy that cannot be read allows something")
			}
		})
	}
}

// strict denies one publisher.
const strict = head + `,"skills":{"deny":["evil.example"]}}`

// writeIn writes a file and returns its path.
func writeIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLoad reads files that extend one another.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return writeIn(t, dir, name, text) }
	const skill = "https://example.com/s/SKILL.md"
	base := write("base.json", strict)
	team := write("team.json", head+`,"extends":["base.json"],"skills":{"allow":["https://example.com/","https://evil.example/"]}}`)
	cycle := write("cycle.json", head+`,"extends":["cycle2.json"]}`)
	write("cycle2.json", head+`,"extends":["./cycle.json"]}`)
	for name, c := range map[string]struct {
		paths  []string
		denied string // this is refused
		want   string // of the error
	}{
		"one":        {paths: []string{base}, denied: "https://evil.example/s/SKILL.md"},
		"extended":   {paths: []string{team}, denied: "https://evil.example/s/SKILL.md"},
		"stricter":   {paths: []string{base, team}, denied: "https://other.example/s/SKILL.md"},
		"cycle":      {paths: []string{cycle}, denied: skill, want: "extends itself"},
		"itself":     {paths: []string{write("self.json", head+`,"extends":["self.json"]}`)}, denied: skill, want: "extends itself"},
		"missing":    {paths: []string{filepath.Join(dir, "none.json")}, denied: skill, want: "cannot be read"},
		"missing-2":  {paths: []string{write("m.json", head+`,"extends":["none.json"]}`)}, denied: skill, want: "cannot be read"},
		"directory":  {paths: []string{dir}, denied: skill, want: "not a regular file"},
		"device":     {paths: []string{os.DevNull}, denied: skill, want: "not a regular file"},
		"one-is-bad": {paths: []string{base, write("bad.json", "{")}, denied: skill, want: "the text ends"},
		"none":       {denied: skill, want: "no policy file is named"},

		"byte-order-mark":          {paths: []string{write("bom.json", "\uFEFF"+strict)}, denied: skill, want: "byte order mark"},
		"utf-16":                   {paths: []string{write("utf16.json", "\xff\xfe"+strings.Join(strings.Split(strict, ""), "\x00"))}, denied: skill, want: "1:1"},
		"empty-file":               {paths: []string{write("empty.json", "")}, denied: skill, want: "no value"},
		"null":                     {paths: []string{write("null.json", "null")}, denied: skill, want: "an object is expected"},
		"null-member":              {paths: []string{write("nullmember.json", head+`,"skills":null}`)}, denied: skill, want: "an object is expected"},
		"null-deny":                {paths: []string{write("nulldeny.json", head+`,"skills":{"deny":null}}`)}, denied: skill, want: "an array is expected"},
		"huge":                     {paths: []string{write("huge.json", strict+strings.Repeat(" ", 1<<20))}, denied: skill, want: "too large"},
		"comment":                  {paths: []string{write("comment.json", "// no\n"+strict)}, denied: skill, want: "1:1"},
		"duplicate-member":         {paths: []string{write("twice.json", head+`,"skills":{"deny":["evil.example"]},"skills":{}}`)}, denied: skill, want: "two members"},
		"duplicate-escaped-member": {paths: []string{write("escaped.json", head+`,"skills":{"deny":["evil.example"],"d\u0065ny":[]}}`)}, denied: skill, want: "two members"},
		"member-in-other-case":     {paths: []string{write("case.json", head+`,"skills":{"deny":["evil.example"],"Deny":[]}}`)}, denied: skill, want: `did you mean "deny"?`},
		"url-for-a-path":           {paths: []string{"https://example.com/policy.json"}, denied: skill, want: "cannot be read"},
		"looser-extends-stricter":  {paths: []string{write("looser.json", head+`,"extends":["base.json"],"skills":{"allow":["https://evil.example/","https://example.com/"]}}`)}, denied: "https://evil.example/s/SKILL.md"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load(c.paths...)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatal(err)
			}
			if p.Check(c.denied) == nil {
				t.Error("allowed:", c.denied)
			}
			if err == nil && p.Check(skill) != nil {
				t.Error(p.Check(skill))
			}
		})
	}
	for name, change := range map[string]func(path string) error{
		"removed-while-running":  os.Remove,
		"replaced-while-running": func(path string) error { return os.WriteFile(path, []byte(head+`}`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := write(name+".json", strict)
			p, err := policy.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			loader := dvs.NewLoader(&lookleap.Host{}, p.Skills(dvs.Options{}))
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if _, err := loader.Load(t.Context(), "https://evil.example/s/SKILL.md"); lookleap.CodeOf(err) != dvs.CodePolicyDenied || p.Check("https://evil.example/s/SKILL.md") == nil {
				t.Error(err)
			}
		})
	}
}

// TestLoadLinked reads policies through symbolic links, some of which a user made to get round them.
func TestLoadLinked(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"admin", "user"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(filepath.Join(dir, target), path); err != nil {
			t.Skip("symbolic links cannot be made here:", err)
		}
		return path
	}
	writeIn(t, dir, "admin/base.json", strict)
	writeIn(t, dir, "admin/team.json", head+`,"extends":["base.json"]}`)
	writeIn(t, dir, "admin/around.json", head+`,"extends":["again.json"]}`)
	link("admin/around.json", "admin/again.json")
	writeIn(t, dir, "user/base.json", head+`}`) // permits everything
	for name, c := range map[string]struct {
		path string
		want string // of the error
	}{
		"one-file":              {path: link("admin/base.json", "user/one.json")},
		"next-to-a-looser-base": {path: link("admin/team.json", "user/team.json")},
		"directory":             {path: filepath.Join(link("admin", "user/linked"), "team.json")},
		"to-itself":             {link("user/loop.json", "user/loop.json"), "cannot be read"},
		"to-nothing":            {link("admin/none.json", "user/none.json"), "cannot be read"},
		"cycle":                 {filepath.Join(dir, "admin", "around.json"), "extends itself"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load(c.path)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
			if p.Check("https://evil.example/s/SKILL.md") == nil || err == nil && p.Check("https://example.com/s/SKILL.md") != nil {
				t.Error("the link changes what the policy says")
			}
		})
	}
}

// TestFailsClosed uses policies that could not be read as a program would that ignores the error.
func TestFailsClosed(t *testing.T) {
	bad, _ := policy.Load("none.json")
	for name, p := range map[string]*policy.Policy{"nil": nil, "zero": new(policy.Policy), "unreadable": bad} {
		t.Run(name, func(t *testing.T) {
			loader := dvs.NewLoader(&lookleap.Host{}, p.Skills(dvs.Options{}))
			if _, err := loader.Load(t.Context(), "https://example.com/s/SKILL.md"); lookleap.CodeOf(err) != dvs.CodePolicyUnreadable {
				t.Error(err)
			}
			user := new(agent.UserPolicy)
			if err := p.Agent(user); err != nil || user.Veto(t.Context(), agent.Decision{Field: "email"}) == nil {
				t.Error("a field is told", err)
			}
			if o := p.AgentsTxt(agentstxt.Options{Foreign: agentstxt.ForeignIgnore}); o.Foreign != agentstxt.ForeignRestrict || !o.RefuseHTTP {
				t.Errorf("%+v", o)
			}
			if !p.Trust(anmltrust.Rules{}).RequireDNSSECForQuery || p.Endpoints(aiuri.ClientOptions{Credentials: []string{"bank.example"}}).Credentials != nil {
				t.Error("it trusts, or sends credentials")
			}
			if p.Err() == nil || len(p.Explain()) != 1 || p.Name() == "x" || p.Feeds() != nil {
				t.Error("it does not say why")
			}
		})
	}
}

// TestStricter applies a policy to options that are stricter and looser than it.
func TestStricter(t *testing.T) {
	p, err := policy.Parse("p", []byte(head+`,"agentsTxt":{"foreign":"restrict","robotsToken":"ExampleBot"},"aiuri":{"credentials":["bank.example"]},"agent":{"neverTell":["ssn"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if o := p.AgentsTxt(agentstxt.Options{Foreign: agentstxt.ForeignIgnore, RefuseHTTP: true}); o.Foreign != agentstxt.ForeignRestrict || !o.RefuseHTTP || strings.Join(o.Robots.Tokens, " ") != "ExampleBot" {
		t.Errorf("%+v", o)
	}
	if o := p.Endpoints(aiuri.ClientOptions{Credentials: []string{"bank.example", "shop.example"}, Expect: aiuri.Expectation{RequireBinding: true}}); len(o.Credentials) != 1 || !o.Expect.RequireBinding {
		t.Errorf("%+v", o)
	}
	if !p.Trust(anmltrust.Rules{RequireDNSSECForQuery: true}).RequireDNSSECForQuery {
		t.Error("a policy loosened a program's choice")
	}
	called := false
	user := &agent.UserPolicy{Veto: func(context.Context, agent.Decision) error { called = true; return nil }}
	if err := p.Agent(user); err != nil {
		t.Fatal(err)
	}
	if err := user.Set(agent.StandingRule{Field: "ssn", Domain: "*", Effect: agent.EffectAllow}); err != nil { // the user tries
		t.Fatal(err)
	}
	for _, field := range []string{"ssn", "SSN", "s-s-n", "S.S.N"} {
		if err := user.Veto(t.Context(), agent.Decision{Field: field}); lookleap.CodeOf(err) != dvs.CodePolicyDenied || called {
			t.Error(field, err)
		}
	}
	if err := user.Veto(t.Context(), agent.Decision{Field: "email"}); err != nil || !called {
		t.Error(err)
	}
}

// TestAgent: fields that are never told are denied by a rule and by a veto, where the user has none, too.
func TestAgent(t *testing.T) {
	p, err := policy.Parse("p", []byte(head+`,"agent":{"neverTell":["card2"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	user := new(agent.UserPolicy)
	if err := p.Agent(user); err != nil {
		t.Fatal(err)
	}
	if rules := user.Rules(); len(rules) != 1 || rules[0].Field != "card2" || rules[0].Domain != "*" || rules[0].Effect != agent.EffectDeny {
		t.Errorf("%+v", rules)
	}
	for field, told := range map[string]bool{"card2": false, "Card-2": false, "card": true, "card3": true, "email": true} {
		if err := user.Veto(t.Context(), agent.Decision{Field: field}); (err == nil) != told {
			t.Errorf("%s: %v", field, err)
		}
	}
	full := make([]agent.StandingRule, 10_000) // a user has no more rules
	for i := range full {
		full[i] = agent.StandingRule{Field: fmt.Sprint("field", i), Domain: "*", Effect: agent.EffectAllow}
	}
	user = new(agent.UserPolicy)
	if err := user.Set(full...); err != nil {
		t.Fatal(err)
	}
	if err := p.Agent(user); err == nil || len(user.Rules()) != len(full) {
		t.Errorf("error %v with %d rules", err, len(user.Rules()))
	}
}

// TestOptionsOfTheCaller: a policy neither changes the caller's lists nor drops its robots.txt name.
func TestOptionsOfTheCaller(t *testing.T) {
	p, err := policy.Parse("p", []byte(head+`,"skills":{"feeds":[{"url":"https://example.com/w.json"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*policy.Policy{p, nil} {
		policies, feeds := make([]*dvs.Policy, 1), make([]dvs.FeedOptions, 1)
		p.Skills(dvs.Options{Policies: policies[:0], Feeds: feeds[:0]})
		if policies[0] != nil || feeds[0].URL != "" {
			t.Errorf("%v, %+v", policies[0], feeds[0])
		}
	}
	if o := p.AgentsTxt(agentstxt.Options{Robots: agentstxt.Robots{Tokens: []string{"OwnBot"}}}); strings.Join(o.Robots.Tokens, " ") != "OwnBot" {
		t.Errorf("%+v", o)
	}
	if !new(policy.Policy).Endpoints(aiuri.ClientOptions{}).Expect.RequireBinding {
		t.Error("without a policy results need not prove which call they answer")
	}
}

// TestSignedFeed verifies a feed with the keys of the policy.
func TestSignedFeed(t *testing.T) {
	key := func(id string) (aiuri.SigningKey, string) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		k := aiuri.SigningKey{ID: id, Private: private}
		ring, err := aiuri.NewKeyRing(k, aiuri.KeyRingOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return k, string(ring.JWKS())
	}
	ours, keys := key("a")
	other, _ := key("a")
	p, err := policy.Parse("p", []byte(head+`,"skills":{"feeds":[{"url":"https://example.com/w.json","keys":`+keys+`}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	verify := p.Skills(dvs.Options{}).Feeds[0].Verify
	sign := func(k aiuri.SigningKey) []byte {
		r, err := aiuri.SignResult([]byte(`{"sequence":1}`), k, aiuri.SignOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return []byte(r.JWS + "\n")
	}
	none, all := func(string) bool { return false }, func(kid string) bool { return kid == "a" }
	if got, err := verify(sign(ours), none); err != nil || string(got) != `{"sequence":1}` {
		t.Errorf("%q %v", got, err)
	}
	for name, c := range map[string]struct {
		data      []byte
		withdrawn func(string) bool
	}{"another-key": {sign(other), none}, "withdrawn-key": {sign(ours), all}, "unsigned": {[]byte(`{"sequence":1}`), none}, "empty": {nil, none}} {
		if got, err := verify(c.data, c.withdrawn); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if f := p.Feeds(); len(f) != 1 || f[0].Stale != 0*time.Hour || !strings.Contains(strings.Join(p.Explain()[0].Sentences, "\n"), "signed with a key of this policy") {
		t.Error(p.Explain())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + `,"skills":{"allow":["https://example.com/"],"maxTrustDays":3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.Parse("p", data)
		if (err == nil) != (p.Err() == nil) || len(p.Explain()) == 0 {
			t.Fatal(err, p.Err())
		}
	})
}
