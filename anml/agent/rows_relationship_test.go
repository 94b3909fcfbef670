package agent

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml"
)

// TestRelationshipRows shows that an unknown relationship is like none.
func TestRelationshipRows(t *testing.T) {
	refs := func(t *testing.T, relationship string) string {
		net := newLab(t)
		s := newSession(t, net, User{}, Options{})
		net.Site("maker.example").Body("/anml", anml.MediaTypeXML, service(`<head><title>Maker</title></head>`))
		p := pageFor(t, net, s, "https://shop.example/a", `<head><title>Shop</title><site-ref domain="maker.example" canonical="https://maker.example/anml" `+relationship+`/></head>`)
		var b strings.Builder
		for _, r := range p.refs {
			b.WriteString(r.Domain)
			if r.Page != nil {
				b.WriteString(" " + r.Page.Document().Head().Title())
			}
		}
		return b.String() + " " + strings.Join(net.Journal().Paths("maker.example"), " ")
	}
	t.Run("ANML-17.1-03", func(t *testing.T) {
		without := refs(t, "")
		t.Run("accept-unknown", func(t *testing.T) {
			if got := refs(t, `relationship="Owner"`); got != without {
				t.Errorf("%q, without %q", got, without)
			}
		})
		t.Run("reject-unknown", func(t *testing.T) {
			for _, word := range []string{"Owner", "affiliate ", "AFFILIATE", ""} {
				if anml.Relationship(word).Known() {
					t.Errorf("%q is known", word)
				}
			}
		})
	})
}
