package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// TestUsageOfOthers: rights that do not come from the owner of a section limit
// what may be done with it, and permit nothing (row X6).
func TestUsageOfOthers(t *testing.T) {
	const rights = `<footer><rights usage="%s" holder="x">all</rights></footer>`
	for _, c := range []struct {
		name, scope, body, footer string
		want                      anml.Usage
	}{
		{"accept-in-scope", `"body","footer"`, "store", fmt.Sprintf(rights, "train"), anml.UsageStore},
		{"accept-body-alone", `"body"`, "store", "", anml.UsageStore},
		{"reject-others-rights", `"body"`, "store", fmt.Sprintf(rights, "train"), anml.UsageDisplay},
		{"accept-limit", `"body"`, "store", fmt.Sprintf(rights, "none"), anml.UsageNone},
		{"accept-server-limit", ``, "store", fmt.Sprintf(rights, "none"), anml.UsageNone},
	} {
		for _, id := range []string{"X6", "ANML-12.5-21"} {
			t.Run(id+"/"+c.name, func(t *testing.T) {
				net := newLab(t)
				net.Name("_anml.brand.example").TXT("v=anml1;manifest=https://brand.example/m")
				net.Site("brand.example").Body("/m", anmltrust.ManifestMediaType, `{"version":"1.0","site":"brand.example","issued":"2026-05-01T00:00:00Z","expires":"2026-07-01T00:00:00Z","authorized-domains":[{"domain":"shop.example","tier":2,"scope":[`+c.scope+`]}]}`)
				p := pageFor(t, net, newSession(t, net, User{}, Options{}), "https://shop.example/anml",
					`<site domain="shop.example"><head><title>T</title></head></site><site domain="brand.example"><body usage="`+c.body+`">x</body>`+c.footer+`</site>`)
				site, _ := p.container("brand.example")
				if got := p.usage(site, anmltrust.Body, site.Body().Node, start); got != c.want {
					t.Errorf("%v, want %v", got, c.want)
				}
			})
		}
	}
}

// TestAllowedWithoutALifetime: content without a lifetime may be shown, and kept if it may be stored.
func TestAllowedWithoutALifetime(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{})
	for usage, letters := range map[string]string{"display": "nd", "cache": "nd", "store": "ndcs"} {
		p := pageFor(t, net, s, "https://shop.example/"+usage, inform("x", `usage="`+usage+`"`))
		for n := range p.doc.Knowledge().Informs() {
			got := ""
			for use := anml.UsageNone; use <= anml.UsageTrain; use++ {
				if err := p.Allowed(p.doc.Site, anmltrust.Knowledge, n.Node, use); err == nil {
					got += string("ndcst"[use])
				} else if err != ErrUsage {
					t.Error(err)
				}
			}
			if got != letters {
				t.Errorf("%s: %s, want %s", usage, got, letters)
			}
		}
	}
	if s.Allowed(Inform{Usage: anml.UsageStore, Received: start}, anml.UsageCache, start) != nil {
		t.Error("what may be stored may not be kept")
	}
}

// TestTellsMost: the service that told most is the one with the lower name, if two told as much.
func TestTellsMost(t *testing.T) {
	for _, c := range []struct {
		first, second string
		a, b          int // how much the two told
		want          string
	}{
		{"a.example", "b.example", 10, 10, "a.example"}, {"b.example", "a.example", 10, 10, "a.example"},
		{"a.example", "b.example", 10, 1, "a.example"}, {"b.example", "a.example", 10, 1, "b.example"},
		{"a.example", "b.example", 1, 10, "b.example"}, {"b.example", "a.example", 1, 10, "a.example"},
	} {
		s := newInforms()
		s.add(&Inform{Serving: c.first, Text: numbered(c.a, "x")})
		s.add(&Inform{Serving: c.second, Text: numbered(c.b, "x")})
		if got := s.oldest().Serving; got != c.want {
			t.Errorf("%s, want %s: %+v", got, c.want, c)
		}
	}
}

// TestWhoSpeaksNowhere: a site that is not in the document is that of no party.
func TestWhoSpeaksNowhere(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{})
	other := pageFor(t, net, s, "https://other.example/anml", `<body usage="train">x</body>`)
	p := pageFor(t, net, s, "https://shop.example/anml", `<body usage="train">x</body>`)
	for name, site := range map[string]anml.Site{"no-site": {}, "site-of-another-document": other.doc.Site} {
		t.Run("X5/reject-"+name, func(t *testing.T) {
			if owner, a := p.Owner(site, anmltrust.Body); a != anmltrust.Dropped {
				t.Errorf("it is of %q", owner.Domain)
			}
			if u := p.EffectiveUsage(site, anmltrust.Body, p.doc.Site.Body().Node); u != anml.UsageDisplay {
				t.Error(u)
			}
		})
	}
}

// TestIdentifyingThatEnds: a page whose parties could not be verified because the caller left is
// not opened, and the next caller gets the verified one.
func TestIdentifyingThatEnds(t *testing.T) {
	t.Run("ANML-12.2.3-01/reject-while-verifying", func(t *testing.T) {
		s := newStage(t, setting{doc: gettable})
		s.net.Name("_anml.brand.example").TXT("v=anml1;query=https://trust.example/authorize").TTL(time.Hour)
		serve(t, s.shop, "/brand", brandSite, false)
		ctx, leave := context.WithCancel(t.Context())
		s.net.Site("trust.example").HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
			leave()
			<-r.Context().Done()
		})
		p, err := s.session.Open(ctx, "https://www.shop.example/brand")
		if p != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", p, err)
		}
		s.net.Site("trust.example").Handle("/authorize", granting(s, "interact"))
		p, err = s.session.Open(t.Context(), "https://www.shop.example/brand")
		must(t, err)
		if party := p.Parties()[1]; party.Domain != "brand.example" || party.Tier != anmltrust.Full {
			t.Errorf("%+v", party)
		}
	})
	t.Run("ANML-13.3-07/reject-while-detecting", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		net := newLab(t)
		serve(t, net.Site("shop.example"), "/anml", `<persona><instructions>Be kind.</instructions></persona>`, false)
		s := newSession(t, net, User{}, Options{Detectors: []Detector{leaving(leave)}})
		if p, err := s.Open(ctx, "https://shop.example/anml"); p != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", p, err)
		}
	})
	t.Run("reject-no-site", func(t *testing.T) { // the serving domain has none of the document's sites
		net := newLab(t)
		p := pageFor(t, net, newSession(t, net, User{}, Options{}), "https://shop.example/anml", `<site domain="brand.example"><head><title>x</title></head></site>`)
		if party, a := p.Owner(anml.Site{}, anmltrust.Knowledge); a != anmltrust.Dropped {
			t.Errorf("%+v", party)
		}
	})
	t.Run("reject-a-document-without-a-usable-site", func(t *testing.T) { // its root is not a site of the server
		net := newLab(t)
		p := pageFor(t, net, newSession(t, net, User{}, Options{}), "https://shop.example/anml", `<site domain="shop.example"><body>x</body></site><site domain="shop.example"><body>y</body></site>`)
		if party, a := p.Owner(p.doc.Site, anmltrust.Body); a != anmltrust.Dropped || party.Domain != "" {
			t.Errorf("%+v, %v", party, a)
		}
	})
	t.Run("reject-before-verifying", func(t *testing.T) {
		net := newLab(t)
		p := pageFor(t, net, newSession(t, net, User{}, Options{}), "https://shop.example/anml", titled)
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if err := p.identify(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// leaving is a detector whose caller leaves.
type leaving context.CancelFunc

func (l leaving) Detect(ctx context.Context, _ string) (string, error) {
	l()
	return "", ctx.Err()
}

// TestInsecurePages: nothing of a document that came over plain http is anybody's
// (row A1).
func TestInsecurePages(t *testing.T) {
	net := newLab(t)
	p := pageFor(t, net, newSession(t, net, User{}, Options{}), "https://shop.example/anml", `<persona><tone value="formal"/></persona><body>x<img src="/i"/><nav next="/2"/></body>`)
	p.opened.insecure = true
	if list := p.Media(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if nav, _ := navOf(p); nav.Exists() {
		t.Error("its pages are followed")
	}
	if parties := p.assemble(nil); len(parties) != 1 || parties[0].Tier != anmltrust.Unlisted {
		t.Errorf("%+v", parties)
	}
	for _, section := range append(anmltrust.Sections(), anmltrust.State) {
		if owner, a := p.owner(p.doc.Site, section, start.Add(time.Second)); a != anmltrust.Dropped {
			t.Errorf("%s is of %s", section, owner.Domain)
		}
	}
	if e := p.Explain(); len(e.Assertions) != 2 || e.Assertions[0].Applied || e.Assertions[0].Why != "insecure-transport" {
		t.Errorf("%+v", e.Assertions)
	}
}

// BenchmarkIdentify is finding out who speaks in the draft's document of two
// sites, with verdicts from memory.
func BenchmarkIdentify(b *testing.B) {
	net := newLab(b)
	p := pageFor(b, net, newSession(b, net, User{}, Options{}), "https://shop.example/anml",
		`<site domain="shop.example"><persona><instructions>Assist the user with purchase and delivery questions for this order.</instructions></persona></site>`+
			`<site domain="brand.example"><knowledge><inform>x</inform></knowledge></site>`)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.identify(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
