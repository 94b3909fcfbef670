package agentstxt

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/alloctest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestAttacks: files and requests from people who mean harm, group M.
func TestAttacks(t *testing.T) {
	refused := func(id, name, file string, want lookleap.Code) {
		t.Run(id+"/reject-"+name, func(t *testing.T) {
			p, err := Parse([]byte(file), Options{})
			if lookleap.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
			wantDenied(t, p)
		})
	}
	taken := func(id, name, file string) {
		t.Run(id+"/accept-"+name, func(t *testing.T) {
			if _, err := Parse([]byte(file), Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	const (
		missing  = CodeHashMissing
		mismatch = CodeHashMismatch
		bad      = codeBadDirective
	)
	two := "*681350eb651add9a911aebc216058c2db321b5cbf20b48139723e9c967a8960e"
	taken("M01", "canonical-hash", two+"\n/status ALLOW\n/admin DISALLOW\n")
	taken("M01", "comments-and-blanks-left-out", "# x\n\n"+two+"\n\n# y\n/status ALLOW\n \t\n#z\n/admin DISALLOW")
	refused("M01", "comment-hashed", hashOf("/status ALLOW\n# y\n/admin DISALLOW")+"\n/status ALLOW\n# y\n/admin DISALLOW\n", mismatch)
	refused("M01", "other-order", hashOf("/admin DISALLOW\n/status ALLOW")+"\n/status ALLOW\n/admin DISALLOW\n", mismatch)
	refused("M01", "trailing-newline-hashed", hashOf("/status ALLOW\n/admin DISALLOW\n")+"\n/status ALLOW\n/admin DISALLOW\n", mismatch)
	taken("M02", "crlf-file", two+"\r\n/status ALLOW\r\n/admin DISALLOW\r\n")
	taken("M02", "mixed-line-ends", two+"\n/status ALLOW\r\n/admin DISALLOW\n")
	refused("M02", "cr-alone", two+"\r/status ALLOW\r/admin DISALLOW\r", missing)
	refused("M02", "crlf-hash", hashOf("/status ALLOW\r\n/admin DISALLOW")+"\r\n/status ALLOW\r\n/admin DISALLOW\r\n", mismatch)
	for name, line := range map[string]string{
		"upper-case": "*" + strings.ToUpper(two[1:]), "63-digits": two[:64], "65-digits": two + "0", "sha1": "*da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"trailing-backslash": two + ` \`, "trailing-space": two + " ", "trailing-tab": two + "\t", "no-hex-digit": two[:64] + "g", "two-stars": "*" + two, "second-place": "/a ALLOW\n" + two, "full-width": "＊" + two[1:],
	} {
		refused("M04", name, line+"\n/status ALLOW\n/admin DISALLOW\n", missing)
	}
	refused("M04", "missing", "/status ALLOW\n/admin DISALLOW\n", missing)
	refused("M05", "two-hash-lines", two+"\n"+signed("/a ALLOW"), bad)
	refused("M05", "two-hash-lines-hashed", signed(two, "/a ALLOW"), bad)
	taken("M07", "comment", "#x\n"+signed("/a ALLOW"))
	refused("M07", "indented-comment", signed(" #x", "/a ALLOW"), bad)
	refused("M07", "comment-after-a-tab", signed("\t#x", "/a ALLOW"), bad)
	refused("M07", "inline-comment", signed("/a ALLOW #c"), bad)
	refused("M07", "inline-comment-like-a-parameter", signed("/a ALLOW limit=5 #c=d"), bad)
	taken("M08", "one-bom", "\ufeff"+signed("/a ALLOW"))
	refused("M08", "two-boms", "\ufeff\ufeff"+signed("/a ALLOW"), missing)
	refused("M08", "bom-of-another-line", signed("/a ALLOW", "\ufeff/b ALLOW"), bad)
	refused("M08", "bom-after-a-comment", "#x\n\ufeff"+signed("/a ALLOW"), missing)
	refused("M08", "nul", signed("/a\x00b ALLOW"), lookleap.CodeNotUTF8)
	refused("M08", "invalid-utf8", signed("/\xc3 ALLOW"), lookleap.CodeNotUTF8)
	refused("M08", "utf16", "\xfe\xff\x00*\x00a", lookleap.CodeNotUTF8)
	refused("M08", "utf16-little", "\xff\xfe*\x00a\x00", lookleap.CodeNotUTF8)
	refused("M08", "overlong", signed("/\xc0\x80 ALLOW"), lookleap.CodeNotUTF8)
	refused("M08", "surrogate", signed("/\xed\xa0\x80 ALLOW"), lookleap.CodeNotUTF8)
	taken("M10", "tab-and-blanks", signed("/a\tALLOW", "/b  \t DISALLOW"))
	refused("M10", "no-break-space", signed("/a\u00a0ALLOW"), bad)
	refused("M10", "none", signed("/aALLOW"), bad)
	refused("M10", "vertical-tab", signed("/a\vALLOW"), bad)
	for name, blank := range map[string]string{"form-feed": "\f", "carriage-return": "\r", "next-line": "\u0085", "em-space": "\u2003", "zero-width-space": "\u200b"} {
		refused("M10", name, signed("/a"+blank+"ALLOW"), bad)
		refused("M10", name+"-before-a-parameter", signed("/a ALLOW"+blank+"limit=5"), bad)
	}
	for name, param := range map[string]string{"duplicate-of-another": "a=1 limit=2 a=1", "bad-percent-of-another": "a=%4", "name-alone": "limit", "name-of-digits": "5=limit", "duplicate": "limit=50 limit=5", "duplicate-in-other-case": "limit=50 LIMIT=5", "empty-name": "=5", "spaced": "limit = 50", "bad-percent": "limit=%zz"} {
		refused("M11", name, signed("/a ALLOW "+param), bad)
	}
	for name, param := range map[string]string{"empty": "limit=", "negative": "limit=-1", "exponent": "limit=1e9", "plus": "limit=+5", "fraction": "limit=5.0", "hexadecimal": "limit=0x5"} {
		t.Run("M11/reject-"+name, func(t *testing.T) {
			if d := mustParse(t, Options{}, "/a ALLOW "+param).Decide("/a"); d.Allowed || d.Code != codeBadLimit {
				t.Error(d)
			}
		})
	}
	t.Run("M11/accept-clamped", func(t *testing.T) {
		for _, limit := range []string{"99999999999999999999", "2147483647", "2147483648", "4294967301"} {
			if d := mustParse(t, Options{}, "/a ALLOW limit="+limit).Decide("/a"); !d.Allowed || d.Limit != 1<<31-1 {
				t.Error(limit, d)
			}
		}
	})
	admin := mustParse(t, Options{}, "/admin DISALLOW")
	for _, path := range []string{"/%61dmin", "//admin", "/admin/", "/admin/../admin", "/./admin", "/x/../admin", "/admin;x", "/admin%2f", `/admin\`, `/admin\\`, "/admin%00", "/admin?x"} {
		t.Run("M13/reject-"+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			if d := admin.Decide(path); d.Allowed || d.Code != disallowed {
				t.Error(d)
			}
		})
	}
	for _, rule := range []string{"/%61dmin", "//admin", "/./admin", "/x/../admin"} {
		t.Run("M13/reject-rule-"+strings.ReplaceAll(rule, "/", "_"), func(t *testing.T) {
			if d := mustParse(t, Options{}, rule+" DISALLOW").Decide("/admin"); d.Allowed || d.Code != disallowed {
				t.Error(d)
			}
		})
	}
	t.Run("M13/accept-other-case", func(t *testing.T) { // paths are case-sensitive (AGT-6-14)
		if d := admin.Decide("/ADMIN"); !d.Allowed || d.Code != unlisted {
			t.Error(d)
		}
	})
	// The last group needs a directive that ends with a slash: without it the bytes
	// of the path begin with it anyway.
	for _, spelled := range []struct {
		id, rules string
		denied    []string
	}{
		{"O32", "/admin DISALLOW", []string{"//x/admin", "///x/admin", "//x@y:1/admin", "/%2Fx/admin", `/\x/admin`, "/%5C%2Fx/admin/y", "//x/%61dmin", "//x//admin", "/%252Fx/admin", "/./%2Fx/admin", "//x/..//y/admin"}},
		{"O33", "/admin/ DISALLOW|/a/ DISALLOW", []string{"/admin.%5Cx", "/a./b", "/a%20%2E%2e/b", "/admin/.", "/admin%20/x", "/a.%20./b", "/x/../a./b", "/x%20/..%20/a/b", "/a.;v/b", "/%61%2e/b"}},
		{"O59", "/admin DISALLOW", []string{
			"/%2Fadmin/%252e/../secret.txt", "/admin%2F%252e/../secret.txt", "/x/..%2Fadmin%2F%252e/../secret.txt", "/%3b%5cx//admin", "/admin/..", "/admin/%2e%2e", "/admin/delete/../..",
			"/%2Fadmin/%25252e/../secret.txt", "/x/%2e%2e/../admin", "/x%5C..%5Cadmin%5C%252e/../y", "/%2F%2Fadmin%2F..%2F%252e%252e/x", "/ad%09min", "/x%3B/..%2fadmin/%2e.", "/a%3f/../../admin",
		}},
	} {
		for name, rules := range map[string][]string{
			"alone":      strings.Split(spelled.rules, "|"),
			"with-allow": append(strings.Split(spelled.rules, "|"), "/ ALLOW"),
		} {
			p := mustParse(t, Options{}, rules...)
			for _, path := range spelled.denied {
				t.Run(spelled.id+"/reject-"+name+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
					if d := p.Decide(path); d.Allowed {
						t.Error(d)
					}
				})
			}
			for _, path := range []string{"/x/y", "/x/../y", "/b//c", "/b%2Fc", "/v1.2/x.tar.gz", "/a%20b/c", "/b;v=1/c", "/web/2020/https://example.com/x", "/~u/100%25", "/%E4%B8%AD/x", "/b./c"} {
				t.Run(spelled.id+"/accept-"+name+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
					if d := p.Decide(path); !d.Allowed {
						t.Error(d)
					}
				})
			}
		}
	}
	t.Run("O33/reject-policy-path-with-bad-escape", func(t *testing.T) {
		if d := restricted(&lookleap.Error{Code: CodeHashMissing, Err: ErrMalformed}).Decide("/agents.txt%zz"); d.Allowed || d.Code != CodeRestricted {
			t.Error(d)
		}
	})
	t.Run("O33/accept-policy-path", func(t *testing.T) {
		if d := restricted(&lookleap.Error{Code: CodeHashMissing, Err: ErrMalformed}).Decide("/agents.txt"); !d.Allowed {
			t.Error(d)
		}
	})
	manyReadings := "/%25252e" + strings.Repeat("/%2525255C%20;x.%252e%2509", 8)
	t.Run("O59/reject-more-readings-than-limit", func(t *testing.T) {
		if d := admin.Decide(manyReadings); d.Allowed || d.Code != lookleap.CodeAmbiguousPath {
			t.Error(d)
		}
	})
	for name, rules := range map[string][]string{"unlisted": {"/ ALLOW"}, "first-line": {"/x DISALLOW", "/ ALLOW"}, "limit": {"/ ALLOW limit=1", "/b ALLOW"}} {
		t.Run("O59/reject-more-readings-than-limit-where-denied-by-"+name, func(t *testing.T) {
			o := Options{Unlisted: UnlistedAllow}
			if name == "unlisted" {
				o.Unlisted = UnlistedDeny
			}
			if d := mustParse(t, o, rules...).Decide(manyReadings); d.Allowed || d.Code != lookleap.CodeAmbiguousPath {
				t.Error(d)
			}
		})
	}
	t.Run("O59/accept-many-readings-where-nothing-is-denied", func(t *testing.T) {
		if d := mustParse(t, Options{Unlisted: UnlistedAllow}, "/ ALLOW").Decide(manyReadings); !d.Allowed {
			t.Error(d)
		}
	})
	costly := mustParse(t, Options{}, numbered(500, "/"+strings.Repeat("*a", 500)+"*%db DISALLOW")...)
	t.Run("O47/reject-path-too-long-for-patterns", func(t *testing.T) {
		if d := costly.Decide("/" + strings.Repeat("a", 8000)); d.Allowed || d.Code != lookleap.CodeURLTooLong {
			t.Error(d)
		}
	})
	t.Run("O47/accept-ordinary-path", func(t *testing.T) {
		if d := costly.Decide("/" + strings.Repeat("a", 1000)); !d.Allowed {
			t.Error(d)
		}
	})
	t.Run("O47/reject-more-than-a-bounded-effort", func(t *testing.T) {
		// However many readings a path has, all its matches share one bound.
		if maxEffort != 4<<20 {
			t.Errorf("a decision may cost %d", maxEffort)
		}
		effort, matches := maxEffort, 0
		for path := []byte(manyReadings); effort >= 0; matches++ {
			costly.rules.match(path, 0, &effort)
		}
		if most := maxEffort / (500 * len(manyReadings)); matches > most+1 {
			t.Errorf("%d lookups, want at most %d", matches, most)
		}
		if most := len(manyReadings) + 2000; effort < -most { // no match follows the one that exceeds it
			t.Errorf("the effort is %d beyond its bound, want at most %d", -effort, most)
		}
	})
	t.Run("M14/reject-prefix", func(t *testing.T) {
		if d := mustParse(t, Options{}, "/adm DISALLOW").Decide("/admin"); d.Allowed {
			t.Error(d)
		}
	})
	t.Run("M14/accept-at-a-boundary", func(t *testing.T) {
		p := mustParse(t, Options{}, "/dashboard ALLOW")
		for _, path := range []string{"/dashboard", "/dashboard/", "/dashboard/x", "/dashboard?x"} {
			if d := p.Decide(path); !d.Allowed {
				t.Error(path, d)
			}
		}
	})
	t.Run("M14/reject-stricter-of-both", func(t *testing.T) {
		p := mustParse(t, Options{}, "/adm DISALLOW", "/admin ALLOW")
		if d := p.Decide("/admins"); d.Allowed {
			t.Error(d)
		}
	})
	t.Run("M14/reject-allow-without-boundary", func(t *testing.T) {
		if d := mustParse(t, Options{}, "/dashboard ALLOW").Decide("/dashboard2"); d.Allowed {
			t.Error(d)
		}
	})
	t.Run("M14/reject-allow-without-boundary-beside-a-disallow", func(t *testing.T) { // of the same length
		if d := mustParse(t, Options{}, "/dashboard ALLOW", "/statement DISALLOW").Decide("/dashboard2"); len("/dashboard") != len("/statement") || d.Allowed {
			t.Error(d)
		}
	})
	lines := func(size int) string { // a policy of this size, with no line that is too long
		comment := func(n int) string { return "#" + strings.Repeat("x", n-2) + "\n" }
		file := signed("/a ALLOW")
		file += strings.Repeat(comment(1024), (size-len(file))/1024-1)
		return file + comment(size-len(file))
	}
	taken("M16", "as-large-as-the-limit", lines(512<<10))
	refused("M16", "a-byte-more", lines(512<<10+1), lookleap.CodeTooLarge)
	taken("M16", "line-as-long-as-the-limit", signed("/"+strings.Repeat("a", 8<<10-len("/ ALLOW"))+" ALLOW"))
	refused("M16", "line-of-a-byte-more", signed("/"+strings.Repeat("a", 8<<10-len("/ ALLOW")+1)+" ALLOW"), lookleap.CodeTooLarge)
	for n, want := range map[int]lookleap.Code{3: lookleap.CodeOK, 4: lookleap.CodeTooLarge} {
		verb := map[bool]string{true: "accept", false: "reject"}[want == lookleap.CodeOK]
		t.Run("M16/"+verb+"-"+strconv.Itoa(n)+"-of-3-directives", func(t *testing.T) {
			if p, err := Parse([]byte(signed(numbered(n, "/%d ALLOW")...)), Options{Limits: Limits{Directives: 3}}); lookleap.CodeOf(err) != want || p.Decide("/0").Allowed != (want == lookleap.CodeOK) {
				t.Error(err)
			}
		})
	}
	refused("M16", "comment-of-a-byte-more", "#"+strings.Repeat("a", 8<<10)+"\n"+signed("/a ALLOW"), lookleap.CodeTooLarge)
	refused("M16", "long-line", signed("/"+strings.Repeat("a", 1<<18)+" ALLOW"), lookleap.CodeTooLarge)
	refused("M16", "large-file", strings.Repeat("# x\n", 1<<18), lookleap.CodeTooLarge)
	t.Run("M19/reject-calling-it-authentic", func(t *testing.T) {
		// The attacker's file is valid: what stands for it is called integrity.
		p := mustParse(t, Options{}, "/admin ALLOW")
		if p.Integrity() == "" || strings.Contains(strings.ToLower(CodeAllowed.Title()), "authentic") {
			t.Error("wrong words")
		}
	})
	inWorld(t, "M20/reject-wrong-places", Options{}, func(w *world) {
		w.site.File("/Agents.txt", plainText, vectorFile).File("/.well-known/agents.txt", plainText, vectorFile).File("/a/agents.txt", plainText, vectorFile)
		w.want(Absent, CodeNoPolicy)
		for _, r := range w.net.Journal().Requests() {
			if r.Target != "/agents.txt" {
				w.Errorf("asked for %s", r.Target)
			}
		}
	})
	inWorld(t, "M20/reject-other-port", Options{}, func(w *world) {
		w.site.Ports(443, 8443).File("/agents.txt", plainText, vectorFile)
		c := NewClient(&lookleap.Host{Fetcher: w.net.Unguarded(), Now: w.host.Now}, Options{})
		c.Policy(context.Background(), "https://shop.example:8443/")
		if r := w.net.Journal().Requests(); len(r) != 1 || r[0].Addr.Port() != 8443 {
			w.Errorf("%+v", r)
		}
	})
	for name, tt := range map[string]struct {
		set    func(s *lookleaptest.Site)
		state  State
		reason lookleap.Code
	}{
		"M17/accept-404":     {func(s *lookleaptest.Site) { s.Status("/agents.txt", 404) }, Absent, "no-policy"},
		"M17/accept-410":     {func(s *lookleaptest.Site) { s.Status("/agents.txt", 410) }, Absent, "no-policy"},
		"M17/accept-400":     {func(s *lookleaptest.Site) { s.Status("/agents.txt", 400) }, Absent, CodeStatus},
		"M17/accept-418":     {func(s *lookleaptest.Site) { s.Status("/agents.txt", 418) }, Absent, CodeStatus},
		"M17/reject-500":     {func(s *lookleaptest.Site) { s.Status("/agents.txt", 500) }, Restricted, "unreachable"},
		"M17/reject-refused": {func(s *lookleaptest.Site) { s.Connection(lookleaptest.ConnectionNotTLS) }, Restricted, "unreachable"},
		"M17/accept-five-hops": {func(s *lookleaptest.Site) {
			s.File("/5", plainText, vectorFile).Redirect("/agents.txt", "/1").Redirect("/1", "/2").Redirect("/2", "/3").Redirect("/3", "/4").Redirect("/4", "/5")
		}, Valid, "ok"},
		"M17/accept-html-with-a-hash-line": {func(s *lookleaptest.Site) { s.File("/agents.txt", "text/html", vectorFile) }, Valid, "ok"},
		"M17/accept-403":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 403) }, Absent, "forbidden"},
		"M17/accept-html":                  {func(s *lookleaptest.Site) { s.File("/agents.txt", "text/html", "<html>") }, Absent, "soft-404"},
		"M17/reject-503":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 503) }, Restricted, "unreachable"},
		"M17/accept-422":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 422) }, Absent, CodeStatus},
		"M17/accept-json":                  {func(s *lookleaptest.Site) { s.File("/agents.txt", "application/json", `{"error":404}`) }, Absent, "soft-404"},
		"M17/reject-206":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 206) }, Restricted, "unreachable"},
		"M17/reject-502":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 502) }, Restricted, "unreachable"},
		"M17/reject-charset-utf-16":        {func(s *lookleaptest.Site) { s.File("/agents.txt", "text/plain; charset=utf-16", vectorFile) }, Restricted, "charset"},
		"M17/reject-429":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 429) }, Restricted, "rate-limited"},
		"M17/reject-timeout":               {func(s *lookleaptest.Site) { s.Fault("/agents.txt", lookleaptest.Mute()) }, Restricted, "unreachable"},
		"M17/reject-dribble":               {func(s *lookleaptest.Site) { s.Fault("/agents.txt", lookleaptest.Dribble(time.Second)) }, Restricted, "unreachable"},
		"M17/reject-401":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 401) }, Restricted, "access-denied"},
		"M17/reject-407":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 407) }, Restricted, "access-denied"},
		"M17/reject-451":                   {func(s *lookleaptest.Site) { s.Status("/agents.txt", 451) }, Restricted, "access-denied"},
		"M17/reject-charset":               {func(s *lookleaptest.Site) { s.File("/agents.txt", "text/plain; charset=latin1", vectorFile) }, Restricted, "charset"},
		"M17/reject-http-hop":              {func(s *lookleaptest.Site) { s.Redirect("/agents.txt", "http://shop.example/x") }, Restricted, "unreachable"},
		"M17/reject-six-hops":              {func(s *lookleaptest.Site) { s.RedirectChain("/agents.txt", 6, "") }, Restricted, "unreachable"},
		"M17/reject-lying-length": {func(s *lookleaptest.Site) {
			s.Fault("/agents.txt", lookleaptest.Raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1099511627776\r\n\r\n"+vectorFile))
		}, Restricted, "too-large"},
		"M17/reject-answer-cut-short": {func(s *lookleaptest.Site) {
			s.File("/agents.txt", plainText, vectorFile).Fault("/agents.txt", lookleaptest.CutChunks())
		}, Restricted, "unreachable"},
		"M17/accept-off-host-redirect": {func(s *lookleaptest.Site) {
			s.Redirect("/agents.txt", "/elsewhere").File("/elsewhere", plainText, vectorFile)
		}, Valid, "ok"},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			tt.set(w.site)
			w.want(tt.state, tt.reason)
		})
	}
	inWorld(t, "M17/accept-redirect-to-another-host", Options{}, func(w *world) {
		w.net.Site("other.example").File("/policy.txt", plainText, vectorFile).Status("/agents.txt", 404)
		w.site.Redirect("/agents.txt", "https://other.example/policy.txt")
		if p := w.want(Valid, lookleap.CodeOK); p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
			w.Error("the policy is not in force")
		}
		p, err := w.client.Policy(context.Background(), "https://other.example/")
		if err != nil || p.State() != Absent {
			w.Errorf("the policy binds the other host: %v, %v", p, err)
		}
	})
	for name, h := range map[string]http.Handler{"400": lookleaptest.Status(400), "html": lookleaptest.Body("text/html", "<html>")} {
		inWorld(t, "M17/reject-strictly-"+name, Options{Strict: true}, func(w *world) {
			w.serves(h)
			if p, _ := w.client.Policy(context.Background(), "https://shop.example/"); p.State() != Restricted {
				w.Errorf("got %v", p.State())
			}
		})
	}
	inWorld(t, "M17/accept-404-strictly", Options{Strict: true}, func(w *world) {
		w.serves(lookleaptest.Status(http.StatusNotFound))
		w.want(Absent, CodeNoPolicy)
	})
	inWorld(t, "M17/reject-strictly", Options{Strict: true}, func(w *world) {
		w.serves(lookleaptest.Status(http.StatusForbidden))
		w.want(Restricted, CodeAccessDenied)
	})
}

// hostileFiles want much memory or time for their size.
func hostileFiles() map[string]string {
	const size = 512 << 10
	fill := func(line string) string { return strings.Repeat(line, (size-200)/len(line)) }
	return map[string]string{
		"short-directives":    hashOf("x") + "\n" + fill("/ ALLOW\n"),
		"bad-last-line":       signed(strings.TrimSuffix(fill("/a DISALLOW\n"), "\n"), "/b MAYBE"),
		"empty-lines":         fill("\n"),
		"comments":            fill("#a:b\n"),
		"different-metadata":  strings.Join(numbered(40_000, "#k%d:v"), "\n"),
		"wildcards":           signed(numbered(20_000, "/*a*%d DISALLOW")...),
		"encoded-paths":       signed(numbered(15_000, "/%%61//%%2e/%d DISALLOW")...) + "/x\n",
		"unknown-parameters":  signed(numbered(15_000, "/%d ALLOW a=b c=d e=f")...) + "/x\n",
		"wrong-hash-of-lines": hashOf("x") + "\n" + strings.Join(numbered(40_000, "/%d DISALLOW"), "\n"),
		"carriage-returns":    fill("/a ALLOW\r"),
		"not-utf8-at-the-end": signed(strings.TrimSuffix(fill("/a DISALLOW\n"), "\n"), "/\xff ALLOW"),
		"too-large":           strings.Repeat("x", 8<<20),
		"many-parameters":     signed("/a ALLOW " + strings.Join(numbered(800, "k%d="), " ")),
	}
}

// TestCheapRefusal: files of group M that want much memory.
func TestCheapRefusal(t *testing.T) {
	for name, file := range hostileFiles() {
		t.Run("M16/reject-cheaply-"+name, func(t *testing.T) { wantCheapRefusal(t, file) })
	}
}

// wantCheapRefusal fails if refusing a file takes more memory than three times
// the size limit, the file itself included. BenchmarkRefusal tells the time.
func wantCheapRefusal(t *testing.T, file string) {
	t.Helper()
	const limit = 512 << 10
	data := []byte(file)
	alloctest.AtMost(t, 3*limit-min(len(data), limit), func() {
		if _, err := Parse(data, Options{}); err == nil {
			t.Fatal("the file is valid")
		}
	})
}

// BenchmarkRefusal measures the time of what wantCheapRefusal checks. The goal is 100 ms.
func BenchmarkRefusal(b *testing.B) {
	for name, file := range hostileFiles() {
		b.Run(name, func(b *testing.B) {
			data := []byte(file)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(data, Options{}); err == nil {
					b.Fatal("the file is valid")
				}
			}
		})
	}
}
