package agent

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

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
