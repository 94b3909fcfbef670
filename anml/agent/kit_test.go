package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The tests of this package are set in three scenes, in the order of the draft: a finding looks
// for the document of a shop, a stand decides what its asks may be told, and a stage carries out
// its actions. The tests of package agent_test, on who may speak for a party, have a retail
// (party_kit_test.go).

// start is when tests begin, by a clock that stands still until they move it.
var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// newLab is an internet whose clock stands still at start.
func newLab(t testing.TB) *lookleaptest.Internet {
	t.Helper()
	net := lookleaptest.ForTest(t)
	net.Clock().Freeze()
	net.Clock().Set(start)
	return net
}

// newSession is a session of a user on a lab.
func newSession(t testing.TB, net *lookleaptest.Internet, u User, o Options) *Session {
	t.Helper()
	return sessionOn(t, net.StubHost(), u, o)
}

func sessionOn(t testing.TB, host *lookleap.Host, u User, o Options) *Session {
	t.Helper()
	s, err := New(host, o).NewSession(u)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hasCode checks the code of an error, and that it has a text.
func hasCode(t testing.TB, err error, code lookleap.Code) {
	t.Helper()
	if lookleap.CodeOf(err) != code || err != nil && err.Error() == "" {
		t.Errorf("got %v, want the code %s", err, code)
	}
}

// second returns the error of a call with a result.
func second(_ any, err error) error { return err }

// third returns the error of a call with two results.
func third(_, _ any, err error) error { return err }

// equals checks a result.
func equals[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// pendingOf returns the error of a call that waits for the user.
func pendingOf(t testing.TB, err error) *lookleap.PendingError {
	t.Helper()
	pending, ok := errors.AsType[*lookleap.PendingError](err)
	if !ok {
		t.Fatalf("it did not wait: %v", err)
	}
	return pending
}

// isError checks what an error is.
func isError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// sameList checks the elements of a list.
func sameList[T comparable](t testing.TB, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// hasTexts checks that what a user or a service was shown contains each text, or does not contain
// it if it begins with "!".
func hasTexts(t testing.TB, shown string, want ...string) {
	t.Helper()
	for _, w := range want {
		text, not := strings.CutPrefix(w, "!")
		if strings.Contains(shown, text) == not {
			t.Errorf("%q is not as wanted in:\n%s", w, shown)
		}
	}
}

// hasRequests checks which requests reached a host, "GET /path" each.
func hasRequests(t testing.TB, net *lookleaptest.Internet, host string, want ...string) {
	t.Helper()
	if got := net.Journal().Paths(host); !slices.Equal(got, want) {
		t.Errorf("requests to %s: %q, want %q", host, got, want)
	}
}

var errTest = errors.New("test")

// service wraps sections into a faultless service document.
func service(sections string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<anml xmlns="` + anml.Namespace + `" version="1.0" role="service">` + sections + `</anml>`
}

// serve puts a document (or its sections) at a path of a site, as XML or as JSON.
func serve(t testing.TB, site *lookleaptest.Site, path, doc string, asJSON bool) {
	t.Helper()
	if !strings.HasPrefix(doc, "<?xml") {
		doc = service(doc)
	}
	mediaType := anml.MediaTypeXML
	if asJSON {
		doc, mediaType = jsonOf(t, doc), anml.MediaTypeJSON
	}
	site.File(path, mediaType, doc)
}

func jsonOf(t testing.TB, xml string) string {
	t.Helper()
	d, err := anml.ParseXML([]byte(xml), anml.ReadOptions{})
	must(t, err)
	data, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
	must(t, err)
	return string(data)
}

// pageFor serves a document (or its sections) at a URL of a lab and opens it.
func pageFor(t testing.TB, net *lookleaptest.Internet, s *Session, url, doc string) *Page {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	serve(t, net.Site(host), "/"+path, doc, false)
	p, err := s.Open(t.Context(), url)
	must(t, err)
	return p
}

// booking is a document with three actions and these asks, which are for the action "book".
func booking(constraints, asks string) string {
	if constraints != "" {
		constraints = "<constraints>" + constraints + "</constraints>"
	}
	return titled + constraints +
		`<interact><action id="book" method="POST" endpoint="/book"><param name="q"/><param name="email"/></action>` +
		`<action id="other" method="POST" endpoint="/other"/><action id="find" method="GET" endpoint="/find"><param name="q" description="what to look for"/><param name="email" description="where to write to"/></action></interact>` +
		`<knowledge>` + asks + `</knowledge>`
}

// rule and askFor are a disclosure rule and an ask.
func rule(field, requires string) string {
	return `<disclosure field="` + field + `" requires="` + requires + `"/>`
}

func askFor(field string, more ...string) string {
	attrs := strings.Join(more, " ")
	if !strings.Contains(attrs, "purpose=") {
		attrs += ` purpose="to send the ticket"`
	}
	if !strings.Contains(attrs, "action=") {
		attrs += ` action="book"`
	}
	return `<ask field="` + field + `" ` + attrs + `/>`
}

// ann is a user with some data.
var ann = Fields{
	"email": {Text: "ann@example.org"}, "tel": {Text: "+49 30 123456"}, "fn": {Text: "Ann Example"}, "lang": {Text: "de"},
	"bday": {Text: "1990-02-28"}, "acme:tier": {Text: "gold"}, "ssn": {Text: "078-05-1120"}, "diagnosis": {Text: "hay fever"},
}

// action writes one action without parameters.
func action(id, method, endpoint, more string) string {
	return `<action id="` + id + `" method="` + method + `" endpoint="` + endpoint + `" ` + more + `/>`
}

func interact(actions ...string) string {
	return titled + "<interact>" + strings.Join(actions, "") + "</interact>"
}

// scripted is a handler with a status, a body, and pairs of header names and values.
func scripted(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		if len(w.Header().Values("Content-Type")) == 0 && body != "" {
			w.Header().Set("Content-Type", anml.MediaTypeXML)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// document answers with a document of these sections.
func document(sections string, header ...string) http.Handler {
	return scripted(http.StatusOK, service(sections), header...)
}

// The shop of most tests.
const (
	shopOrigin = "https://shop.example"
	shopDoc    = "https://shop.example/.well-known/anml"
	titled     = "<head><title>Shop</title></head>"

	getWellKnown = "GET " + wellKnownPath
)

// finding is a lab with one shop, and a session that looks for its document.
type finding struct {
	*testing.T
	net  *lookleaptest.Internet
	site *lookleaptest.Site
	s    *Session
	told []Notice
}

func newFinding(t *testing.T, change ...func(*User, *Options)) *finding {
	t.Helper()
	f := &finding{T: t, net: newLab(t)}
	f.site = f.net.Site("shop.example")
	f.s = f.session(change...)
	return f
}

// session begins another session on the same lab.
func (f *finding) session(change ...func(*User, *Options)) *Session {
	f.Helper()
	u, o := f.user(), Options{}
	for _, c := range change {
		c(&u, &o)
	}
	return newSession(f.T, f.net, u, o)
}

// on begins a session on a foreign Fetcher.
func (f *finding) on(fetcher lookleap.Fetcher, o Options) *Session {
	f.Helper()
	host := f.net.StubHost()
	host.Fetcher = fetcher
	return sessionOn(f.T, host, f.user(), o)
}

func (f *finding) user() User {
	return User{Notify: func(_ context.Context, n Notice) { f.told = append(f.told, n) }}
}

// finds discovers the shop's document and checks its title.
func (f *finding) finds(s *Session, title string) *Page {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	must(f, err)
	if got := p.Document().Head().Title(); got != title {
		f.Errorf("title %q, want %q", got, title)
	}
	return p
}

// fails discovers nothing, with a code.
func (f *finding) fails(s *Session, code lookleap.Code) notFound {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	hasCode(f, err, code)
	e := new(lookleap.Error)
	if p != nil || !errors.As(err, &e) {
		f.Fatalf("%v, %v", p, err)
	}
	response := responseBehind(err)
	return notFound{err, e.Subject, response.Status, response.RetryAfter, e.Message}
}

// notFound is a discovery that found nothing.
type notFound struct {
	error
	Subject    string
	Status     int
	RetryAfter time.Duration
	Trace      string
}

func (e notFound) Unwrap() error { return e.error }

// requests checks which requests reached a host.
func (f *finding) requests(host string, want ...string) {
	f.Helper()
	hasRequests(f, f.net, host, want...)
}

func hasFinding(p *Page, code lookleap.Code) bool {
	return slices.ContainsFunc(p.Findings(), func(f lookleap.Finding) bool { return f.Code == code && f.Message != "" })
}

type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stand is where a test of decisions takes place.
type stand struct {
	*testing.T
	net  *lookleaptest.Internet
	user User
	opts Options
	ask  *lookleaptest.Prompter // nil: no one can be asked
	s    *Session
}

// newStand makes a stand whose user answers by a script; without replies, no one can be
// asked.
func newStand(t *testing.T, replies ...lookleaptest.Reply) *stand {
	st := &stand{T: t, net: newLab(t), user: User{Profile: ann, Policy: &UserPolicy{}}}
	if replies != nil {
		st.ask = lookleaptest.NewPrompter(t, replies...)
	}
	return st
}

// asker is a user who can be asked where no question is expected.
func asker(t *testing.T) *stand { return newStand(t, lookleaptest.Refuse()) }

func (st *stand) session() *Session {
	st.Helper()
	if st.s == nil {
		host := st.net.StubHost()
		if st.ask != nil {
			host.Prompter = st.ask
		}
		st.s = sessionOn(st.T, host, st.user, st.opts)
	}
	return st.s
}

func (st *stand) page(sections string) *Page {
	st.Helper()
	return pageFor(st, st.net, st.session(), "https://shop.example/a", sections)
}

func (st *stand) allow(field, domain string) *stand {
	st.Helper()
	must(st, st.user.Policy.Set(StandingRule{Field: field, Domain: domain, Effect: EffectAllow, Since: start.Add(-time.Hour)}))
	return st
}

// one returns the only decision of a document.
func (st *stand) one(sections string) Decision {
	st.Helper()
	all := st.page(sections).Decide(st.Context())
	if len(all) != 1 {
		st.Fatalf("%d decisions", len(all))
	}
	return all[0]
}

// brief is a decision in a few words.
func brief(d Decision) string {
	words := []string{d.Verb.String(), string(d.Code)}
	if d.Reason != "" {
		words = append(words, string(d.Reason))
	}
	if d.Verb == VerbAllow {
		words = append(words, d.Basis.String())
	}
	return strings.Join(words, " ")
}

func (st *stand) decides(sections, want string) {
	st.Helper()
	if got := brief(st.one(sections)); got != want {
		st.Errorf("got %s, want %s", got, want)
	}
}

func all(string) bool  { return true }
func none(string) bool { return false }

// judged is a purpose judge that says one thing.
func judged(v PurposeVerdict) func(context.Context, Subject) (PurposeVerdict, error) {
	return func(context.Context, Subject) (PurposeVerdict, error) { return v, nil }
}

var book = Call{Action: "book"}

// stage is one document at https://www.shop.example/anml, opened in a session whose
// user answers by a script, and everything that is sent because of it.
type stage struct {
	*testing.T
	net     *lookleaptest.Internet
	host    *lookleap.Host
	user    *lookleaptest.Prompter
	session *Session
	shop    *lookleaptest.Site
	page    *Page
}

// setting is what a stage is set with. The zero setting approves everything.
type setting struct {
	options Options
	user    User
	replies []lookleaptest.Reply
	doc     string       // sections of the document, or all of it
	json    bool         // served as JSON
	answer  http.Handler // of every other path; nil: 204
	before  func(*stage) // after the lab is made, before the document is opened
	host    func(*lookleap.Host)
}

const documentURL = "https://www.shop.example/anml"

func newStage(t *testing.T, set setting) *stage {
	t.Helper()
	s := &stage{T: t, net: lookleaptest.ForTest(t)}
	s.host = s.net.StubHost()
	if set.replies == nil {
		set.replies = []lookleaptest.Reply{lookleaptest.Approve()}
	}
	s.user = lookleaptest.NewPrompter(t, set.replies...)
	s.host.Prompter = s.user
	if set.host != nil {
		set.host(s.host)
	}
	s.shop = s.net.Site("www.shop.example")
	if set.answer == nil {
		set.answer = lookleaptest.Status(http.StatusNoContent)
	}
	s.shop.Handle("*", set.answer)
	if set.before != nil {
		set.before(s)
	}
	s.session = s.open(set.options, set.user)
	s.page = s.show(set.doc, set.json)
	return s
}

// open starts a session, as another process would.
func (s *stage) open(o Options, u User) *Session {
	s.Helper()
	return sessionOn(s.T, s.host, u, o)
}

// show serves a document and opens it; the journal begins after that.
func (s *stage) show(doc string, asJSON bool) *Page {
	s.Helper()
	serve(s.T, s.shop, "/anml", doc, asJSON)
	page, err := s.session.Open(s.Context(), documentURL)
	must(s, err)
	s.net.Journal().Clear()
	return page
}

// sent lists what left since the document was opened, "GET /path" each.
func (s *stage) sent(sites ...string) []string {
	if sites == nil {
		sites = []string{"www.shop.example"}
	}
	var out []string
	for _, site := range sites {
		out = append(out, s.net.Journal().Paths(site)...)
	}
	return out
}

// sends fails unless exactly this left.
func (s *stage) sends(want ...string) {
	s.Helper()
	hasRequests(s, s.net, "www.shop.example", want...)
}

// does runs a call and fails unless it ends with the code.
func (s *stage) does(c Call, want lookleap.Code) *CallResult {
	s.Helper()
	r, err := s.page.Do(s.Context(), c)
	hasCode(s, err, want)
	return r
}

// notices counts the notices of a kind.
func (s *stage) notices(kind NoticeKind) (n int) {
	for _, notice := range s.session.Notices() {
		if notice.Kind == kind {
			n++
		}
	}
	return n
}

// hasAsked checks the texts that the user was shown so far (see hasTexts).
func (s *stage) hasAsked(want ...string) {
	s.Helper()
	var shown strings.Builder
	for _, r := range s.user.Requests() {
		shown.WriteString(r.String())
		for _, item := range r.Items {
			shown.WriteString("\n" + item.Summary)
		}
	}
	hasTexts(s, shown.String(), want...)
}

// entries are those of the ledger of a kind.
func entries(t testing.TB, l any, kinds ...EntryKind) (list []Entry) {
	t.Helper()
	for e, err := range (Filter{Kinds: kinds}).Entries(context.Background(), asLedger(l)) {
		must(t, err)
		list = append(list, e)
	}
	return list
}

// ledgerOf lists the kinds of all entries, with their fields and codes where there are.
func ledgerOf(t testing.TB, l any) (out []string) {
	t.Helper()
	for _, e := range entries(t, l) {
		out = append(out, strings.Join(strings.Fields(string(e.Kind)+" "+e.Field+" "+string(e.Code)), " "))
	}
	return out
}
