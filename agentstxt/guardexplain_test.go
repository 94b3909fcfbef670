package agentstxt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// told returns what a verdict says: its code and summary, and a line for each check.
func told(v *lookleap.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", v.Code, v.Summary)
	for _, c := range v.Checks {
		text := ""
		for _, e := range c.Evidence {
			if e.Text != "" {
				text = " (" + e.Text + ")"
			}
		}
		fmt.Fprintf(&b, "\n%s %s %s: %s%s", c.Requirement, c.Status, c.Code, c.Message, text)
	}
	return b.String()
}

// TestGuardExplains: what a verdict tells about both files, whether the request is allowed or not.
func TestGuardExplains(t *testing.T) {
	web := Web("ExampleBot")
	rules := func(policy, robots string) func(w *world) {
		return func(w *world) { w.servesFile(policy); w.robots(robots) }
	}
	missing := func(w *world) { w.site.Status("/agents.txt", 404).Status("/robots.txt", 404) }
	for _, c := range []struct {
		name    string
		options Options
		make    func(w *world)
		path    string
		want    string
	}{
		{"accept-line", Options{}, rules(signed("/a ALLOW"), ""), "/a", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)"},
		{"accept-limit", Options{}, rules(signed("/a ALLOW limit=3"), ""), "/a", "ok: a directive allows the path in line 2, at most 3 requests in the window\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2, at most 3 requests in the window (line 2: /a)"},
		{"reject-unlisted", Options{}, rules(signed("/a ALLOW"), ""), "/b", "unlisted: no directive matches the path\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 failed unlisted: no directive matches the path"},
		{"reject-line", Options{}, rules(signed("/a DISALLOW"), ""), "/a", "disallowed: a directive disallows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 failed disallowed: a directive disallows the path in line 2 (line 2: /a)"},
		{"reject-restricted", Options{}, rules("/a ALLOW", ""), "/a", "hash-missing: the whole origin is restricted: the first line that is neither comment nor blank is not a hash line, in line 1 of its policy\n" +
			"AGT-5-01 failed hash-missing: agents.txt: 1:1: the first line that is neither comment nor blank is not a hash line (hash-missing); write \"*\" and 64 lower-case hex digits, with nothing after them\n" +
			"AGT-5-04 failed restricted: the whole origin is restricted: the first line that is neither comment nor blank is not a hash line, in line 1 of its policy"},
		{"reject-status", Options{}, func(w *world) { w.site.Status("/agents.txt", 503) }, "/a", "unavailable: the whole origin is restricted: the server answered 503\n" +
			"AGT-5-01 failed unreachable: agents.txt: the server answered 503 (unreachable)\n" +
			"AGT-5-04 failed restricted: the whole origin is restricted: the server answered 503"},
		{"accept-no-policy", Options{}, missing, "/a", "ok: the origin publishes no policy\n" +
			"AGT-2-08 noted no-policy: the origin publishes no policy\n" +
			"AGT-5-04 skipped skipped: the origin publishes no policy"},
		{"accept-no-files", web, missing, "/a", "ok: the origin publishes no policy\n" +
			"AGT-2-08 noted no-policy: the origin publishes no policy\n" +
			"AGT-5-04 skipped skipped: the origin publishes no policy\n" +
			"AGT-1-01 passed ok: the origin has no robots.txt"},
		{"accept-both", web, rules(signed("/a ALLOW"), "User-agent: *\nDisallow: /b\n"), "/a", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 passed ok: no rule of robots.txt disallows the path"},
		{"accept-robots-line", web, rules(signed("/a ALLOW"), "User-agent: ExampleBot\nDisallow: /\nAllow: /a\nCrawl-delay: 2\n"), "/a", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 passed ok: robots.txt allows the path in line 3; it names ExampleBot; it asks for 2s between requests (line 3: /a)"},
		{"reject-robots-line", web, rules(signed("/a ALLOW"), "User-agent: *\nDisallow: /a\n"), "/a", "robots-disallowed: a rule of robots.txt disallows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: the policy allows the path (line 2: /a)\n" +
			"AGT-1-01 failed robots-disallowed: a rule of robots.txt disallows the path in line 2 (line 2: /a)"},
		{"reject-both", web, rules(signed("/a DISALLOW"), "User-agent: *\nDisallow: /a\n"), "/a", "disallowed: a directive disallows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 failed disallowed: a directive disallows the path in line 2 (line 2: /a)"},
		{"reject-policy-not-robots", web, rules(signed("/a DISALLOW"), "User-agent: *\nAllow: /a\nDisallow: /b\n"), "/a", "disallowed: a directive disallows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 failed disallowed: a directive disallows the path in line 2 (line 2: /a)"},
		{"reject-robots-without-policy", web, func(w *world) {
			w.site.Status("/agents.txt", 404)
			w.robots("User-agent: *\nDisallow: /a\n")
		}, "/a", "robots-disallowed: a rule of robots.txt disallows the path in line 2\n" +
			"AGT-2-08 noted no-policy: the origin publishes no policy\n" +
			"AGT-5-04 skipped skipped: the origin publishes no policy\n" +
			"AGT-1-01 failed robots-disallowed: a rule of robots.txt disallows the path in line 2 (line 2: /a)"},
		{"reject-robots-unreadable", web, func(w *world) {
			w.servesFile(signed("/a ALLOW"))
			w.site.Status("/robots.txt", 503)
		}, "/a", "unavailable: robots.txt could not be read, so every path counts as disallowed: the server answered 503\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: the policy allows the path (line 2: /a)\n" +
			"AGT-1-01 failed unavailable: robots.txt could not be read, so every path counts as disallowed: the server answered 503"},
		{"accept-usage", web, rules(signed("/a ALLOW"), "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /b\n"), "/a", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 passed ok: no rule of robots.txt disallows the path\n" +
			" noted content-usage: the site states about the use of its content: ai-train=no (ai-train=no)"},
		{"accept-usage-of-path", web, rules(signed("/a ALLOW"), "User-agent: *\nContent-Usage: /a train-ai=n\nDisallow: /b\n"), "/a?x=1", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 passed ok: no rule of robots.txt disallows the path\n" +
			" noted content-usage: the site states about the use of its content: ai-train=no (ai-train=no)"},
		{"reject-foreign-line", web, rules("Disallow: /a\n", ""), "/a?secret", "foreign-disallowed: " + CodeForeignDisallowed.Title() + " in line 1\n" +
			"AGT-2-08 noted foreign-format: the origin publishes no policy\n" +
			"AGT-5-04 failed foreign-disallowed: " + CodeForeignDisallowed.Title() + " in line 1 (line 1: /a)"},
		{"accept-robots-cut", Options{Robots: Robots{Tokens: []string{"ExampleBot"}}, Limits: Limits{Size: 1 << 10}}, rules(signed("/a ALLOW"), "User-agent: *\nDisallow: /b\n"+strings.Repeat("# x\n", 1<<10)), "/a", "ok: a directive allows the path in line 2\n" +
			"AGT-7-01 passed ok: the policy is whole, with 1 directive\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 noted too-large: no rule of robots.txt disallows the path; robots.txt is longer than the limit, so its last rules were not read"},
		{"reject-clear-text", Options{RefuseHTTP: true}, missing, "http", "insecure-transport: the whole origin is restricted: policies over plain http are not accepted\n" +
			"AGT-5-01 failed insecure-transport: agents.txt: policies over plain http are not accepted (insecure-transport)\n" +
			"AGT-5-04 failed restricted: the whole origin is restricted: policies over plain http are not accepted"},
	} {
		inWorld(t, "AGT-6-11/"+c.name, c.options, func(w *world) {
			c.make(w)
			_, g := w.guarded(c.options)
			url := "https://shop.example" + c.path
			if c.path == "http" {
				url = "http://shop.example/a?secret"
			}
			req, err := http.NewRequest("GET", url, nil)
			if err != nil {
				w.Fatal(err)
			}
			v, err := g.Check(req)
			if err != nil {
				v = refusal(w, err)
			}
			if v.OK != strings.HasPrefix(c.name, "accept") {
				w.Errorf("allowed: %v, %v", v.OK, err)
			}
			if got := told(v); got != c.want {
				w.Errorf("%s\nwant %s", got, c.want)
			}
			if strings.Contains(v.Subject, "secret") || !strings.HasSuffix(v.Subject, "://shop.example"+req.URL.Path) {
				w.Errorf("the subject is %s", v.Subject)
			}
		})
	}
}

// TestGuardExplainsStaleFiles: a verdict says that it rests on earlier copies.
func TestGuardExplainsStaleFiles(t *testing.T) {
	web := Web("ExampleBot")
	inWorld(t, "AGT-2-12/accept-earlier-copies", web, func(w *world) {
		w.servesFile(signed("/a ALLOW"), "Cache-Control", "max-age=3600")
		w.robots("User-agent: *\nDisallow: /b\n", "Cache-Control", "max-age=3600")
		_, g := w.guarded(web)
		req, _ := http.NewRequest("GET", "https://shop.example/a", nil)
		if _, err := g.Check(req); err != nil {
			w.Fatal(err)
		}
		w.pass(2 * time.Hour)
		w.site.Status("/agents.txt", 503).Status("/robots.txt", 503)
		v, err := g.Check(req)
		if err != nil {
			w.Fatal(err)
		}
		const want = "ok: a directive allows the path in line 2\n" +
			"AGT-2-12 noted stale: the policy could not be read again, so an earlier copy is in force\n" +
			"AGT-6-11 passed ok: a directive allows the path in line 2 (line 2: /a)\n" +
			"AGT-1-01 passed ok: no rule of robots.txt disallows the path; it could not be read again, so an earlier copy is in force"
		if got := told(v); got != want {
			w.Error(got)
		}
	})
}

// TestRefusalCodes: the code of a file that could not be read is that of its cause, if it has one.
func TestRefusalCodes(t *testing.T) {
	cause := &lookleap.Error{Code: lookleap.CodeTimeout, Message: "too late"}
	for _, c := range []struct {
		err    error
		code   lookleap.Code
		reason string
	}{
		{unavailable(lookleap.CodeUnreachable, "x", cause), lookleap.CodeTimeout, lookleap.CodeTimeout.Title()},
		{unavailable(CodeAccessDenied, "x", cause), CodeAccessDenied, CodeAccessDenied.Title()},
		{unavailable(lookleap.CodeUnreachable, "x", nil), lookleap.CodeUnreachable, lookleap.CodeUnreachable.Title()},
		{unavailable(lookleap.CodeUnreachable, "x", &lookleap.ResponseError{Status: 500}), lookleap.CodeUnavailable, "the server answered 500"},
		{unavailable(CodeAccessDenied, "x", &lookleap.ResponseError{Status: 499}), CodeAccessDenied, "the server answered 499"},
		{unavailable(CodeAccessDenied, "x", &lookleap.ResponseError{}), CodeAccessDenied, CodeAccessDenied.Title()},
		{malformed(codeBadDirective, lookleap.Position{}, "x", ""), codeBadDirective, codeBadDirective.Title()},
	} {
		if code, reason := refusalCode(c.err), because(c.err); code != c.code || reason != c.reason {
			t.Errorf("%v: %s, %s, want %s, %s", c.err, code, reason, c.code, c.reason)
		}
	}
	x := decided{robots: &knownFile[*RobotsFile]{value: &RobotsFile{}}, byRobots: Decision{Code: lookleap.CodeURLTooLong}}
	if got := x.explainRobots(); got != lookleap.CodeURLTooLong.Title() {
		t.Errorf("a denial without a line: %s", got)
	}
}

// TestFixes: each reason for a refusal names what the caller can do, if there is something.
func TestFixes(t *testing.T) {
	for code, want := range map[lookleap.Code][2]string{ // final, temporary
		CodeDisallowed:                 {"no option lifts it", "lookleap.Retryable"},
		CodeRobotsDisallowed:           {"no option lifts it", "lookleap.Retryable"},
		CodeForeignDisallowed:          {"no option lifts it", "lookleap.Retryable"},
		CodeUnlisted:                   {"set Options.Unlisted", "lookleap.Retryable"},
		codeBadLimit:                   {"in digits", "lookleap.Retryable"},
		codeUnknownParam:               {"Options.DenyUnknownParams", "lookleap.Retryable"},
		lookleap.CodeInsecureTransport: {"Options.RefuseHTTP", "lookleap.Retryable"},
		lookleap.CodeNotHTTPS:          {"sends nothing over http", "lookleap.Retryable"},
		lookleap.CodeBlockedPort:       {"FetcherOptions.Ports", "lookleap.Retryable"},
		lookleap.CodeBlockedAddress:    {"InsecureAllowPrivate", "lookleap.Retryable"},
		CodeAccessDenied:               {"Options.UserAgent", "lookleap.Retryable"},
		lookleap.CodeLimit:             {"is zero", "Options.Window"},
		CodeHashMissing:                {"", "lookleap.Retryable"},
	} {
		for i, temporary := range []bool{false, true} {
			if got := fixFor(code, temporary); !strings.Contains(got, want[i]) || (got == "") != (want[i] == "") {
				t.Errorf("%s, temporary %v: %q, want %q", code, temporary, got, want[i])
			}
		}
	}
}
