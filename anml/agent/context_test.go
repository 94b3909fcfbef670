package agent

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// texts lists what a context yields for a domain.
func texts(c *Context, domain string) string {
	var list []string
	for i := range c.Informs(domain) {
		text := i.Text
		if i.Stale {
			text += " (stale)"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// memo is a user's memory across sessions on one lab.
type memo struct {
	*testing.T
	net   *lookleaptest.Internet
	store lookleap.Store
	s     *Session
}

func newMemo(t *testing.T) *memo {
	m := &memo{T: t, net: newLab(t), store: lookleap.NewMemoryStore()}
	m.again()
	return m
}

// again ends the session and begins another one.
func (m *memo) again() {
	m.Helper()
	if m.s != nil {
		must(m, m.s.Close())
		if got := texts(m.s.context, ""); got != "" {
			m.Errorf("after the session: %s", got)
		}
	}
	m.s = newSession(m, m.net, User{Store: m.store}, Options{})
}

// stored counts the informs in the store.
func (m *memo) stored() int {
	m.Helper()
	keys, err := m.store.Keys(m.Context(), keyInform)
	must(m, err)
	return len(keys)
}

func (m *memo) has(want string) {
	m.Helper()
	if got := texts(m.s.context, ""); got != want {
		m.Errorf("kept %q, want %q", got, want)
	}
}

// tells opens a document that a service sends with header fields, in XML or as
// its JSON image.
func (m *memo) tells(url, sections string, asJSON bool, header ...string) *Page {
	m.Helper()
	doc, mediaType := service(sections), anml.MediaTypeXML
	if asJSON {
		doc, mediaType = jsonOf(m, doc), anml.MediaTypeJSON
	}
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	site := m.net.Site(host)
	site.File("/"+path, mediaType, doc)
	var faults []lookleaptest.Fault
	for i := 0; i < len(header); i += 2 {
		faults = append(faults, lookleaptest.Header(header[i], header[i+1]))
	}
	site.Fault("/"+path, faults...)
	p, err := m.s.Open(m.Context(), url)
	must(m, err)
	return p
}

func inform(text, attrs string) string {
	return `<knowledge><inform ` + attrs + `>` + text + `</inform></knowledge>`
}

func TestContextByDomain(t *testing.T) {
	m := newMemo(t)
	m.tells("https://www.a.example/x", inform("from www", ""), false)
	m.tells("https://shop.a.example/x", inform("from shop", ""), false)
	m.tells("https://b.example/x", inform("from b", `scope="s" priority="high" confidentiality="restricted"`), false)
	for domain, want := range map[string]string{
		"":              "from www, from shop, from b",
		"a.example":     "from www, from shop",
		"A.Example.":    "from www, from shop",
		"www.a.example": "from www",
		"b.example:443": "from b",
		"c.example":     "",
		"example":       "",
		"not a domain":  "",
	} {
		if got := texts(m.s.context, domain); got != want {
			t.Errorf("%s: %q, want %q", domain, got, want)
		}
	}
	for i := range m.s.context.Informs("b.example") {
		if i.Serving != "b.example" || i.Owner != "b.example" || i.Document != "https://b.example/x" || i.Scope != "s" ||
			i.Priority != anml.PriorityHigh || i.Confidentiality != anml.Restricted || !i.Received.Equal(start) {
			t.Errorf("%+v", i)
		}
	}
	for range m.s.context.Informs("") {
		break
	}
}

// A service that tells something again with a lower usage takes the record back.
func TestToldAgainWithLess(t *testing.T) {
	t.Run("ANML-14.4-03/reject-what-was-stored-before", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="store"`), false)
		if n := m.stored(); n != 1 {
			t.Fatalf("%d are stored", n)
		}
		m.tells("https://a.example/x", inform("x", `usage="display"`), false)
		if n := m.stored(); n != 0 {
			t.Errorf("%d are stored", n)
		}
		m.has("x")
	})
}
