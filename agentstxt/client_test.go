package agentstxt

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
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
		w.net.Site("www.shop.example").Body("/agents.txt", plainText, vectorFile)
		w.site.Ports(443, 8443)
		client := NewClient(&lookleap.Host{Fetcher: w.net.ForeignTransport(), Now: w.host.Now})
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
		w.servesFile(vectorFile)
		p, err := w.client.Policy(context.Background(), "https://shop.example/x")
		if err != nil || p.State() != Valid {
			w.Fatal(err)
		}
		r := w.net.Journal().Requests()[0]
		for _, name := range []string{"Authorization", "Cookie", "Referer", "Range", "If-None-Match"} {
			if r.Header.Get(name) != "" {
				w.Errorf("%s was sent", name)
			}
		}
		if r.ClientCert || r.Header.Get("User-Agent") == "" {
			w.Error("not a plain and identified request")
		}
	})
	inWorld(t, "AGT-2-14/accept-five-hops", Options{}, func(w *world) {
		w.site.RedirectChain("/agents.txt", 4, "https://www.shop.example/policy")
		w.net.Site("www.shop.example").Body("/policy", plainText, vectorFile)
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
	for _, tt := range []struct {
		name string
		set  func(w *world)
	}{
		{"AGT-2-14/reject-sixth-hop", func(w *world) {
			w.site.RedirectChain("/agents.txt", 5, "https://www.shop.example/policy")
			w.net.Site("www.shop.example").Body("/policy", plainText, vectorFile)
		}},
		{"AGT-2-14/reject-hop-to-http", func(w *world) {
			w.site.Redirect("/agents.txt", "http://shop.example/policy").Plain().Body("/policy", plainText, vectorFile)
		}},
		{"AGT-2-14/reject-hop-to-private-address", func(w *world) {
			w.site.Redirect("/agents.txt", "https://inside.example/policy")
			w.net.Site("inside.example").At("10.0.0.7").Body("/policy", plainText, vectorFile)
		}},
		{"AGT-2-14/reject-loop", func(w *world) { w.site.Redirect("/agents.txt", "/agents.txt") }},
		{"AGT-2-14/reject-no-location", func(w *world) { w.site.Status("/agents.txt", 302) }},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			tt.set(w)
			wantDenied(t, w.want(Restricted, lookleap.CodeUnreachable))
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
		w.site.Fault("/agents.txt", lab.Delay(time.Minute))
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
		{"AGT-2-12/reject-refused", func(w *world) { w.site.Connection(lab.Refused) }},
		{"AGT-2-12/reject-reset", func(w *world) { w.site.Fault("/agents.txt", lab.Reset()) }},
		{"AGT-2-12/reject-truncated", func(w *world) { w.servesFile(vectorFile); w.site.Fault("/agents.txt", lab.Truncated()) }},
		{"AGT-2-12/reject-blackhole", func(w *world) { w.site.Connection(lab.Blackhole) }},
		{"AGT-2-12/reject-no-such-name", func(w *world) { w.net.Name("shop.example").Clear() }},
		{"AGT-2-12/reject-bogus-name", func(w *world) { w.servesFile(vectorFile); w.net.Name("shop.example").Bogus() }},
		{"AGT-2-12/reject-dns-failure", func(w *world) { w.servesFile(vectorFile); w.net.Name("shop.example").ServFail() }},
		{"AGT-8-03/reject-unknown-ca", func(w *world) { w.servesFile(vectorFile); w.site.Certificate(lab.UnknownCA) }},
		{"AGT-8-03/reject-other-name", func(w *world) { w.servesFile(vectorFile); w.site.Certificate(lab.WrongName) }},
		{"AGT-8-03/reject-tls-1.1", func(w *world) { w.servesFile(vectorFile); w.site.MaxTLS(tls.VersionTLS11) }},
		{"AGT-2-13/reject-206", func(w *world) { w.serves(lab.Status(206)) }},
		{"AGT-2-13/reject-204", func(w *world) { w.serves(lab.Status(204)) }},
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
		w.site.Plain().Body("/agents.txt", plainText, vectorFile)
		p, err := Fetch(context.Background(), &lookleap.Host{Fetcher: w.net.ForeignTransport()}, "http://shop.example/")
		if err != nil || p.State() != Valid {
			w.Fatal(err, p.Err())
		}
		w.wantFinding(p, lookleap.CodeInsecureTransport)
		if r := w.net.Journal().Requests()[0]; r.Addr.Port() != 80 || r.Host != "shop.example" {
			w.Errorf("%+v", r)
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
		p, err := Fetch(context.Background(), &lookleap.Host{Fetcher: w.net.ForeignTransport()}, "http://shop.example/")
		if err != nil || p.State() != Valid {
			w.Fatal(err, p.Err())
		}
	})
	inWorld(t, "AGT-8-03/reject-http-on-request", Options{}, func(w *world) {
		w.site.Plain().Body("/agents.txt", plainText, vectorFile)
		p, err := Options{RefuseHTTP: true}.Fetch(context.Background(), &lookleap.Host{Fetcher: w.net.ForeignTransport()}, "http://shop.example/")
		if err != nil || p.State() != Restricted || p.Reason() != lookleap.CodeInsecureTransport {
			w.Fatal(err, p.Reason())
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
		w.site.Body("/.well-known/agents.txt", plainText, vectorFile).Body("/Agents.txt", plainText, vectorFile).Body("/x/agents.txt", plainText, vectorFile)
		w.want(Absent, lookleap.CodeNoPolicy)
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

// TestCache: what is kept, and for how long.
func TestCache(t *testing.T) {
	ok := lookleap.CodeOK
	for _, tt := range []struct {
		name   string
		header []string
		kept   time.Duration
	}{
		{"AGT-5-07/accept-default-hour", nil, time.Hour},
		{"AGT-5-07/accept-max-age", []string{"Cache-Control", "max-age=7200"}, 2 * time.Hour},
		{"AGT-5-07/accept-least", []string{"Cache-Control", "max-age=1"}, 5 * time.Minute},
		{"AGT-5-07/accept-no-cache", []string{"Cache-Control", "no-cache"}, 5 * time.Minute},
		{"AGT-5-07/accept-most", []string{"Cache-Control", "max-age=9999999"}, 24 * time.Hour},
		{"AGT-5-07/accept-no-store", []string{"Cache-Control", "no-store, max-age=7200"}, 5 * time.Minute},
		{"AGT-5-07/accept-expires", []string{"Expires", "Sat, 01 Jan 2000 03:00:00 GMT"}, 3 * time.Hour},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			w.servesFile(vectorFile, tt.header...)
			w.want(Valid, ok)
			w.pass(tt.kept - time.Second)
			w.want(Valid, ok)
			w.asked(1)
			w.pass(time.Second)
			w.want(Valid, ok)
			w.asked(2)
		})
	}
	inWorld(t, "AGT-5-07/accept-304", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		first := w.want(Valid, ok)
		for range 30 {
			w.pass(time.Hour)
			if p := w.want(Valid, ok); p != first {
				w.Fatal("a renewed copy became another policy")
			}
		}
		w.asked(31)
		if r := w.net.Journal().Requests()[30]; r.Header.Get("If-None-Match") != `"1"` {
			w.Errorf("%v", r.Header)
		}
		if g := w.client.Generation("https://shop.example/"); g != 1 {
			w.Errorf("generation %d", g)
		}
	})
	inWorld(t, "AGT-5-07/accept-304-after-days", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.pass(72 * time.Hour)
		w.want(Valid, ok)
		w.serves(lab.Status(503))
		w.pass(23 * time.Hour)
		w.wantFinding(w.want(Valid, ok), lookleap.CodeStale)
	})
	inWorld(t, "AGT-5-07/accept-last-modified", Options{}, func(w *world) {
		w.servesFile(vectorFile, "Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.want(Valid, ok)
		if r := w.net.Journal().Requests()[1]; r.Header.Get("If-Modified-Since") != "Sat, 01 Jan 2000 00:00:00 GMT" {
			w.Errorf("%v", r.Header)
		}
	})
	inWorld(t, "AGT-10-01/accept-conditional-request", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.servesFile(signed("/new ALLOW"), "ETag", `"2"`)
		if p := w.want(Valid, ok); !p.Decide("/new").Allowed {
			w.Error("the new policy is not in force")
		}
		if g := w.client.Generation("https://shop.example/"); g != 2 {
			w.Errorf("generation %d", g)
		}
	})
	inWorld(t, "AGT-2-08/accept-kept", Options{}, func(w *world) {
		w.serves(lab.Status(404, "Cache-Control", "max-age=99999999"))
		w.want(Absent, lookleap.CodeNoPolicy)
		w.pass(24*time.Hour - time.Second)
		w.want(Absent, lookleap.CodeNoPolicy)
		w.asked(1)
		w.pass(time.Second)
		w.want(Absent, lookleap.CodeNoPolicy)
		w.asked(2)
	})
	inWorld(t, "AGT-2-08/accept-file-removed", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, ok)
		w.serves(lab.Status(404))
		w.pass(time.Hour)
		w.want(Absent, lookleap.CodeNoPolicy)
		w.serves(lab.Status(503))
		w.pass(time.Hour)
		w.want(Restricted, lookleap.CodeUnreachable) // the removed file does not come back
	})
	inWorld(t, "AGT-2-08/reject-once-the-file-appears", Options{}, func(w *world) {
		w.serves(lab.Status(404))
		w.want(Absent, lookleap.CodeNoPolicy)
		w.servesFile(signed("/ DISALLOW"))
		w.pass(time.Hour)
		if p := w.want(Valid, ok); p.Decide("/x").Allowed {
			w.Error("absence outlived its time")
		}
	})
	inWorld(t, "AGT-2-09/accept-after-an-hour", Options{}, func(w *world) {
		w.serves(lab.Status(451))
		w.want(Restricted, lookleap.CodeAccessDenied)
		w.servesFile(vectorFile)
		w.pass(time.Hour)
		w.want(Valid, ok)
	})
	inWorld(t, "AGT-5-07/reject-policy-that-was-replaced", Options{}, func(w *world) {
		w.servesFile(signed("/a ALLOW"))
		w.want(Valid, ok)
		w.servesFile(signed("/a DISALLOW"))
		w.pass(time.Hour)
		if p := w.want(Valid, ok); p.Decide("/a").Allowed {
			w.Error("the old policy is in force")
		}
	})
	inWorld(t, "AGT-10-01/reject-asking-again-too-early", Options{}, func(w *world) {
		w.serves(lab.Status(503))
		for range 14 {
			w.want(Restricted, lookleap.CodeUnreachable)
			w.pass(time.Second)
		}
		w.asked(1)
	})
	inWorld(t, "AGT-2-09/reject-for-an-hour", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.serves(lab.Status(401, "Cache-Control", "max-age=86400"))
		w.want(Restricted, lookleap.CodeAccessDenied) // the good copy does not stand in
		w.servesFile(vectorFile)
		w.pass(time.Hour - time.Second)
		w.want(Restricted, lookleap.CodeAccessDenied)
		w.pass(time.Second)
		w.want(Valid, ok)
	})
	for name, tt := range map[string]struct {
		answer  http.Handler
		finding lookleap.Code
	}{
		"AGT-2-07/accept-good-copy-stays": {lab.Body("text/html", "<html>"), lookleap.CodeSoft404},
		"AGT-2-10/accept-good-copy-stays": {lab.Status(403), lookleap.CodeForbidden},
		"AGT-2-10/accept-good-copy-400":   {lab.Status(400), lookleap.CodeStatus},
		"AGT-2-11/accept-good-copy-stays": {lab.Status(429, "Retry-After", "3600"), lookleap.CodeStale},
		"AGT-2-12/accept-good-copy-stays": {lab.Status(503), lookleap.CodeStale},
		"M17/accept-good-copy-stays":      {lab.Status(500), lookleap.CodeStale},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, ok)
			w.serves(tt.answer)
			w.pass(2 * time.Hour)
			p := w.want(Valid, ok)
			w.wantFinding(p, tt.finding)
			if p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
				w.Error("the good copy is not in force")
			}
			w.pass(22*time.Hour - time.Second)
			w.want(Valid, ok)
			if g := w.client.Generation("https://shop.example/"); g != 1 {
				w.Errorf("generation %d", g)
			}
			w.pass(time.Second)
			if p, _ := w.client.Policy(context.Background(), "https://shop.example/"); p.State() == Valid {
				w.Error("a copy of 24 hours is still in force")
			}
		})
	}
	for name, set := range map[string]func(w *world){
		"AGT-2-13/reject-despite-good-copy": func(w *world) { w.serves(lab.Status(206)) },
		"AGT-2-14/reject-despite-good-copy": func(w *world) { w.site.Redirect("/agents.txt", "http://shop.example/x") },
		"AGT-2-14/reject-private-despite-good-copy": func(w *world) {
			w.net.Site("inside.example").At("10.0.0.7")
			w.site.Redirect("/agents.txt", "https://inside.example/x")
		},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, ok)
			set(w)
			w.pass(time.Hour)
			w.want(Restricted, lookleap.CodeUnreachable)
		})
	}
	inWorld(t, "AGT-2-12/accept-recovery", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.site.Connection(lab.Refused)
		w.pass(23 * time.Hour)
		w.wantFinding(w.want(Valid, ok), lookleap.CodeStale)
		w.site.Connection()
		w.pass(time.Hour - time.Minute)
		if p := w.want(Valid, ok); len(p.Findings()) > 0 {
			w.Error(p.Findings())
		}
		w.pass(23 * time.Hour)
		w.want(Valid, ok)
	})
	inWorld(t, "AGT-2-11/reject-until-retry-after", Options{}, func(w *world) {
		w.serves(lab.Status(429, "Retry-After", "120"))
		w.want(Restricted, lookleap.CodeRateLimited)
		w.servesFile(vectorFile)
		w.pass(119 * time.Second)
		w.want(Restricted, lookleap.CodeRateLimited)
		w.asked(1)
		w.pass(time.Second)
		w.want(Valid, ok)
	})
	for name, tt := range map[string]struct {
		header []string
		wait   time.Duration
	}{
		"AGT-2-11/reject-default":           {nil, 10 * time.Minute},
		"AGT-2-11/reject-malformed":         {[]string{"Retry-After", "1.5"}, 10 * time.Minute},
		"AGT-2-11/reject-cap":               {[]string{"Retry-After", "99999999999999999999"}, 24 * time.Hour},
		"AGT-10-01/accept-retry-after-date": {[]string{"Retry-After", "Sat, 01 Jan 2000 00:30:00 GMT"}, 30 * time.Minute},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.serves(lab.Status(429, tt.header...))
			w.want(Restricted, lookleap.CodeRateLimited)
			w.pass(tt.wait - time.Second)
			w.want(Restricted, lookleap.CodeRateLimited)
			w.asked(1)
			w.pass(time.Second)
			w.want(Restricted, lookleap.CodeRateLimited)
			w.asked(2)
		})
	}
	inWorld(t, "AGT-10-01/accept-backoff", Options{}, func(w *world) {
		w.serves(lab.Status(503))
		for seconds := range 24 * 3600 {
			if w.want(Restricted, lookleap.CodeUnreachable); seconds > 0 && seconds%600 == 0 && seconds <= 600 {
				w.asked(len(w.net.Journal().Requests()))
			}
			w.pass(time.Second)
		}
		var gaps []time.Duration
		requests := w.net.Journal().Requests()
		for i := 1; i < len(requests); i++ {
			gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
		}
		for i, gap := range gaps {
			whole := min(30*time.Second<<min(i, 10), time.Hour)
			if gap < whole/2 || gap > whole+time.Second {
				w.Errorf("gap %d is %v, want between %v and %v", i, gap, whole/2, whole)
			}
		}
		if len(gaps) < 24 || len(gaps) > 70 {
			w.Errorf("%d attempts in a day", len(gaps)+1)
		}
	})
	inWorld(t, "AGT-10-01/accept-retry-after-of-503", Options{}, func(w *world) {
		w.serves(lab.Status(503, "Retry-After", "7200"))
		w.want(Restricted, lookleap.CodeUnreachable)
		w.pass(2*time.Hour - time.Second)
		w.want(Restricted, lookleap.CodeUnreachable)
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-one-fetch-in-flight", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lab.Delay(time.Second))
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() { w.want(Valid, ok) })
		}
		callers.Wait()
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-one-caller-leaves", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lab.Delay(time.Second))
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := w.client.Policy(ctx, "https://shop.example/"); !errors.Is(err, context.DeadlineExceeded) {
				w.Error(err)
			}
		})
		callers.Go(func() { w.want(Valid, ok) })
		callers.Wait()
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-cancel-is-not-kept", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lab.Delay(time.Second))
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := w.client.Policy(ctx, "https://shop.example/"); !errors.Is(err, context.DeadlineExceeded) {
			w.Error(err)
		}
		w.want(Valid, ok)
	})
	t.Run("AGT-10-02/accept-few-requests", func(t *testing.T) {
		inWorld(t, "day", Options{}, func(w *world) {
			w.servesFile(vectorFile, "Cache-Control", "max-age=86400")
			for range 24 * 60 {
				w.want(Valid, ok)
				w.pass(time.Minute)
			}
			w.asked(1)
		})
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
		w.want(Restricted, lookleap.CodeHashMissing)
		if now := w.client.Generation("https://shop.example/"); now <= before.Generation {
			w.Errorf("generation %d of the decision, %d now", before.Generation, now)
		}
		w.serves(lab.Status(503))
		w.pass(10 * time.Minute)
		w.want(Restricted, lookleap.CodeUnreachable) // the good copy does not come back
		w.serves(lab.Status(403))
		w.pass(time.Hour)
		w.want(Absent, lookleap.CodeForbidden)
		w.serves(lab.Status(304))
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
		w.serves(lab.Status(503))
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
			w.serves(lab.Status(503))
			w.pass(10 * time.Minute)
			w.want(Restricted, lookleap.CodeUnreachable)
		})
	}
	inWorld(t, "AGT-5-06/accept-after-repair", Options{}, func(w *world) {
		w.serves(broken)
		w.want(Restricted, lookleap.CodeHashMissing)
		w.servesFile(vectorFile)
		w.pass(10*time.Minute - time.Second)
		w.want(Restricted, lookleap.CodeHashMissing)
		w.asked(1)
		w.pass(time.Second)
		w.want(Valid, lookleap.CodeOK)
	})
	inWorld(t, "AGT-5-06/reject-unrepaired", Options{}, func(w *world) {
		w.servesFile("*0000\n", "Cache-Control", "max-age=86400")
		w.want(Restricted, lookleap.CodeHashMissing)
		w.pass(10 * time.Minute)
		w.want(Restricted, lookleap.CodeHashMissing)
		w.asked(2)
	})
}

func TestMemoryKeepsTheLaterAttempt(t *testing.T) {
	m := newMemory(10, 1<<20)
	m.put("o", &held{policy: restricted(errors.New("malformed")), turn: 2})
	m.put("o", &held{policy: mustParse(t, Options{}, "/a ALLOW"), turn: 1})
	if m.get("o").policy.State() != Restricted {
		t.Error("an older answer brought a good copy back")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory(1000, 100_000)
	p := mustParse(t, Options{}, numbered(500, "/%d ALLOW")...)
	for i := range 100 {
		m.put(strings.Repeat("x", i), &held{policy: p, good: &goodCopy{policy: p}})
		m.put(strings.Repeat("x", i), &held{policy: p, good: &goodCopy{policy: p}})
	}
	if m.octets > 100_000 || m.octets != m.lru.Len()*p.octets() || m.lru.Len() < 2 {
		t.Errorf("%d octets in %d entries of %d", m.octets, m.lru.Len(), p.octets())
	}
}
