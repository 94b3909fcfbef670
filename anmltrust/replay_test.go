package anmltrust_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestServerOf: who delivered a document, by its final URL alone.
func TestServerOf(t *testing.T) {
	for _, c := range []struct{ id, name, url, host, domain string }{
		{"ANML-3-06", "accept-port", "https://CDN.Example.NET:443/anml", "cdn.example.net", "example.net"},
		{"ANML-3-06", "accept-final-dot", "https://cdn.example.net./x", "cdn.example.net", "example.net"},
		{"ANML-3-06", "accept-unicode", "https://bücher.example/x", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"ANML-3-07", "accept-url-alone", "https://a.b.example.co.uk", "a.b.example.co.uk", "example.co.uk"},
		{"ANML-3-08", "accept-private-section", "https://x.foo.github.io/", "x.foo.github.io", "foo.github.io"},
		{"ANML-12.5-26", "accept-final-url", "https://b.example/x", "b.example", "b.example"},
		{"ANML-12.5-26", "accept-port-and-case", "https://CDN.B.example:8443/x", "cdn.b.example", "b.example"},
		{"ANML-12.5-26", "accept-final-dot", "https://cdn.b.example./x", "cdn.b.example", "b.example"},
		{"ANML-12.5-26", "accept-final-dot-and-port", "https://cdn.b.example.:8443/x", "cdn.b.example", "b.example"},
		{"ANML-12.5-26", "accept-unicode", "https://cdn.bücher.example/x", "cdn.xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"ANML-12.5-27", "accept-below-a-private-suffix", "https://a.shop1.github.io/", "a.shop1.github.io", "shop1.github.io"},
		{"ANML-12.5-27", "accept-suffixes", "https://x.y.example.co.uk/", "x.y.example.co.uk", "example.co.uk"},
		{"ANML-12.5-27", "accept-private", "https://shop1.github.io/", "shop1.github.io", "shop1.github.io"},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if s, err := anmltrust.ServerOf(c.url); err != nil || s.Host != c.host || s.Domain != c.domain {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	for _, bad := range []string{"https://192.0.2.1/", "https://localhost/", "https://co.uk/", "https://github.io/", "https://[::1]/"} {
		t.Run("ANML-12.5-27/reject-"+url.PathEscape(bad), func(t *testing.T) {
			if _, err := anmltrust.ServerOf(bad); lookleap.CodeOf(err) != anmltrust.CodeServingHostInvalid {
				t.Error(err)
			}
		})
	}
	t.Run("ANML-3-09/accept-two-names", func(t *testing.T) {
		a := newWorld(t, manifestOnly).willing().granted(anmltrust.CodeListed)
		if a.Site != "brand.example" || a.Server.Domain != "shop.example" {
			t.Errorf("%+v", a)
		}
	})
}

// TestReplay judges stored verdicts again, through JSON and without any network.
func TestReplay(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"query": isSecure, "manifest": func(*world) {}, "fallback": func(w *world) { w.secure().status(503) }, "404": func(w *world) { w.secure().status(404) },
		"bogus": func(w *world) { w.dns.Bogus() }, "no-record": func(w *world) { w.dns.Clear() }, "tls": func(w *world) { w.brand.Certificate(lookleaptest.CertificateSelfSigned) },
		"malformed": manifestBody("{"), "not-listed": manifestBody(manifest(entry("x.example", 1))), "version": manifestBody(`{"version":"2"}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, both).willing()
			prepare(w)
			for range 2 { // from the wire, and from memory
				a, err := w.ask(shopClaim)
				data, jerr := json.Marshal(verdictOf(t, a, err))
				if jerr != nil {
					t.Fatal(jerr)
				}
				var stored lookleap.Verdict
				if err := json.Unmarshal(data, &stored); err != nil {
					t.Fatal(err)
				}
				again, aerr := anmltrust.Replay(&stored, stored.CheckedAt)
				if lookleap.CodeOf(aerr) != lookleap.CodeOf(err) || (again == nil) != (a == nil) || again != nil && (again.Tier != a.Tier || again.Scope != a.Scope || again.Reason != a.Reason) {
					t.Errorf("%+v, %v became %+v, %v", a, err, again, aerr)
				}
				if late, _ := anmltrust.Replay(&stored, stored.CheckedAt.Add(100*24*time.Hour)); late != nil {
					t.Error("it still holds after a hundred days")
				}
				if a == nil {
					continue
				}
				if last, err := anmltrust.Replay(&stored, a.Expires.Add(-time.Second)); err != nil || !last.Expires.Equal(a.Expires) {
					t.Errorf("it ends too early: %+v, %v", last, err)
				}
				if late, err := anmltrust.Replay(&stored, a.Expires); late != nil || !lookleap.CodeOf(err).Known() {
					t.Errorf("what has ended is granted again: %+v", late)
				}
			}
		})
	}
	if _, err := anmltrust.Replay(&lookleap.Verdict{}, start); err == nil {
		t.Error("nothing was judged")
	}
}

// TestRecordOfReusedGrant: a grant that answers again has its record, whatever stands in it.
func TestRecordOfReusedGrant(t *testing.T) {
	t.Run("accept-record-as-it-was", func(t *testing.T) {
		w := newWorld(t, "").setRecord(queryOnly, "other=\xff").query(authorized)
		c := shopClaim
		c.Verified = start.Add(-time.Hour)
		first, err := w.ask(c)
		w.wants(first, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		again, err := w.ask(c)
		if w.wants(again, err, anmltrust.Full, anmltrust.CodeQueryAuthorized); !again.Cached || !bytes.Equal(again.Verdict.Record, first.Verdict.Record) {
			t.Errorf("cached %v:\n%s\n%s", again.Cached, first.Verdict.Record, again.Verdict.Record)
		}
	})
	t.Run("accept-hint-after-the-last-year", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		c := shopClaim
		c.Verified = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, cached := range []bool{false, true} {
			a, err := w.ask(c)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			if again, err := anmltrust.Replay(a.Verdict, start); err != nil || again.Tier != a.Tier || a.Cached != cached {
				t.Errorf("%+v, %v, cached: %v", again, err, a.Cached)
			}
		}
	})
}

// TestClock: what has ended does not come back, and nothing stays longer, when the clock is set
// back.
func TestClock(t *testing.T) {
	const month = 30 * 24 * time.Hour
	t.Run("O10", func(t *testing.T) {
		t.Run("reject-expired-grant", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(answer(2, "2026-06-01T12:30:00Z", "body"))
			w.granted(anmltrust.CodeQueryAuthorized)
			w.status(503).after(30 * time.Minute).denied(anmltrust.CodeQueryUnavailable)
			w.after(-20 * time.Minute).denied(anmltrust.CodeQueryUnavailable)
			w.saw(anmltrust.CodeClockRollback)
		})
		t.Run("reject-grant-that-had-ended-while-the-dns-failed", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(answer(2, "2026-06-01T12:30:00Z", "body"))
			dns, fails := w.host.Resolver, false
			w.host.Resolver = resolverFunc(func(ctx context.Context, name string, rr lookleap.RRType) (*lookleap.DNSAnswer, error) {
				if fails {
					return nil, errors.New("no answer")
				}
				return dns.Lookup(ctx, name, rr)
			})
			w.granted(anmltrust.CodeQueryAuthorized)
			fails = true
			w.after(2 * time.Hour).denied(lookleap.CodeDNSError)
			fails = false
			w.status(503).after(-100 * time.Minute).denied(anmltrust.CodeQueryUnavailable)
		})
		for _, mechanism := range []string{queryOnly, manifestOnly} {
			t.Run("reject-withdrawn-grant", func(t *testing.T) {
				w := newWorld(t, mechanism).willing()
				if a, err := w.ask(shopClaim); err != nil || a.Tier != anmltrust.Full {
					t.Fatal(a, err)
				}
				w.after(-24 * time.Hour).setRecord("v=anml1") // withdrawn: no source is named any more
				if a, err := w.ask(shopClaim); err == nil {
					t.Errorf("%+v", a)
				}
			})
		}
		t.Run("accept-after-a-held-retry", func(t *testing.T) {
			w := newWorld(t, queryOnly).status(429, "Retry-After", "3600")
			w.denied(anmltrust.CodeQuery429)
			w.after(-24 * time.Hour).query(authorized).denied(anmltrust.CodeQuery429) // the limiter waits as long as it was told
			w.after(time.Hour).granted(anmltrust.CodeQueryAuthorized)
		})
		t.Run("accept-after-the-clock-was-wrong", func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.after(12 * month)
			if _, err := w.ask(shopClaim); err == nil {
				t.Error("what expired is granted")
			}
			w.after(-12 * month).granted(anmltrust.CodeQueryAuthorized)
		})
	})
}

// freshResolver tells fresh questions from others.
type freshResolver struct {
	lookleap.Resolver
	fresh, others int
}

func (r *freshResolver) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	r.others++
	return r.Resolver.Lookup(ctx, name, t)
}

func (r *freshResolver) LookupFresh(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	r.fresh++
	return r.Resolver.Lookup(ctx, name, t)
}

func TestVerifyFreshAsksTheServers(t *testing.T) {
	t.Run("O20", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		r := &freshResolver{Resolver: w.host.Resolver}
		v := anmltrust.NewVerifier(&lookleap.Host{Resolver: r, Fetcher: w.host.Fetcher, Now: w.host.Now}, anmltrust.Rules{})
		t.Run("accept-normal-from-the-resolvers-cache", func(t *testing.T) {
			if _, err := v.Verify(t.Context(), shopClaim); err != nil || r.fresh != 0 || r.others != 1 {
				t.Errorf("%d fresh, %d other questions: %v", r.fresh, r.others, err)
			}
		})
		t.Run("reject-cached-answer-for-a-fresh-one", func(t *testing.T) {
			if _, err := v.VerifyFresh(t.Context(), shopClaim); err != nil || r.fresh != 1 || r.others != 1 {
				t.Errorf("%d fresh, %d other questions: %v", r.fresh, r.others, err)
			}
		})
	})
}

// TestVerdictRecords: what the record of a verdict says about how it was found.
func TestVerdictRecords(t *testing.T) {
	record := func(w *world, a *anmltrust.Authorization, err error) string {
		t.Helper()
		v := verdictOf(t, a, err)
		if again, replayed := anmltrust.Replay(v, w.net.Clock().Now()); (again == nil) != (a == nil) || lookleap.CodeOf(replayed) != lookleap.CodeOf(err) {
			t.Errorf("%+v, %v; replayed: %+v, %v", a, err, again, replayed)
		}
		return string(v.Record)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := newWorld(t, queryOnly).query(authorized)
	for name, c := range map[string]struct {
		ask   func(context.Context, anmltrust.Claim) (*anmltrust.Authorization, error)
		fresh bool
	}{"verify": {w.v.Verify, false}, "fresh": {w.v.VerifyFresh, true}} {
		for _, ctx := range []context.Context{t.Context(), ended} {
			a, err := c.ask(ctx, claimFrom("https://"+name+".example/x"))
			if text := record(w, a, err); strings.Contains(text, `"fresh":true`) != c.fresh || (err == nil) != (ctx == t.Context()) {
				t.Errorf("%s: %s, %v", name, text, err)
			}
		}
	}
	w = newWorld(t, "")
	w.setRecord(w.exhausting()...)
	a, err := w.ask(shopClaim)
	w.wants(a, err, anmltrust.Unlisted, lookleap.CodeTimeout)
	record(w, a, err)
	w = newWorld(t, queryOnly)
	w.dns.ServFail()
	a, err = w.ask(shopClaim)
	w.wants(a, err, anmltrust.Unlisted, lookleap.CodeDNSError)
	if text := record(w, a, err); !strings.Contains(text, `"outcome":"error"`) || !strings.Contains(text, `"cause":"`) {
		t.Errorf("%s", text)
	}
}
