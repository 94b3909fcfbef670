package agentstxt

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/lookleap/lookleap"
)

var fuzzSeeds = []string{
	"", vectorFile, "\ufeff# version: 1.0\r\n" + vectorFile, signed("/a ALLOW limit=0", "/a DISALLOW", "//b DISALLOW"), "<html>", "{}",
	signed("/*.pdf$ DISALLOW", "/caf%c3%a9 ALLOW a=b"), "Protocols: x\n", hashOf("") + "\n", vector + " \\\n/a ALLOW", signed("/a MAYBE"), "/a ALLOW\n",
}

// FuzzParse: bytes are a valid file or an error with a code, and never
// permission by accident.
func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add([]byte(seed), "/a", false)
		f.Add([]byte(seed), "/admin/%2e%2e/x;y", true)
	}
	f.Fuzz(func(t *testing.T, data []byte, path string, strict bool) {
		o := Options{Strict: strict}
		p, err := Parse(data, o)
		if err != nil {
			var bad *lookleap.Error
			if p != nil || !errors.As(err, &bad) || !bad.Code.Known() || bad.Message == "" || bad.Position.Offset > len(data) {
				t.Fatalf("%v, %+v", p, err)
			}
			if d := p.Decide(path); d.Allowed && d.Code != codePolicyFile {
				t.Fatalf("a malformed file allows %q", path)
			}
		} else if p.State() != Valid || bytes.Count(data, []byte("*")) == 0 {
			t.Fatal("valid without a hash line")
		} else {
			again, err := Parse(data, o)
			if err != nil || again.Decide(path) != p.Decide(path) {
				t.Fatal("two readings of one file differ")
			}
			var directives []Directive
			for d := range p.Directives() {
				directives = append(directives, d)
			}
			if len(directives) != p.Len() {
				t.Fatalf("%d directives of %d", len(directives), p.Len())
			}
			written, err := Format(directives, nil)
			if err != nil {
				t.Fatal(err)
			}
			same, err := Parse(written, o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := p.Decide(path), same.Decide(path); a.Allowed != b.Allowed || a.Code != b.Code || a.Limit != b.Limit || a.Rule != b.Rule {
				t.Fatalf("written again, %v became %v", a, b)
			}
		}
		served := Judge(Response{Status: 200, ContentType: "text/plain", Body: data}, o)
		if d := served.Decide(path); d.Allowed && served.State() == Restricted && d.Code != codePolicyFile {
			t.Fatal("a restricted origin allows")
		}
		if signed, err := Sign(data); err == nil {
			if _, err := Parse(signed, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, finding := range Lint(data, "", o) {
			if err == nil && finding.Severity == lookleap.SeverityError {
				t.Fatalf("a valid file has the defect %v", finding)
			}
		}
	})
}

// FuzzDecide compares the index with a search through all directives, and holds
// a policy to its promises.
func FuzzDecide(f *testing.F) {
	for _, seed := range []struct{ rules, path string }{
		{"/a DISALLOW\n/a/b ALLOW", "/a/b/c"}, {"/admin DISALLOW", "/x/..//admin"}, {"/p/*/x$ DISALLOW\n/ ALLOW", "/p/1/x"},
		{"//admin DISALLOW\n/public ALLOW", "/public/..%2Fadmin"}, {"/caf%c3%a9 ALLOW limit=3\n/a$ DISALLOW", "/café?x"}, {"/%2A DISALLOW", "/*"},
	} {
		f.Add(seed.rules, seed.path)
	}
	f.Fuzz(func(t *testing.T, rules, path string) {
		if len(rules) > 4096 || len(path) > 4096 {
			return
		}
		p, err := Parse([]byte(signed(strings.Split(rules, "\n")...)), Options{})
		if err != nil {
			return
		}
		d := p.Decide(path)
		before, _, _ := strings.Cut(path, "?")
		before, _, _ = strings.Cut(before, "#")
		if q := p.Decide(before + "?query#fragment"); q.Allowed != d.Allowed || q.Code != d.Code || q.Line != d.Line {
			t.Fatalf("%v with a query: %v", d, q)
		}
		if d.Allowed && !d.Matched && d.Code != unlisted && d.Code != codePolicyFile {
			t.Fatalf("allowed for no reason: %v", d)
		}
		normal, ok := appendNormal(nil, orRoot(before))
		if !strings.HasPrefix(orRoot(before), "/") || !ok {
			if d.Allowed {
				t.Fatalf("an ambiguous path is allowed: %v", d)
			}
			return
		}
		if again, ok := appendNormal(nil, normal); !ok || !bytes.Equal(again, normal) {
			t.Fatalf("%q normalises to %q, and that to %q", before, normal, again)
		}
		want := slowly(p, normal)
		effort := maxEffort
		got := p.rules.match(normal, 0, &effort)
		if (got == nil) != (want == nil) || got != nil && (got.rank != want.rank || got.allow != want.allow) {
			t.Fatalf("the index finds %+v for %q, a search finds %+v", got, normal, want)
		}
		// A reading of a path never is permitted more than the path itself.
		if literal := p.permits(got); p.State() == Valid && d.Allowed && d.Code != codePolicyFile && literal < 3 {
			t.Fatalf("%v, but the rule of its normal form denies", d)
		}
	})
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// slowly finds the rule that decides by trying all of them.
func slowly(p *Policy, path []byte) (best *rule) {
	better := func(r *rule) {
		if best == nil || r.rank > best.rank || r.rank == best.rank && !r.allow {
			best = r
		}
	}
	for text, r := range p.rules.prefixes {
		if bytes.HasPrefix(path, []byte(text)) && (!r.allow || endsSegment(path, len(text))) {
			better(r)
		}
	}
	for _, r := range p.rules.patterns {
		if matchSlowly(r.text, r.ends, string(path)) {
			better(r)
		}
	}
	return best
}

// matchSlowly is a pattern by the letter of RFC 9309: reach says which octets of
// the path can come next after the part of the pattern that was read.
func matchSlowly(pattern string, ends bool, path string) bool {
	reach := make([]bool, len(path)+1)
	reach[0] = true
	for _, c := range []byte(pattern) {
		next := make([]bool, len(path)+1)
		for i := range reach {
			switch {
			case c == '*':
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0:
				next[i] = reach[i-1] && path[i-1] == c
			}
		}
		reach = next
	}
	if ends {
		return reach[len(path)]
	}
	return slices.Contains(reach, true)
}

func TestPatternsMatchByTheLetter(t *testing.T) {
	letters := func(choice []byte, alphabet string) string {
		out := make([]byte, 0, 8)
		for _, c := range choice[:min(len(choice), 8)] {
			out = append(out, alphabet[int(c)%len(alphabet)])
		}
		return string(out)
	}
	check := func(a, b []byte, ends bool) bool {
		text, path := "/"+letters(a, "ab*"), "/"+letters(b, "ab")
		p := pattern{text: text, ends: ends}
		return p.match([]byte(path)) == matchSlowly(text, ends, path)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

func TestNormalFormIsStable(t *testing.T) {
	const alphabet = "/.%2eEfFaA;*~\xc3\xa9"
	check := func(choice []byte) bool {
		path := []byte("/")
		for _, c := range choice {
			path = append(path, alphabet[int(c)%len(alphabet)])
		}
		normal, ok := appendNormal(nil, path)
		if !ok {
			return true
		}
		again, ok := appendNormal(nil, normal)
		return ok && bytes.Equal(again, normal) && normal[0] == '/'
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}
