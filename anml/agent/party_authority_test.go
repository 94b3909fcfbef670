package agent

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
)

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
	for _, section := range append(anmltrust.AllSections.Sections(), anmltrust.State) {
		if owner, a := p.owner(p.doc.Site, section, start.Add(time.Second)); a != anmltrust.Dropped {
			t.Errorf("%s is of %s", section, owner.Domain)
		}
	}
	if e := p.Explain(); len(e.Assertions) != 2 || e.Assertions[0].Applied || e.Assertions[0].Why != "insecure-transport" {
		t.Errorf("%+v", e.Assertions)
	}
}
