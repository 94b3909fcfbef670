package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
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
	net   *lab.Internet
	store Store
	s     *Session
}

func newMemo(t *testing.T) *memo {
	m := &memo{T: t, net: newLab(t), store: NewMemoryStore()}
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
	site.Body("/"+path, mediaType, doc)
	var faults []lab.Fault
	for i := 0; i < len(header); i += 2 {
		faults = append(faults, lab.Header(header[i], header[i+1]))
	}
	site.Fault("/"+path, faults...)
	p, err := m.s.Open(m.Context(), url)
	must(m, err)
	return p
}

func inform(text, attrs string) string {
	return `<knowledge><inform ` + attrs + `>` + text + `</inform></knowledge>`
}

// TestShownWithoutALifetime: only a use as a cache needs a lifetime.
func TestShownWithoutALifetime(t *testing.T) {
	for header, want := range map[string]error{"max-age=1": nil, "max-age=0": ErrUsage, "private": ErrUsage} {
		p := newMemo(t).tells("https://a.example/x", inform("x", `usage="cache"`), false, "Cache-Control", header)
		site := p.Document().Site
		for n := range site.Knowledge().Informs() {
			if err := p.Allowed(site, anmltrust.Knowledge, n.Node, anml.UsageDisplay); err != nil {
				t.Errorf("%s: %v", header, err)
			}
			if err := p.Allowed(site, anmltrust.Knowledge, n.Node, anml.UsageCache); err != want {
				t.Errorf("%s: %v", header, err)
			}
		}
	}
}

// Every usage in each of its lifetimes, now, in the next session, and later.
func TestContextUsage(t *testing.T) {
	for _, c := range []struct {
		usage, attrs, header    string // header: Cache-Control
		now, later, next, after string // at once; after 600 s; in a new session; in one after 600 s
	}{
		{"none", `ttl="600"`, "", "", "", "", ""},
		{"display", ``, "", "x", "x", "", ""},
		{"display", `ttl="600"`, "", "x", "", "", ""},
		{"display", `ttl="0"`, "", "x", "x", "", ""},
		{"cache", `ttl="600"`, "", "x", "", "x", ""},
		{"cache", `ttl="600"`, "max-age=60", "x", "", "x", ""},
		{"cache", ``, "max-age=600", "x", "", "x", ""},
		{"cache", ``, "max-age=6000", "x", "x", "x", "x"},
		{"cache", ``, "", "x", "x", "", ""},         // no lifetime: like display
		{"cache", `ttl="0"`, "", "x", "x", "", ""},  // likewise
		{"cache", `ttl="-5"`, "", "x", "x", "", ""}, // invalid: 0
		{"cache", `ttl="600"`, "no-store", "", "", "", ""},
		{"store", `ttl="600"`, "", "x", "x (stale)", "x", "x (stale)"},
		{"store", ``, "", "x", "x", "x", "x"},
		{"store", ``, "no-store", "", "", "", ""},
		{"train", `ttl="600"`, "", "x", "x (stale)", "x", "x (stale)"},
		{"", `ttl="600"`, "", "x", "", "x", ""}, // nothing declared: like cache
		{"", ``, "", "x", "x", "", ""},
		{"STORE", `ttl="6000"`, "", "", "", "", ""}, // unknown: none
	} {
		for _, asJSON := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,%s,%s,json=%v", c.usage, c.attrs, c.header, asJSON), func(t *testing.T) {
				attrs := c.attrs
				if c.usage != "" {
					attrs += ` usage="` + c.usage + `"`
				}
				var header []string
				if c.header != "" {
					header = []string{"Cache-Control", c.header}
				}
				m := newMemo(t)
				m.tells("https://a.example/x", inform("x", attrs), asJSON, header...)
				m.has(c.now)
				m.net.Clock().Advance(599 * time.Second)
				if c.header != "max-age=60" {
					m.has(c.now)
				}
				m.net.Clock().Advance(time.Second)
				m.has(c.later)

				m = newMemo(t)
				m.tells("https://a.example/x", inform("x", attrs), asJSON, header...)
				if got := m.stored() > 0; got != (c.next != "") {
					t.Errorf("in the store: %v", got)
				}
				m.again()
				m.has(c.next)
				m.net.Clock().Advance(600 * time.Second)
				m.again()
				m.has(c.after)
				if got := m.stored() > 0; got != (c.after != "") {
					t.Errorf("in the store at last: %v", got)
				}
			})
		}
	}
}

// Lifetimes count from the Date of the answer, less its age.
func TestContextAge(t *testing.T) {
	m := newMemo(t)
	m.tells("https://a.example/x", inform("x", `ttl="600" usage="cache"`), false, "Age", "590")
	m.has("x")
	m.net.Clock().Advance(10 * time.Second)
	m.has("")
	m.tells("https://a.example/y", inform("y", `ttl="600" usage="cache"`), false, "Age", "600")
	m.has("")
}

// What is told again replaces what was told before, and what has expired leaves
// the store when something new comes.
func TestContextReplaces(t *testing.T) {
	m := newMemo(t)
	m.tells("https://a.example/x", inform("x", `ttl="60" usage="cache"`), false)
	m.net.Clock().Advance(30 * time.Second)
	m.tells("https://a.example/y", inform("x", `ttl="60" usage="cache"`), false)
	m.has("x")
	m.net.Clock().Advance(40 * time.Second)
	m.has("x")
	m.net.Clock().Advance(20 * time.Second)
	m.has("")
	if m.stored() != 1 {
		t.Error("purged too early to show anything")
	}
	m.tells("https://a.example/z", inform("z", ``), false)
	if m.stored() != 0 {
		t.Error("what has expired lies in the store")
	}
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

// A site's section in the document of a server that may not speak for it is not handed out. It
// counts as told by that server: it restricts where values go, and permits nothing above display.
func TestContextOfAForeignSite(t *testing.T) {
	m := newMemo(t)
	p := m.tells("https://a.example/x", `<site domain="brand.example">`+inform("Member 4711-8822", `usage="train" ttl="600"`)+`</site>`, false)
	for site := range p.Document().Sites() {
		for n := range site.Knowledge().Informs() {
			if u := p.EffectiveUsage(site, anmltrust.Knowledge, n.Node); u != anml.UsageDisplay {
				t.Error(u)
			}
		}
	}
	m.has("")
	if m.stored() != 0 {
		t.Error("kept beyond the session")
	}
	if got := domains(sourcesOf(m.s, "brand.example", "4711-8822")); got != "a.example" {
		t.Error("from", got)
	}
	if got := domains(sourcesOf(m.s, "a.example", "4711-8822")); got != "" {
		t.Error("from", got)
	}
}

func TestContextLimits(t *testing.T) {
	net := newLab(t)
	store := NewMemoryStore()
	s := newSession(t, net, User{Store: store}, Options{Limits: Limits{Informs: 10}})
	tell := func(host string, list ...string) {
		t.Helper()
		var b strings.Builder
		for _, text := range list {
			b.WriteString(`<inform usage="store">` + text + `</inform>`)
		}
		pageFor(t, net, s, "https://"+host+"/"+fmt.Sprint(len(list)), `<knowledge>`+b.String()+`</knowledge>`)
	}
	tell("quiet.example", "Member 4711-8822")
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("number %06d", i))
	}
	tell("loud.example", many...)
	if got := texts(s.context, ""); got != "Member 4711-8822, "+strings.Join(many[21:], ", ") {
		t.Error(got)
	}
	if keys, _ := store.Keys(t.Context(), keyInform); len(keys) != 10 {
		t.Error(len(keys), "in the store")
	}
	if got := domains(sourcesOf(s, "b.example", "000003")); got != "loud.example" {
		t.Error("what was evicted still has a source:", got)
	}
	tell("huge.example", strings.Repeat("x", 11*informSize))
	if got := texts(s.context, "huge.example"); got != "" {
		t.Error("beyond all limits")
	}
	if got := domains(sourcesOf(s, "b.example", "anything")); got != "" {
		t.Error(got)
	}
}

// Whatever else of an inform is long counts as its text does.
func TestContextLimitsOfScopes(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{Limits: Limits{Informs: 10}})
	for i := range 12 {
		scope := strings.Repeat("s", 4*informSize)
		pageFor(t, net, s, fmt.Sprintf("https://a.example/%d", i), `<body><section id="`+scope+`">x</section></body>`+inform(fmt.Sprint("text ", i), `scope="`+scope+`"`))
	}
	if n := len(slices.Collect(s.context.Informs(""))); n != 2 {
		t.Error(n, "informs with a scope of a third of the limit")
	}
}

// What lies in the store beyond the limits, since several sessions wrote it, leaves
// when it is loaded.
func TestContextLimitsOfTheStore(t *testing.T) {
	net, store := newLab(t), NewMemoryStore()
	a, b := newSession(t, net, User{Store: store}, Options{}), newSession(t, net, User{Store: store}, Options{})
	for i := range 8 {
		for n, s := range []*Session{a, b} {
			pageFor(t, net, s, fmt.Sprintf("https://a.example/%d-%d", n, i), inform(fmt.Sprint(n, " ", i), `usage="store"`))
		}
	}
	s := newSession(t, net, User{Store: store}, Options{Limits: Limits{Informs: 10}})
	keys, _ := store.Keys(t.Context(), keyInform)
	if n := len(slices.Collect(s.context.Informs(""))); n != 10 || len(keys) != 10 {
		t.Error(n, "of 16, and stored:", len(keys))
	}
}

// What a service says of the same text now is what holds, in the store too.
func TestContextUsageTakenBack(t *testing.T) {
	for _, usage := range []string{"none", "display", "cache"} {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="store"`), false)
		m.tells("https://a.example/y", inform("x", `usage="`+usage+`"`), false)
		if n := m.stored(); n != 0 {
			t.Errorf("%s: %d in the store", usage, n)
		}
		m.again()
		m.has("")
	}
}

// The end of a session purges from the store what has expired.
func TestContextPurgesAtTheEnd(t *testing.T) {
	m := newMemo(t)
	m.tells("https://a.example/x", inform("x", `ttl="60" usage="cache"`), false)
	m.net.Clock().Advance(time.Minute)
	must(t, m.s.Close())
	if n := m.stored(); n != 0 {
		t.Error(n, "in the store")
	}
}

// A clock that is set back makes nothing last longer.
func TestContextClockSetBack(t *testing.T) {
	tell := func(t *testing.T) *memo {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `ttl="600" usage="cache"`), false)
		return m
	}
	t.Run("expired", func(t *testing.T) {
		m := tell(t)
		m.net.Clock().Set(start.Add(600 * time.Second))
		m.has("")
		m.net.Clock().Set(start.Add(time.Second))
		m.has("")
	})
	t.Run("before-it-came", func(t *testing.T) {
		m := tell(t)
		m.net.Clock().Set(start.Add(-time.Hour))
		m.again()
		m.has("")
		if m.stored() != 0 {
			t.Error("a record from the future lasts")
		}
	})
	t.Run("deleted", func(t *testing.T) {
		m := newMemo(t)
		m.tells("https://a.example/x", inform("x", `usage="store"`), false)
		other := newSession(t, m.net, User{Store: m.store}, Options{})
		m.net.Clock().Set(start.Add(-time.Hour))
		_, err := m.s.Forget(t.Context(), "a.example")
		must(t, err)
		must(t, other.context.refresh(t.Context()))
		if got := texts(other.context, ""); got != "" {
			t.Error("survives its deletion:", got)
		}
	})
}

// What may be cached and says no time has no place in the store.
func TestContextRecordWithoutEnd(t *testing.T) {
	net, store := newLab(t), NewMemoryStore()
	i := &Inform{Text: "x", Serving: "a.example", Host: "a.example", Usage: anml.UsageCache, Received: start}
	data, err := json.Marshal(i)
	must(t, err)
	must(t, store.Put(t.Context(), i.key(), data))
	s := newSession(t, net, User{Store: store}, Options{})
	if got := texts(s.context, ""); got != "" {
		t.Error(got)
	}
}

func TestContextTraining(t *testing.T) {
	m := newMemo(t)
	m.tells("https://a.example/x", `<knowledge><inform usage="train">yes</inform><inform usage="store">no</inform></knowledge>`, false)
	training := func() (list []string) {
		for i := range m.s.context.Training() {
			list = append(list, i.Text)
		}
		return list
	}
	if got := training(); got != nil {
		t.Error("without consent:", got)
	}
	m.s.user.Policy.SetTrainingConsent(true)
	if got := training(); !slices.Equal(got, []string{"yes"}) {
		t.Error(got)
	}
}

// BenchmarkContextReceive takes up a page of ten informs of 1 KiB, known and new.
func BenchmarkContextReceive(b *testing.B) {
	net := newLab(b)
	s := newSession(b, net, User{}, Options{})
	var doc strings.Builder
	for i := range 10 {
		doc.WriteString(`<inform>` + strings.Repeat(fmt.Sprintf("text %d ", i), 128) + `</inform>`)
	}
	p := pageFor(b, net, s, "https://a.example/x", `<knowledge>`+doc.String()+`</knowledge>`)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.context.receive(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}
