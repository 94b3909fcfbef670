package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		equals(m, texts(m.s.context, ""), "")
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
	equals(m, texts(m.s.context, ""), want)
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
		equals(t, texts(m.s.context, domain), want)
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
		equals(t, m.stored(), 1)
		m.tells("https://a.example/x", inform("x", `usage="display"`), false)
		equals(t, m.stored(), 0)
		m.has("x")
	})
}

// meeting is a store on which two sessions look for a salt before either has one.
type meeting struct {
	lookleap.Store
	looked *sync.WaitGroup
	first  *atomic.Int32
}

func (m meeting) Get(ctx context.Context, key string) ([]byte, error) {
	data, err := m.Store.Get(ctx, key)
	if key == keySalt && m.first.Add(1) <= 2 {
		m.looked.Done()
		m.looked.Wait()
	}
	return data, err
}

// Sessions that begin at the same moment agree on a salt: what one deletes, the
// other knows by its hashes.
func TestContextOneSalt(t *testing.T) {
	stores(t, func(t *testing.T, open func() lookleap.Store) {
		net := newLab(t)
		looked := new(sync.WaitGroup)
		looked.Add(2)
		first := new(atomic.Int32)
		var begun [2]*Session
		var errs [2]error
		var all sync.WaitGroup
		for n := range begun {
			store := meeting{open(), looked, first}
			all.Go(func() { begun[n], errs[n] = New(net.StubHost(), Options{}).NewSession(User{Store: store}) })
		}
		all.Wait()
		must(t, errors.Join(errs[:]...))
		a, b := begun[0], begun[1]
		equals(t, a.context.index.salt, b.context.index.salt)
		pageFor(t, net, a, "https://a.example/x", inform("Member 4711-8822", `usage="none"`))
		_, err := a.Forget(t.Context(), "a.example")
		must(t, err)
		must(t, b.context.refresh(t.Context()))
		equals(t, domains(sourcesOf(b, "b.example", "4711-8822")), "-a.example")
	})
}

// failing is a store that cannot write below a prefix.
type failing struct {
	lookleap.Store
	prefix string
}

func (f failing) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if strings.HasPrefix(key, f.prefix) {
		return errTest
	}
	return f.Store.Put(ctx, key, old, value, until)
}
