package agent

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

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
