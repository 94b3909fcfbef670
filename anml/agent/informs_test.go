package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
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
	"many-informs": {"<knowledge>" + numbered(2000, "<inform>fact %d of many</inform>") + "</knowledge>", 2000},
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
				p.session = newSession(t, net, User{Store: lookleap.NewMemoryStore()}, Options{})
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
				if err != nil || probes < flood.probes || len(c.informs.all) == 0 {
					t.Errorf("%v, %d probes, %d informs", err, probes, len(c.informs.all))
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
				if !errors.Is(err, context.DeadlineExceeded) || probes > 12 || len(c.informs.all) > 10 {
					t.Errorf("%v, %d probes, %d informs", err, probes, len(c.informs.all))
				}
			})
		}
	})
}

var levels = []string{"none", "display", "cache", "store", "train"}

// TestUsageRows shows the rows about what content may be used for.
func TestUsageRows(t *testing.T) {
	// uses are what an inform with these attributes in a document with these rights
	// may be put to: a letter for each of display, cache, store, train.
	uses := func(t *testing.T, attrs, more string, consent bool) (letters string) {
		m := newMemo(t)
		m.s.user.Policy.SetTrainingConsent(consent)
		for _, asJSON := range []bool{false, true} {
			p := m.tells("https://a.example/x", inform("x", attrs)+more, asJSON, "Cache-Control", "max-age=600")
			var got strings.Builder
			for site := range p.Document().Containers() {
				for n := range site.Knowledge().Informs() {
					for use := anml.UsageNone; use <= anml.UsageTrain; use++ {
						err := p.Allowed(site, anmltrust.Knowledge, n.Node, use)
						if err != nil && !errors.Is(err, ErrUsage) {
							t.Error(err)
						}
						if err == nil {
							got.WriteByte("ndcst"[use])
						}
					}
				}
			}
			if asJSON && got.String() != letters {
				t.Errorf("in JSON %q, in XML %q", got.String(), letters)
			}
			letters = got.String()
		}
		return letters
	}
	matrix := map[string]string{"none": "n", "display": "nd", "cache": "ndc", "store": "ndcs", "train": "ndcst"}
	for id, levels := range map[string][]string{
		"ANML-8.12.1-02": levels, "ANML-14.4-01": levels, "ANML-16.5-07": levels,
		"ANML-16.5-02": {"none"}, "ANML-16.5-03": {"display"}, "ANML-16.5-04": {"cache"}, "ANML-16.5-05": {"store"}, "ANML-16.5-06": {"train"},
	} {
		for _, level := range levels {
			t.Run(id+"/accept-"+level, func(t *testing.T) {
				equals(t, uses(t, `usage="`+level+`"`, "", true), matrix[level])
			})
		}
		t.Run(id+"/reject-unknown", func(t *testing.T) {
			equals(t, uses(t, `usage="Train"`, "", true), "n")
		})
	}
	right := func(attrs string) string { return `<footer><rights ` + attrs + `>all</rights></footer>` }
	for _, c := range []struct{ name, attrs, more, want string }{
		{"ANML-8.12.1-04/accept-nothing-declared", "", "", "ndc"},
		{"ANML-8.12.1-04/reject-rights-without-usage", `usage="train"`, right(""), "n"},
		{"ANML-8.12.1-04/accept-lowest", `usage="store"`, right(`usage="cache"`), "ndc"},
		{"ANML-16.5-11/accept-lowest", `usage="store"`, right(`usage="cache"`), "ndc"},
		{"ANML-16.5-11/reject-widening", `usage="cache"`, right(`usage="train"`), "ndc"},
		{"ANML-16.5-11/accept-other-scope", `usage="store"`, `<body><section id="s">text</section></body>` + right(`scope="s"`), "ndcs"},
		{"ANML-16.5-12/accept-like-cache", ``, "", "ndc"},
		{"ANML-16.5-12/reject-store", `ttl="5"`, "", "ndc"},
		{"ANML-16.5-13/reject-unknown-scope", `usage="store"`, right(`usage="display" scope="nowhere"`), "nd"},
		{"ANML-16.5-13/accept-known-scope", `usage="store"`, `<body><section id="s">text</section></body>` + right(`usage="display" scope="s"`), "ndcs"},
		{"K22/reject-rights-none", `usage="train"`, right(`usage="none"`), "n"},
		{"K22/reject-unknown", `usage="everything"`, right(`usage="train"`), "n"},
		{"K22/reject-unknown-rights", `usage="train"`, right(`usage="everything"`), "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			equals(t, uses(t, c.attrs, c.more, true), c.want)
		})
	}
	t.Run("ANML-16.5-02/reject-kept", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="none"`), false)
		m.has("")
	})
	for id, c := range map[string]struct {
		usage, attrs, at, next string
	}{
		"ANML-14.4-02": {"none", `ttl="600"`, "", ""},
		"ANML-14.4-03": {"display", `ttl="600"`, "x", ""},
		"ANML-14.4-04": {"cache", `ttl="600"`, "x", "x"},
		"ANML-14.4-06": {"store", ``, "x", "x"},
	} {
		t.Run(id+"/accept-session", func(t *testing.T) {
			m := newMemo(t)
			p := m.tells("https://a.example/x", inform("x", `usage="`+c.usage+`" `+c.attrs), false)
			m.has(c.at)
			for n := range p.Document().Knowledge().Informs() { // always readable now
				equals(t, n.Text(), "x")
			}
		})
		t.Run(id+"/reject-beyond", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="`+c.usage+`" `+c.attrs), false)
			m.again()
			m.has(c.next)
			equals(t, m.stored() > 0, (c.next != ""))
			if c.next == "" {
				return
			}
			if _, err := m.s.Forget(t.Context(), "a.example"); err != nil || m.stored() > 0 {
				t.Error("the user's deletion is above it", err)
			}
		})
	}
	t.Run("ANML-14.4-02/reject-document-cache", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="none"`), false, "Cache-Control", "max-age=600")
		m.net.Journal().Clear()
		if _, err := m.s.Open(t.Context(), "https://a.example/x"); err != nil || len(m.net.Journal().Paths("a.example")) == 0 {
			t.Error("kept as a whole", err)
		}
	})
	for name, c := range map[string]struct {
		own, document, http string
		life                time.Duration
	}{
		"inform":                 {`ttl="600"`, ``, "", 600 * time.Second},
		"document":               {``, `ttl="300"`, "", 300 * time.Second},
		"http":                   {``, ``, "max-age=200", 200 * time.Second},
		"inform-before-others":   {`ttl="100"`, `ttl="300"`, "max-age=200", 100 * time.Second},
		"document-before-others": {`ttl="600"`, `ttl="300"`, "max-age=900", 300 * time.Second},
		"http-before-others":     {`ttl="600"`, `ttl="300"`, "max-age=200", 200 * time.Second},
		"nothing":                {``, ``, "", 0},
		"zero":                   {`ttl="0"`, `ttl="300"`, "max-age=200", 0},
		"no-store":               {`ttl="600"`, `ttl="300"`, "no-store", 0},
	} {
		for _, id := range []string{"ANML-14.4-04", "ANML-14.4-05"} {
			t.Run(id+"/reject-after-lifetime-of-"+name, func(t *testing.T) {
				m := newMemo(t)
				site := m.net.Site("a.example").File("/x", anml.MediaTypeXML, strings.Replace(service(inform("x", `usage="cache" `+c.own)), "<anml ", "<anml "+c.document+" ", 1))
				if c.http != "" {
					site.Fault("/x", lookleaptest.Header("Cache-Control", c.http))
				}
				_, err := m.s.Open(t.Context(), "https://a.example/x")
				must(t, err)
				if c.life > 0 {
					m.net.Clock().Advance(c.life - time.Second)
					m.again()
					m.has("x")
					m.net.Clock().Advance(time.Second)
					m.has("")
				}
				if m.again(); m.stored() > 0 {
					t.Error("still in the store")
				}
				m.has("")
			})
		}
	}
	t.Run("ANML-14.4-05", func(t *testing.T) {
		t.Run("accept-until-then", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="cache" ttl="600"`), false)
			m.net.Clock().Advance(599 * time.Second)
			m.again()
			m.has("x")
		})
		t.Run("reject-after", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="cache" ttl="600"`), false)
			m.net.Clock().Advance(600 * time.Second)
			m.has("")
			m.again()
			m.has("")
			if m.stored() > 0 {
				t.Error("still in the store")
			}
		})
	})
	t.Run("ANML-14.4-07", func(t *testing.T) {
		t.Run("accept-with-consent", func(t *testing.T) {
			equals(t, uses(t, `usage="train"`, "", true), "ndcst")
		})
		t.Run("reject-without-consent", func(t *testing.T) {
			equals(t, uses(t, `usage="train"`, "", false), "ndcs")
		})
	})
	t.Run("ANML-14.4-08", func(t *testing.T) {
		t.Run("reject-permission-of-a-foreign-site", func(t *testing.T) {
			m := newMemo(t)
			p := m.tells("https://a.example/x", `<site domain="brand.example">`+inform("Member 4711-8822", `usage="train" ttl="600"`)+`</site>`, false)
			for site := range p.Document().Sites() {
				for n := range site.Knowledge().Informs() {
					equals(t, p.usage(site, anmltrust.Knowledge, n.Node, m.s.now()), anml.UsageDisplay)
				}
			}
			m.has("")
			equals(t, m.stored(), 0)
			equals(t, domains(sourcesOf(m.s, "brand.example", "4711-8822")), "a.example")
			equals(t, domains(sourcesOf(m.s, "a.example", "4711-8822")), "")
		})
		t.Run("accept-restriction-of-anybody", func(t *testing.T) {
			m := newMemo(t)
			p := m.tells("https://a.example/x", `<site domain="brand.example">`+inform("x", `usage="store"`)+`<footer><rights usage="none">mine</rights></footer></site>`, false)
			for site := range p.Document().Sites() {
				for n := range site.Knowledge().Informs() {
					equals(t, p.usage(site, anmltrust.Knowledge, n.Node, m.s.now()), anml.UsageNone)
				}
			}
			m.has("")
		})
		t.Run("reject-permission-over-http", func(t *testing.T) {
			m := newMemo(t)
			host := m.net.StubHost()
			host.Fetcher = unreported(m.net)
			var err error
			m.s, err = New(host, Options{}).NewSession(User{Store: m.store})
			must(t, err)
			p := m.tells("https://a.example/x", inform("Member "+secret, `usage="store"`), false)
			for n := range p.Document().Knowledge().Informs() {
				if got := p.usage(anml.Site{}, anmltrust.Knowledge, n.Node, m.s.now()); got > anml.UsageDisplay {
					t.Error(got)
				}
			}
			m.has("") // who speaks there is not known
			if n := m.stored(); n > 0 {
				t.Error(n, "kept beyond the session")
			}
			equals(t, len(sourcesOf(m.s, "b.example", secret)), 1)
		})
	})
	t.Run("ANML-16.5-08", func(t *testing.T) {
		m := newMemo(t)
		m.s.user.Policy.SetTrainingConsent(true)
		m.tells("https://a.example/x", `<knowledge><inform usage="cache" ttl="600">c</inform><inform usage="store">s</inform><inform usage="train">t</inform></knowledge>`, false)
		t.Run("reject-storing-cache", func(t *testing.T) {
			for i := range m.s.context.Informs("") {
				late := m.s.Allowed(i, anml.UsageCache, start.Add(600*time.Second))
				store := m.s.Allowed(i, anml.UsageStore, start)
				if (i.Text == "c") != errors.Is(late, ErrUsage) || (i.Text == "c") != errors.Is(store, ErrUsage) {
					t.Error(i.Text, late, store)
				}
			}
		})
		t.Run("reject-training-on-store", func(t *testing.T) {
			for i := range m.s.context.Informs("") {
				if i.Text != "t" && m.s.Allowed(i, anml.UsageTrain, start) == nil {
					t.Error(i.Text)
				}
			}
		})
		t.Run("accept-train", func(t *testing.T) {
			n := 0
			for i := range m.s.context.Informs("") {
				if m.s.Allowed(i, anml.UsageTrain, start) == nil {
					n++
				}
			}
			equals(t, n, 1)
		})
	})
	t.Run("ANML-16.5-09", func(t *testing.T) {
		t.Run("reject-switch", func(t *testing.T) {
			// Whatever options a host sets, none is above what the service permits.
			net := newLab(t)
			s := newSession(t, net, User{Store: lookleap.NewMemoryStore()}, Options{DNS: true, SameOriginOnly: true})
			pageFor(t, net, s, "https://a.example/x", inform("x", `usage="none"`))
			equals(t, texts(s.context, ""), "")
		})
		t.Run("accept-permitted", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `usage="display"`), false)
			m.has("x")
		})
	})
	t.Run("ANML-8.7.1-02", func(t *testing.T) {
		for name, c := range map[string]struct {
			attrs, header string
			life          time.Duration
		}{
			"own": {`ttl="60"`, "", 60}, "smallest-http": {`ttl="600"`, "max-age=60", 60}, "smallest-own": {`ttl="60"`, "max-age=600", 60},
		} {
			var header []string
			if c.header != "" {
				header = []string{"Cache-Control", c.header}
			}
			t.Run("accept-"+name, func(t *testing.T) {
				m := newMemo(t)
				m.tells("https://a.example/x", inform("x", c.attrs), false, header...)
				m.net.Clock().Advance(c.life*time.Second - time.Second)
				m.has("x")
			})
			t.Run("reject-"+name, func(t *testing.T) {
				m := newMemo(t)
				m.tells("https://a.example/x", inform("x", c.attrs), false, header...)
				m.net.Clock().Advance(c.life * time.Second)
				m.has("")
			})
		}
		t.Run("reject-no-store", func(t *testing.T) {
			m := newMemo(t)
			m.tells("https://a.example/x", inform("x", `ttl="60"`), false, "Cache-Control", "no-store")
			m.has("")
		})
		t.Run("accept-document-ttl", func(t *testing.T) {
			m := newMemo(t)
			doc := strings.Replace(service(inform("x", `ttl="600"`)), `role="service"`, `role="service" ttl="60"`, 1)
			pageFor(t, m.net, m.s, "https://a.example/x", doc)
			m.net.Clock().Advance(time.Minute)
			m.has("")
		})
	})
}
