package agentstxt

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestPermits orders what rules permit: of several readings of a path the one counts that
// permits least.
func TestPermits(t *testing.T) {
	p := mustParse(t, Options{}, "/0 DISALLOW", "/1 ALLOW limit=x", "/3 ALLOW limit=1", "/4 ALLOW limit=2", "/5 ALLOW")
	at := func(path string) *rule { return p.rules.longestPrefix([]byte(path)) }
	got := []int{p.permits(at("/0")), p.permits(at("/1")), p.permits(nil), p.permits(at("/3")), p.permits(at("/4")), p.permits(at("/5"))}
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || got[0] != 0 {
		t.Errorf("%v is not in order", got)
	}
	open := mustParse(t, Options{Unlisted: UnlistedAllow}, "/5 ALLOW")
	if open.permits(nil) != p.permits(at("/5")) {
		t.Error("a path that is not listed permits less than one that is allowed")
	}
	if i := at("/0"); covers(i, []byte("/0")) || covers(nil, []byte("/0")) || !covers(at("/5"), []byte("/5")) {
		t.Error("only an ALLOW line covers a path")
	}
}

// TestStrictestReading: an ALLOW line that spells a path out lifts no DISALLOW line of another
// reading of it, and the decision says which line it was.
func TestStrictestReading(t *testing.T) {
	open := Options{Unlisted: UnlistedAllow}
	for _, c := range []struct {
		name    string
		options Options
		lines   []string
		path    string
		allowed bool
		line    int
	}{
		{"reject-disallowed-reading", Options{}, []string{"/a//b ALLOW", "/a/b DISALLOW"}, "/a//b", false, 3},
		{"reject-disallowed-reading-before", Options{}, []string{"/a/b DISALLOW", "/a//b ALLOW"}, "/a//b", false, 2},
		{"reject-reading-without-its-last-dot", Options{}, []string{"/a DISALLOW", "/a. ALLOW"}, "/a.", false, 2},
		{"reject-by-the-line-of-the-path-as-written", Options{}, []string{"/a/b DISALLOW", "/a//b DISALLOW"}, "/a//b", false, 3},
		{"accept-spelled-out", Options{}, []string{"/a//b ALLOW"}, "/a//b", true, 2},
		{"reject-not-spelled-out", Options{}, []string{"/a/ ALLOW"}, "/x/..//a/b", false, 0},
		{"accept-unlisted-readings", open, []string{"/a//b ALLOW"}, "/a//b", true, 2},
		{"accept-line-where-nothing-is-denied", open, []string{"/a ALLOW"}, "/%61", true, 2},
		{"accept-ambiguous-where-nothing-is-denied", open, []string{"/a ALLOW"}, "/a//b;c", true, 2},
	} {
		t.Run("AGT-6-12/"+c.name, func(t *testing.T) {
			d := mustParse(t, c.options, c.lines...).Decide(c.path)
			if d.Allowed != c.allowed || d.Line != c.line {
				t.Errorf("%+v; want %v by line %d", d, c.allowed, c.line)
			}
		})
	}
}

// TestRobotsEffort: a file whose rules are too many for a long path denies it, and one without
// Disallow lines denies no path at all.
func TestRobotsEffort(t *testing.T) {
	path := "/" + strings.Repeat("ab", 30_000) + "aa"
	rules := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("Disallow: /*" + strings.Repeat("ab", i+1) + "$\n")
		}
		return b.String()
	}
	many := maxRobotsEffort/len(path) + 2
	for _, c := range []struct {
		name, file, path string
		allowed          bool
		code             lookleap.Code
	}{
		{"accept-few-rules", rules(3), path, true, CodeUnlisted},
		{"reject-many-rules", rules(many), path, false, lookleap.CodeURLTooLong},
		{"reject-many-rules-and-allow", rules(many) + "Allow: /*aa\n", path, false, lookleap.CodeURLTooLong},
		{"reject-many-allow-rules", "Disallow: /a\n" + strings.ReplaceAll(rules(many), "Disallow", "Allow"), path, false, lookleap.CodeURLTooLong},
		{"accept-many-rules-short-path", rules(many), "/ba", true, CodeUnlisted},
		{"accept-many-rules-without-wildcards", strings.NewReplacer("*", "", "$", "aab").Replace(rules(many)), path, true, CodeUnlisted},
		{"accept-long-path-without-rules", "Allow: /\n", strings.Repeat(path, 2), true, CodeUnlisted},
	} {
		t.Run("AGT-1-01/"+c.name, func(t *testing.T) {
			d := ParseRobots([]byte("User-agent: *\n"+c.file), "ExampleBot").Decide(c.path)
			if d.Allowed != c.allowed || d.Code != c.code {
				t.Errorf("%v, %s; want %v, %s", d.Allowed, d.Code, c.allowed, c.code)
			}
		})
	}
	// 512 rules of three bytes and a path of 32765 bytes are exactly the limit.
	exact := "/" + strings.Repeat("b", maxRobotsEffort/512-len("/*a")-1)
	pattern := func(verb string, n int) string { return strings.Repeat(verb+": /*a$\n", n) }
	for _, c := range []struct {
		name, file string
		allowed    bool
		code       lookleap.Code
	}{
		{"accept-at-the-limit", pattern("Disallow", 512), true, CodeUnlisted},
		{"reject-above-the-limit", pattern("Disallow", 513), false, lookleap.CodeURLTooLong},
		{"reject-by-rule-at-the-limit", "Disallow: /b\n" + pattern("Allow", 512), false, CodeRobotsDisallowed},
		{"reject-allow-rules-above-the-limit", "Disallow: /b\n" + pattern("Allow", 513), false, lookleap.CodeURLTooLong},
	} {
		t.Run("AGT-1-01/"+c.name, func(t *testing.T) {
			if d := ParseRobots([]byte("User-agent: *\n"+c.file), "ExampleBot").Decide(exact); d.Allowed != c.allowed || d.Code != c.code {
				t.Errorf("%v, %s; want %v, %s", d.Allowed, d.Code, c.allowed, c.code)
			}
		})
	}
}

// TestUsageStatements: each category counts for itself, and what is not understood states nothing.
func TestUsageStatements(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"search=y", "search=yes"}, {"ai-input=n", "ai-input=no"}, {"train-ai=y", "ai-train=yes"}, {"bots=n", "bots=no"},
		{"a_b=y", "a_b=yes"}, {"a.b=y", "a.b=yes"}, {"a-b=y", "a-b=yes"}, {"a+b=y", ""}, {"bots=maybe", ""}, {"bots", ""}, {"=y", ""},
		{strings.Repeat("a", 64) + "=y", strings.Repeat("a", 64) + "=yes"}, {strings.Repeat("a", 65) + "=y", ""},
		{"search=y, ai-input=n, bots=y, a=n", "search=yes, ai-input=no, a=no, bots=yes"},
	} {
		u := ParseContentUsage(http.Header{"Content-Usage": {c.value}})
		if u.String() != c.want || u.IsZero() != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.value, u, c.want)
		}
	}
	stated := func(value string) Usage { return ParseContentUsage(http.Header{"Content-Usage": {value}}) }
	if u := stated("a=y, b=n, search=n").Strictest(stated("a=n, b=y, c=y, search=y")); u.String() != "search=no, a=no, b=no, c=yes" {
		t.Errorf("the strictest is %s", u)
	}
	var many []string
	for i := range maxCategories + 1 {
		many = append(many, "x"+string(rune('a'+i))+"=y")
	}
	if u := stated(strings.Join(many, ",") + ",xa=n"); len(u.Other) != maxCategories || u.Of("xa") != No || u.Of("x"+string(rune('a'+maxCategories))) != Unstated {
		t.Errorf("%d categories, %s", len(u.Other), u)
	}
	f := ParseRobots([]byte("User-agent: *\nContent-Usage: /ab/ search=n\nContent-Usage: /q\nContent-Signal: ai-train=yes\n"), "ExampleBot")
	for path, want := range map[string]string{"/ab/c": "search=no", "/b/ab/": "ai-train=yes", "/q": "ai-train=yes"} {
		if got := f.Usage(path).String(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestTexts: words for states and actions are read as they were written, and others are refused.
func TestTexts(t *testing.T) {
	for _, s := range []State{Restricted, Absent, Valid} {
		var got State
		if err := got.UnmarshalText([]byte(s.String())); err != nil || got != s {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	for _, a := range []Action{Disallow, Allow} {
		var got Action
		if err := got.UnmarshalText([]byte(a.String())); err != nil || got != a {
			t.Errorf("%s: %s, %v", a, got, err)
		}
	}
	state, action := Valid, Allow
	if state.UnmarshalText([]byte("VALID")) == nil || action.UnmarshalText([]byte("allow")) == nil || state != Valid || action != Allow {
		t.Error("another word is read")
	}
	good, err := json.Marshal(mustParse(t, Options{}, "/a ALLOW"))
	if err != nil || strings.Contains(string(good), `"error"`) {
		t.Errorf("%s, %v", good, err)
	}
	if r := restricted(&lookleap.Error{Code: codeBadDirective, Err: ErrMalformed}).Report(); r.Error == "" || r.Reason != codeBadDirective {
		t.Errorf("the report of a malformed file says nothing: %+v", r)
	}
}
