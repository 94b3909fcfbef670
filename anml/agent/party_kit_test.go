package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// retail is a shop that shows what it carries of a brand: the story of section
// 12.7, at https://shop.example/anml.
type retail struct {
	*testing.T
	net     *lookleaptest.Internet
	host    *lookleap.Host
	options agent.Options
	user    agent.User
	session *agent.Session
	json    bool // documents are served as JSON

	events lookleaptest.Events
}

var opening = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const shopURL = "https://shop.example/anml"

func newRetail(t *testing.T) *retail {
	t.Helper()
	net := lookleaptest.ForTest(t)
	net.Clock().Freeze()
	net.Clock().Set(opening)
	return newRetailOn(t, net)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func hasCode(t testing.TB, err error, code lookleap.Code) {
	t.Helper()
	if lookleap.CodeOf(err) != code {
		t.Errorf("got %v, want the code %s", err, code)
	}
}

// hasTexts checks that a text contains each text, or does not contain it if it begins with "!".
func hasTexts(t testing.TB, shown string, want ...string) {
	t.Helper()
	for _, w := range want {
		text, not := strings.CutPrefix(w, "!")
		if strings.Contains(shown, text) == not {
			t.Errorf("%q is not as wanted in:\n%s", w, shown)
		}
	}
}

// second returns the error of a call with a result.
func second(_ any, err error) error { return err }

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

// newRetailOn is a shop on an internet whose clock may run.
func newRetailOn(t *testing.T, net *lookleaptest.Internet) *retail {
	r := &retail{T: t, net: net, host: net.StubHost()}
	r.host.Observe = r.events.Observe
	return r
}

// grants makes the brand authorize the shop.
func (r *retail) grants(tier int, sections ...string) *retail {
	r.net.Name("_anml.brand.example").Clear().TXT("v=anml1;manifest=https://brand.example/.well-known/anml-trust").TTL(time.Hour)
	scope := ""
	if len(sections) > 0 {
		scope = `"` + strings.Join(sections, `","`) + `"`
	}
	r.net.Site("brand.example").File("/.well-known/anml-trust", anmltrust.ManifestMediaType, fmt.Sprintf(
		`{"version":"1.0","site":"brand.example","issued":"2026-05-01T00:00:00Z","expires":"2026-06-20T00:00:00Z","authorized-domains":[{"domain":"shop.example","tier":%d,"scope":[%s]}]}`, tier, scope))
	return r
}

// open serves a document and opens it.
func (r *retail) open(sections string) *agent.Page {
	r.Helper()
	return r.openAt(shopURL, sections)
}

func (r *retail) openAt(url, sections string) *agent.Page {
	r.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	r.serve(host, "/"+path, sections)
	page, err := r.start().Open(r.Context(), url)
	must(r, err)
	return page
}

// serve puts a document at a path of a site.
func (r *retail) serve(host, path, sections string) {
	r.Helper()
	body, mediaType := documentOf(sections), anml.MediaTypeXML
	if r.json {
		d, err := anml.ParseXML([]byte(body), anml.ReadOptions{})
		must(r, err)
		data, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
		must(r, err)
		body, mediaType = string(data), anml.MediaTypeJSON
	}
	r.net.Site(host).File(path, mediaType, body)
}

func documentOf(sections string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<anml xmlns="` + anml.Namespace + `" version="1.0" role="service" lang="nl">` + sections + `</anml>`
}

// start begins the session, once.
func (r *retail) start() *agent.Session {
	r.Helper()
	if r.session == nil {
		s, err := agent.New(r.host, r.options).NewSession(r.user)
		must(r, err)
		r.Cleanup(func() { _ = s.Close() })
		r.session = s
	}
	return r.session
}

// asks makes the user answer by a script.
func (r *retail) asks(replies ...lookleaptest.Reply) *lookleaptest.Prompter {
	p := lookleaptest.NewPrompter(r.T, replies...)
	r.host.Prompter = p
	return p
}

// found returns the findings that the host reported.
func (r *retail) found() (list []lookleap.Finding) {
	for _, e := range r.events.All() {
		if e.Finding != nil {
			list = append(list, *e.Finding)
		}
	}
	return list
}

// findings counts the findings under a requirement.
func (r *retail) findings(requirement string) (n int) {
	for _, f := range r.found() {
		if f.Requirement == requirement {
			n++
		}
	}
	return n
}

func (r *retail) notices(kind agent.NoticeKind) (list []agent.Notice) {
	for _, n := range r.start().Notices() {
		if n.Kind == kind {
			list = append(list, n)
		}
	}
	return list
}

// gets fails unless these requests reached a site.
func (r *retail) gets(site string, want ...string) {
	r.Helper()
	if got := r.net.Journal().Paths(site); !slices.Equal(got, want) {
		r.Errorf("%s got %q, want %q", site, got, want)
	}
}

// says fails unless a section of a party ended so: "owner", or "" for dropped.
func (r *retail) says(p *agent.Page, site string, section anmltrust.Section, owner string, tier int) {
	r.Helper()
	for _, a := range p.Explain().Assertions {
		if a.Site == site && a.Section == section {
			if a.Owner != owner || a.Tier != tier || a.Applied != (owner != "") {
				r.Errorf("%s of %s: owner %q, tier %d, applied %t; want %q, %d", section, site, a.Owner, a.Tier, a.Applied, owner, tier)
			}
			return
		}
	}
	r.Errorf("no word about %s of %s", section, site)
}

// informs returns the informs of the session's context, one a line, with their owners.
func (r *retail) informs() string {
	var b strings.Builder
	for i := range r.session.Context().Informs("") {
		fmt.Fprintf(&b, "%s: %s\n", i.Owner, i.Text)
	}
	return b.String()
}

// The draft's document of two sites.
const (
	shopSite = `<site domain="shop.example"><head><title>Example Product, Example Retailer</title></head>` +
		`<interact><action id="add-to-cart" method="POST" endpoint="/cart" confirm="true" description="Put it into the cart"/></interact>` +
		`<persona><instructions>Assist the user with purchase and delivery questions for this order.</instructions></persona></site>`
	brandSite = `<site domain="brand.example">` +
		`<knowledge><inform>The Rambler 30 oz is made from 18/8 stainless steel and is dishwasher safe.</inform></knowledge>` +
		`<persona><instructions>Speak to Example Brand's product quality, materials, and warranty. Do not discuss pricing or delivery.</instructions></persona>` +
		`<aesthetic><display-name>Example Brand</display-name></aesthetic></site>`
	bothSites = shopSite + brandSite
)
