package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// probed is a context that calls a function each time it is asked whether it ended.
type probed struct {
	context.Context
	probe func() error
}

func (p *probed) Err() error { return cmp.Or(p.Context.Err(), p.probe()) }

// floods are documents that make a session remember much, and how often reading
// one of them looks whether its caller still waits.
var floods = map[string]struct {
	doc    string
	probes int
}{
	"many-informs":    {"<knowledge>" + numbered(2000, "<inform>fact %d of many</inform>") + "</knowledge>", 2000},
	"one-long-inform": {"<knowledge><inform>" + numbered(20_000, "word%d ") + "</inform></knowledge>", 100},
	"covered-by-all": {"<knowledge>" + numbered(2000, `<inform usage="store">fact %d</inform>`) + "</knowledge><body>" +
		numbered(5000, `<section id="a"/>`) + "</body><footer>" + numbered(5000, `<rights scope="a" usage="store"/>`) + "</footer>", 2000},
}

// numbered repeats a text with numbers in the place of %d.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

func TestCostOfReceiving(t *testing.T) {
	t.Run("O01", func(t *testing.T) {
		for name, flood := range floods {
			// receive lets a session without memory take up the document.
			receive := func(t *testing.T, probe func(*Context) error) (*Context, error) {
				net := newLab(t)
				p := pageFor(t, net, newSession(t, net, User{}, Options{}), shopOrigin+"/doc", flood.doc)
				p.session = newSession(t, net, User{Store: NewMemoryStore()}, Options{})
				c := p.session.context
				return c, c.receive(&probed{t.Context(), func() error { return probe(c) }}, p)
			}
			t.Run("accept-others-meanwhile-"+name, func(t *testing.T) {
				probes := 0
				c, err := receive(t, func(c *Context) error {
					if probes++; !c.mu.TryLock() {
						t.Fatal("the session's context is locked while a document is worked on")
					}
					c.mu.Unlock()
					return nil
				})
				if err != nil || probes < flood.probes || c.informs.len() == 0 {
					t.Errorf("%v, %d probes, %d informs", err, probes, c.informs.len())
				}
			})
			t.Run("reject-after-deadline-"+name, func(t *testing.T) {
				probes := 0
				c, err := receive(t, func(*Context) error {
					if probes++; probes < 10 {
						return nil
					}
					return context.DeadlineExceeded
				})
				if !errors.Is(err, context.DeadlineExceeded) || probes > 12 || c.informs.len() > 10 || len(c.index.links) > 10*indexPiece {
					t.Errorf("%v, %d probes, %d informs, %d hashes", err, probes, c.informs.len(), len(c.index.links))
				}
			})
		}
		t.Run("reject-open-after-cancel", func(t *testing.T) {
			net := newLab(t)
			host := net.Host()
			ctx, cancel := context.WithCancel(t.Context())
			host.Observe = func(_ context.Context, e lookleap.Event) {
				if e.Code == CodeImpersonation { // the last that is found out before informs are taken up
					cancel()
				}
			}
			net.Site("shop.example").Body("/.well-known/anml", anml.MediaTypeXML, service(
				`<interact><action id="a" method="GET" endpoint="https://other.example/"/></interact>`+floods["many-informs"].doc))
			s, err := New(host, Options{}).NewSession(User{})
			must(t, err)
			if _, err := s.Open(ctx, shopOrigin+"/.well-known/anml"); lookleap.CodeOf(err) != lookleap.CodeCancelled {
				t.Error(err)
			}
		})
		t.Run("accept-as-a-plain-list", func(t *testing.T) { sameAsList(t) })
	})
}

// sameAsList compares informs with a list that is searched from end to end.
func sameAsList(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	s, list := newInforms(), []*Inform(nil)
	leave := func(i *Inform) {
		s.remove(s.get(i))
		list = slices.DeleteFunc(list, func(other *Inform) bool { return other == i })
	}
	for range 3000 {
		i := &Inform{Serving: fmt.Sprintf("%c.example", 'a'+r.IntN(9)), Text: strings.Repeat("x", r.IntN(40))}
		if k := s.get(i); k != nil {
			leave(k.Inform)
		}
		s.add(i)
		list = append(list, i)
		octets := map[string]int{}
		for _, i := range list {
			octets[i.Serving] += i.size()
		}
		for len(list) > 50 {
			most := ""
			for domain, n := range octets {
				if most == "" || n > octets[most] || n == octets[most] && domain < most {
					most = domain
				}
			}
			oldest := list[slices.IndexFunc(list, func(i *Inform) bool { return i.Serving == most })]
			if got := s.oldest().Inform; got != oldest {
				t.Fatalf("%+v leaves, want %+v", got, oldest)
			}
			octets[most] -= oldest.size()
			leave(oldest)
		}
		got := []*Inform{}
		for k := range s.each() {
			got = append(got, k.Inform)
		}
		if !slices.Equal(got, list) {
			t.Fatal("the order differs")
		}
	}
}
