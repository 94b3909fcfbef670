package agentstxt

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestFetch: section 2, one read.
func TestFetch(t *testing.T) {
	inWorld(t, "AGT-0-01/accept-fetch-and-decide", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		p, err := Fetch(context.Background(), w.host, "https://shop.example/status")
		if err != nil || p.State() != Valid || !p.Decide("/status").Allowed {
			w.Error(p.State(), err)
		}
	})
	inWorld(t, "AGT-2-02/accept-origin", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		for _, url := range []string{"https://shop.example/status", "https://SHOP.example:443/status?x"} {
			if d, err := w.client.Decide(context.Background(), url); err != nil || !d.Allowed || d.Line != 2 {
				w.Error(url, d, err)
			}
		}
		w.asked(1)
	})
	inWorld(t, "AGT-2-02/reject-other-origins", Options{}, func(w *world) {
		w.servesFile(signed("/ DISALLOW"))
		w.net.Site("www.shop.example").File("/agents.txt", plainText, vectorFile)
		w.site.Ports(443, 8443)
		client := NewClient(&lookleap.Host{Fetcher: w.net.Unguarded(), Now: w.host.Now}, Options{})
		for url, want := range map[string]bool{"https://shop.example/status": false, "https://www.shop.example/status": true} {
			if d, err := client.Decide(context.Background(), url); err != nil || d.Allowed != want {
				w.Error(url, d, err)
			}
		}
		before := len(w.net.Journal().Requests())
		client.Decide(context.Background(), "https://shop.example:8443/status")
		if after := w.net.Journal().Requests(); len(after) != before+1 || after[before].Addr.Port() != 8443 {
			w.Error("another port was decided by the policy of this one")
		}
	})
	inWorld(t, "AGT-2-17/accept-plain-request", Options{UserAgent: "agent/7"}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		r := w.net.Journal().Requests()[0]
		if r.Method != "GET" || r.Target != "/agents.txt" || r.Header.Get("Accept") != "text/plain" || r.Header.Get("User-Agent") != "agent/7" {
			w.Errorf("%+v", r)
		}
	})
	inWorld(t, "AGT-2-17/reject-credentials", Options{}, func(w *world) {
		w.servesFile(vectorFile, "Set-Cookie", "user=1; Path=/")
		w.want(Valid, lookleap.CodeOK)
		w.pass(time.Hour)
		w.want(Valid, lookleap.CodeOK)
		w.asked(2)
		for _, r := range w.net.Journal().Requests() {
			for _, name := range []string{"Authorization", "Cookie", "Referer", "Range", "If-None-Match"} {
				if r.Header.Get(name) != "" {
					w.Errorf("%s was sent", name)
				}
			}
			if r.ClientCert || r.Header.Get("User-Agent") == "" {
				w.Error("not a plain and identified request")
			}
		}
	})
	inWorld(t, "AGT-2-14/accept-five-hops", Options{}, func(w *world) {
		w.site.RedirectChain("/agents.txt", 4, "https://www.shop.example/policy")
		w.net.Site("www.shop.example").File("/policy", plainText, vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.asked(6)
		// It rules the origin first asked, and no other.
		w.net.Site("www.shop.example").Status("/agents.txt", 404)
		if d, _ := w.client.Decide(context.Background(), "https://www.shop.example/admin"); !d.Allowed {
			w.Error("a redirect's target is ruled by the policy of another origin")
		}
		if d, _ := w.client.Decide(context.Background(), "https://shop.example/admin"); d.Allowed {
			w.Error("the origin first asked is not ruled")
		}
	})
	for _, status := range []int{301, 302, 303, 307, 308} {
		inWorld(t, fmt.Sprint("AGT-2-14/accept-status-", status), Options{}, func(w *world) {
			w.site.Status("/agents.txt", status, "Location", "https://www.shop.example/policy")
			w.net.Site("www.shop.example").File("/policy", plainText, vectorFile)
			w.want(Valid, lookleap.CodeOK)
		})
	}
	for _, tt := range []struct {
		name string
		set  func(w *world)
		why  lookleap.Code
	}{
		{"AGT-2-14/reject-sixth-hop", func(w *world) {
			w.site.RedirectChain("/agents.txt", 5, "https://www.shop.example/policy")
			w.net.Site("www.shop.example").File("/policy", plainText, vectorFile)
		}, lookleap.CodeTooManyRedirects},
		{"AGT-2-14/reject-hop-to-http", func(w *world) {
			w.site.Redirect("/agents.txt", "http://shop.example/policy").Plain().File("/policy", plainText, vectorFile)
		}, lookleap.CodeNotHTTPS},
		{"AGT-2-14/reject-hop-to-private-address", func(w *world) {
			w.site.Redirect("/agents.txt", "https://inside.example/policy")
			w.net.Site("inside.example").At("10.0.0.7").File("/policy", plainText, vectorFile)
		}, lookleap.CodeBlockedAddress},
		{"AGT-2-14/reject-loop", func(w *world) { w.site.Redirect("/agents.txt", "/agents.txt") }, lookleap.CodeTooManyRedirects},
		{"AGT-2-14/reject-no-location", func(w *world) { w.site.Status("/agents.txt", 302) }, lookleap.CodeBadRedirect},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			tt.set(w)
			p := w.want(Restricted, lookleap.CodeUnreachable)
			wantDenied(t, p)
			if why := lookleap.CodeOf(errors.Unwrap(p.Err())); why != tt.why {
				w.Errorf("the reason is %s, want %s", why, tt.why)
			}
			for _, d := range w.net.Journal().Dials("10.0.0.7") {
				w.Errorf("dialled %v", d.Addr)
			}
		})
	}
	inWorld(t, "AGT-2-15/reject-larger-answer", Options{}, func(w *world) {
		w.servesFile(padded(512<<10 + 1))
		w.want(Restricted, lookleap.CodeTooLarge)
	})
	inWorld(t, "AGT-2-15/accept-largest-answer", Options{}, func(w *world) {
		w.servesFile(padded(512 << 10))
		w.want(Valid, lookleap.CodeOK)
	})
	inWorld(t, "AGT-2-15/reject-slow-answer", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Minute))
		start := time.Now()
		p := w.want(Restricted, lookleap.CodeUnreachable)
		if took := time.Since(start); took != 10*time.Second || lookleap.CodeOf(errors.Unwrap(p.Err())) != lookleap.CodeTimeout {
			w.Errorf("took %v: %v", took, p.Err())
		}
	})
	inWorld(t, "AGT-2-16/accept-gzip", Options{}, func(w *world) {
		w.serves(zipped([]byte(vectorFile)))
		w.want(Valid, lookleap.CodeOK)
	})
	inWorld(t, "AGT-2-16/reject-bomb", Options{}, func(w *world) {
		w.serves(zipped(make([]byte, 64<<20)))
		w.want(Restricted, lookleap.CodeTooLarge)
	})
	inWorld(t, "AGT-2-16/reject-gzip-that-is-none", Options{}, func(w *world) {
		w.servesFile(vectorFile, "Content-Encoding", "gzip")
		w.want(Restricted, lookleap.CodeUnreachable)
	})
	for _, tt := range []struct {
		name string
		set  func(w *world)
	}{
		{"AGT-2-12/reject-503", func(w *world) { w.site.Status("/agents.txt", 503) }},
		{"AGT-2-12/reject-refused", func(w *world) { w.site.Connection(lookleaptest.ConnectionRefused) }},
		{"AGT-2-12/reject-reset", func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Reset()) }},
		{"AGT-2-12/reject-truncated", func(w *world) { w.servesFile(vectorFile); w.site.Fault("/agents.txt", lookleaptest.Truncated()) }},
		{"AGT-2-12/reject-blackhole", func(w *world) { w.site.Connection(lookleaptest.ConnectionLost) }},
		{"AGT-2-12/reject-no-such-name", func(w *world) { w.net.Name("shop.example").Clear() }},
		{"AGT-2-12/reject-bogus-name", func(w *world) { w.servesFile(vectorFile); w.net.Name("shop.example").Bogus() }},
		{"AGT-2-12/reject-dns-failure", func(w *world) { w.servesFile(vectorFile); w.net.Name("shop.example").ServFail() }},
		{"AGT-2-12/reject-unverified-tls", func(w *world) { w.servesFile(vectorFile); w.site.Certificate(lookleaptest.CertificateUnknownCA) }},
		{"AGT-8-03/reject-unknown-ca", func(w *world) { w.servesFile(vectorFile); w.site.Certificate(lookleaptest.CertificateUnknownCA) }},
		{"AGT-8-03/reject-other-name", func(w *world) { w.servesFile(vectorFile); w.site.Certificate(lookleaptest.CertificateWrongName) }},
		{"AGT-8-03/reject-tls-1.1", func(w *world) { w.servesFile(vectorFile); w.site.MaxTLS(tls.VersionTLS11) }},
		{"AGT-2-13/reject-206", func(w *world) { w.serves(lookleaptest.Status(206)) }},
		{"AGT-2-13/reject-204", func(w *world) { w.serves(lookleaptest.Status(204)) }},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			tt.set(w)
			wantDenied(t, w.want(Restricted, lookleap.CodeUnreachable))
		})
	}
	inWorld(t, "AGT-8-03/accept-tls-1.2", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.MaxTLS(tls.VersionTLS12)
		w.want(Valid, lookleap.CodeOK)
	})
	inWorld(t, "AGT-8-03/accept-http-by-default", Options{}, func(w *world) {
		w.site.Plain().File("/agents.txt", plainText, vectorFile)
		p, err := Fetch(context.Background(), &lookleap.Host{Fetcher: w.net.Unguarded()}, "http://shop.example/")
		if err != nil || p.State() != Valid {
			w.Fatal(err, p.Err())
		}
		w.wantFinding(p, lookleap.CodeInsecureTransport)
		if r := w.net.Journal().Requests()[0]; r.Addr.Port() != 80 || r.Host != "shop.example" {
			w.Errorf("%+v", r)
		}
	})
	inWorld(t, "AGT-8-03/accept-http-under-its-own-name", Options{}, func(w *world) {
		const file = "http://shop.example/agents.txt"
		w.site.Plain().File("/agents.txt", plainText, vectorFile)
		req, _ := http.NewRequest("GET", "http://shop.example/status", nil)
		v, err := Guard(&lookleap.Host{Fetcher: w.net.Unguarded()}).Check(req)
		if err != nil || v.Checks[0].Evidence[0].URL != file {
			w.Error(v, err)
		}
		_, err = Guard(w.host).Check(req) // a host that sends over https alone
		v = refusal(w, err)
		if v.Checks[0].Evidence[0].URL != file || !strings.Contains(v.Checks[0].Message, file) {
			w.Error(v, err)
		}
	})
	inWorld(t, "AGT-8-03/accept-http-that-leads-to-https", Options{}, func(w *world) {
		w.site.Plain().HandleFunc("/agents.txt", func(rw http.ResponseWriter, r *http.Request) {
			if r.TLS == nil {
				http.Redirect(rw, r, "https://shop.example/agents.txt", http.StatusMovedPermanently)
				return
			}
			served(vectorFile).ServeHTTP(rw, r)
		})
		p, err := Fetch(context.Background(), &lookleap.Host{Fetcher: w.net.Unguarded()}, "http://shop.example/")
		if err != nil || p.State() != Valid {
			w.Fatal(err, p.Err())
		}
	})
	inWorld(t, "AGT-8-03/reject-http-on-request", Options{}, func(w *world) {
		w.site.Plain().File("/agents.txt", plainText, vectorFile)
		client := NewClient(&lookleap.Host{Fetcher: w.net.Unguarded()}, Options{RefuseHTTP: true})
		p, err := client.Policy(context.Background(), "http://shop.example/")
		if err != nil || p.State() != Restricted || p.Reason() != lookleap.CodeInsecureTransport {
			w.Fatal(err, p.Reason())
		}
		robots, err := client.Robots(context.Background(), "http://shop.example/")
		if d := robots.Decide("/"); err != nil || d.Allowed || d.Code != lookleap.CodeInsecureTransport {
			w.Error(err, d)
		}
		w.asked(0)
	})
	inWorld(t, "AGT-1-04/accept-https-without-finding", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		if p := w.want(Valid, lookleap.CodeOK); len(p.Findings()) > 0 {
			w.Error(p.Findings())
		}
	})
	inWorld(t, "AGT-2-01/reject-other-places", Options{}, func(w *world) {
		w.site.File("/.well-known/agents.txt", plainText, vectorFile).File("/Agents.txt", plainText, vectorFile).File("/x/agents.txt", plainText, vectorFile)
		w.want(Absent, CodeNoPolicy)
		w.asked(1)
	})
}

func zipped(data []byte) http.Handler {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", plainText)
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(b.Bytes())
	})
}

// TestMalformedRefetch: a malformed file ends everything that was known before.
func TestMalformedRefetch(t *testing.T) {
	broken := served("*0000\n/status ALLOW\n")
	inWorld(t, "AGT-5-05/reject-good-copy-after-malformed", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, lookleap.CodeOK)
		before, _ := w.client.Decide(context.Background(), "https://shop.example/status")
		w.pass(time.Hour)
		w.serves(broken)
		w.want(Restricted, CodeHashMissing)
		if now := w.client.Generation("https://shop.example/"); now <= before.Generation {
			w.Errorf("generation %d of the decision, %d now", before.Generation, now)
		}
		w.serves(lookleaptest.Status(503))
		w.pass(10 * time.Minute)
		w.want(Restricted, lookleap.CodeUnreachable) // the good copy does not come back
		w.serves(lookleaptest.Status(403))
		w.pass(time.Hour)
		w.want(Absent, lookleap.CodeForbidden)
		w.serves(lookleaptest.Status(304))
		w.pass(time.Hour)
		w.want(Restricted, lookleap.CodeUnreachable)
		for _, r := range w.net.Journal().Requests()[2:] {
			if r.Header.Get("If-None-Match") != "" {
				w.Error("the validator of the good copy was sent again")
			}
		}
	})
	inWorld(t, "AGT-5-05/accept-good-copy-without-malformed", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.serves(lookleaptest.Status(503))
		w.pass(time.Hour)
		w.want(Valid, lookleap.CodeOK)
	})
	for name, answer := range map[string]http.Handler{
		"AGT-5-05/reject-too-large":   served(padded(512<<10 + 1)),
		"AGT-5-05/reject-charset":     served(vectorFile, "Content-Type", "text/plain; charset=latin1"),
		"AGT-5-05/reject-foreign":     served("Protocols: x\n"),
		"AGT-5-05/reject-bad-hash":    served(strings.Replace(vectorFile, "50", "60", 1)),
		"AGT-5-05/reject-not-utf8":    served(signed("/\xff ALLOW")),
		"AGT-4-04/reject-grace":       served("# grace-period: 30d\n" + signed("/a MAYBE")),
		"AGT-5-05/reject-compression": zipped(make([]byte, 1<<20)),
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, lookleap.CodeOK)
			w.serves(answer)
			w.pass(time.Hour)
			if p, _ := w.client.Policy(context.Background(), "https://shop.example/"); p.State() != Restricted {
				w.Fatal(p.State())
			}
			w.serves(lookleaptest.Status(503))
			w.pass(10 * time.Minute)
			w.want(Restricted, lookleap.CodeUnreachable)
		})
	}
	inWorld(t, "AGT-5-06/accept-after-repair", Options{}, func(w *world) {
		w.serves(broken)
		w.want(Restricted, CodeHashMissing)
		w.servesFile(vectorFile)
		w.pass(10*time.Minute - time.Second)
		w.want(Restricted, CodeHashMissing)
		w.asked(1)
		w.pass(time.Second)
		w.want(Valid, lookleap.CodeOK)
	})
	inWorld(t, "AGT-5-06/reject-unrepaired", Options{}, func(w *world) {
		w.servesFile("*0000\n/status ALLOW\n", "Cache-Control", "max-age=86400")
		w.want(Restricted, CodeHashMissing)
		w.pass(10 * time.Minute)
		w.want(Restricted, CodeHashMissing)
		w.asked(2)
	})
}

func TestMemoryIsBounded(t *testing.T) {
	host := &lookleap.Host{}
	c := NewClient(host, Options{Limits: Limits{Memory: 1_000_000}})
	p := mustParse(t, Options{}, numbered(500, "/%d ALLOW")...)
	for i := range 200 {
		entry := &knownFile[*Policy]{value: p, good: &goodCopy[*Policy]{value: p}}
		c.policies.known.Put(strings.Repeat("x", i/2), flight.Loaded[*knownFile[*Policy]]{Value: entry, Until: host.Time().Add(time.Hour)})
	}
	if n, size := c.policies.known.Len(), c.policies.known.Bytes(); size > 1_000_000 || n < 2 || size/n < p.memory() {
		t.Errorf("%d bytes in %d entries", size, n)
	}
}

// TestRedirectedPolicy: what a redirect on the way to a policy says about caches.
func TestRedirectedPolicy(t *testing.T) {
	redirect := func(w *world, header ...string) {
		w.serves(lookleaptest.Status(302, append([]string{"Location", "/file"}, header...)...))
		w.site.Handle("/file", served(vectorFile, "Cache-Control", "max-age=86400"))
	}
	for name, header := range map[string][]string{
		"no-store":       {"Cache-Control", "no-store"},
		"private":        {"Cache-Control", "private"},
		"private-fields": {"Cache-Control", `private="x-user"`},
		"set-cookie":     {"Set-Cookie", "user=1"},
		"vary":           {"Vary", "Cookie"},
	} {
		inWorld(t, "O34/reject-shared-"+name, Options{}, func(w *world) {
			other := w.two(lookleap.NewMemoryCache(10), Options{})
			redirect(w, header...)
			w.want(Valid, lookleap.CodeOK)
			w.asked(2)
			w.wantOf(other, Valid, lookleap.CodeOK)
			w.asked(4)
		})
	}
	inWorld(t, "O34/accept-shared", Options{}, func(w *world) {
		other := w.two(lookleap.NewMemoryCache(10), Options{})
		redirect(w)
		w.want(Valid, lookleap.CodeOK)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.asked(2)
	})
	inWorld(t, "O34/reject-304-that-hides-it", Options{}, func(w *world) {
		other := w.two(lookleap.NewMemoryCache(10), Options{})
		w.servesFile(vectorFile, "ETag", `"1"`, "Cache-Control", "private")
		w.want(Valid, lookleap.CodeOK)
		w.pass(time.Hour)
		w.servesFile(vectorFile, "ETag", `"1"`) // whose 304 says nothing of it
		w.want(Valid, lookleap.CodeOK)
		w.asked(2)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.asked(3)
	})
	for name, header := range map[string][]string{
		"max-age":  {"Cache-Control", "max-age=600"},
		"age":      {"Cache-Control", "max-age=3600", "Age", "3000"},
		"no-cache": {"Cache-Control", "no-cache"},
		"expires":  {"Expires", "0"},
	} {
		inWorld(t, "O34/reject-fresh-"+name, Options{}, func(w *world) {
			redirect(w, header...)
			w.want(Valid, lookleap.CodeOK)
			w.pass(10 * time.Minute)
			w.want(Valid, lookleap.CodeOK)
			w.asked(4)
		})
	}
}

// TestConfirmedPolicy: what a 304 is about.
func TestConfirmedPolicy(t *testing.T) {
	const newer = "/status DISALLOW"
	refuses := func(w *world) {
		w.Helper()
		w.pass(time.Hour)
		if p := w.want(Valid, lookleap.CodeOK); p.Decide("/status").Allowed {
			w.Error("the policy that was withdrawn is in force")
		}
	}
	unchanged := func(h http.Handler, header ...string) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" && r.Header.Get("If-Modified-Since") == "" {
				h.ServeHTTP(rw, r)
				return
			}
			lookleaptest.Status(304, header...).ServeHTTP(rw, r)
		})
	}
	for name, validator := range map[string][]string{
		"etag": {"ETag", `"1"`}, "weak-etag": {"ETag", `W/"1"`}, "last-modified": {"Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT"},
	} {
		inWorld(t, "O21/reject-other-url-"+name, Options{}, func(w *world) {
			w.servesFile(vectorFile, validator...)
			w.want(Valid, lookleap.CodeOK)
			w.serves(lookleaptest.Status(302, "Location", "/file"))
			w.site.Handle("/file", unchanged(served(signed(newer)), validator...))
			refuses(w)
		})
		inWorld(t, "O21/reject-url-that-led-there-"+name, Options{}, func(w *world) {
			w.serves(lookleaptest.Status(302, "Location", "/file"))
			w.site.Handle("/file", served(vectorFile, validator...))
			w.want(Valid, lookleap.CodeOK)
			w.serves(unchanged(served(signed(newer)), validator...))
			refuses(w)
		})
	}
	inWorld(t, "O21/reject-other-etag", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, lookleap.CodeOK)
		w.serves(unchanged(served(signed(newer)), "ETag", `"2"`))
		refuses(w)
	})
	inWorld(t, "O21/reject-star-as-etag", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", "*")
		w.want(Valid, lookleap.CodeOK)
		w.serves(unchanged(served(signed(newer)), "ETag", "*"))
		refuses(w)
	})
	inWorld(t, "O21/reject-304-unasked", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.serves(lookleaptest.Status(304))
		w.pass(time.Hour)
		w.want(Restricted, lookleap.CodeUnreachable)
	})
	inWorld(t, "O21/accept-confirmed-after-redirect", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(302, "Location", "/file"))
		w.site.Handle("/file", served(vectorFile, "ETag", `"1"`))
		first := w.want(Valid, lookleap.CodeOK)
		w.pass(time.Hour)
		if again := w.want(Valid, lookleap.CodeOK); again != first {
			w.Error("not confirmed")
		}
		w.asked(4)
	})
}
