package agent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// stage is one document at https://www.shop.example/anml, opened in a session whose
// user answers by a script, and everything that is sent because of it.
type stage struct {
	*testing.T
	net     *lab.Internet
	host    *lookleap.Host
	user    *labprompt.Prompter
	session *Session
	shop    *lab.Site
	page    *Page
}

// setting is what a stage is set with. The zero setting approves everything.
type setting struct {
	options Options
	user    User
	replies []labprompt.Reply
	doc     string       // sections of the document, or all of it
	json    bool         // served as JSON
	answer  http.Handler // of every other path; nil: 204
	before  func(*stage) // after the lab is made, before the document is opened
	host    func(*lookleap.Host)
}

const documentURL = "https://www.shop.example/anml"

func newStage(t *testing.T, set setting) *stage {
	t.Helper()
	s := &stage{T: t, net: lab.ForTest(t)}
	s.host = s.net.Host()
	if set.replies == nil {
		set.replies = []labprompt.Reply{labprompt.Approve()}
	}
	s.user = labprompt.New(t, set.replies...)
	s.host.Prompter = s.user
	if set.host != nil {
		set.host(s.host)
	}
	s.shop = s.net.Site("www.shop.example")
	if set.answer == nil {
		set.answer = lab.Status(http.StatusNoContent)
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
	session, err := New(s.host, o).NewSession(u)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = session.Close() })
	return session
}

// show serves a document and opens it; the journal begins after that.
func (s *stage) show(doc string, asJSON bool) *Page {
	s.Helper()
	if !strings.HasPrefix(doc, "<?xml") {
		doc = service(doc)
	}
	mediaType := anml.MediaTypeXML
	if asJSON {
		doc, mediaType = jsonOf(s.T, doc), anml.MediaTypeJSON
	}
	s.shop.Body("/anml", mediaType, doc)
	page, err := s.session.Open(s.Context(), documentURL)
	if err != nil {
		s.Fatal(err)
	}
	s.net.Journal().Clear()
	return page
}

func jsonOf(t testing.TB, xml string) string {
	t.Helper()
	d, err := anml.ParseXML([]byte(xml), anml.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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
	if got := s.sent(); !slices.Equal(got, want) {
		s.Errorf("sent %q, want %q", got, want)
	}
}

// does runs a call and fails unless it ends with the code.
func (s *stage) does(c Call, want lookleap.Code) *CallResult {
	s.Helper()
	r, err := s.page.Do(s.Context(), c)
	if got := lookleap.CodeOf(err); got != want {
		s.Errorf("%s: got %s (%v), want %s", c.Action, got, err, want)
	}
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

// ledger lists the kinds of entries, with their codes where there are.
func ledgerOf(t testing.TB, l DisclosureLedger) (out []string) {
	t.Helper()
	for e, err := range l.Entries(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Join(strings.Fields(string(e.Kind)+" "+e.Field+" "+string(e.Code)), " "))
	}
	return out
}

// bubble runs a test whose waits pass at once.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// action writes one action without parameters.
func action(id, method, endpoint, more string) string {
	return `<action id="` + id + `" method="` + method + `" endpoint="` + endpoint + `" ` + more + `/>`
}

func interact(actions ...string) string {
	return "<head><title>Shop</title></head><interact>" + strings.Join(actions, "") + "</interact>"
}

var errTest = errors.New("test")

func asError[E error](err error, target *E) bool { return errors.As(err, target) }
