package agent

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestRetryRestsOnTrust: between two requests of one call a site may take back what
// it granted.
func TestRetryRestsOnTrust(t *testing.T) {
	const again = `<site domain="shop.example"><head><title>Shop</title></head></site><site domain="brand.example"><head><title>Brand</title></head>
<interact><action id="here" method="PUT" endpoint="/here" idempotent="true"/></interact></site>`
	const shown = `<head><title>Brand at the shop</title><trust domain="brand.example"/></head><interact><action id="here" method="PUT" endpoint="/here" idempotent="true"/></interact>`
	busy := lookleaptest.Status(503, "Retry-After", "30")
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, c := range []struct {
		name, doc, scope string
		first            http.Handler
		third            func(*stage) http.Handler // what the site says to the third question
		want             lookleap.Code
		sent             []string
	}{
		{"accept-still-granted", again, "interact", busy, nil, lookleap.CodeOK, []string{"PUT /here", "PUT /here"}},
		{"reject-revoked", again, "interact", busy, func(*stage) http.Handler { return denying }, anmltrust.CodeTrustRevoked, []string{"PUT /here"}},
		{"accept-after-no-response", again, "interact", silent, nil, lookleap.CodeOK, []string{"PUT /here", "PUT /here"}},
		{"reject-revoked-after-no-response", again, "interact", silent, func(*stage) http.Handler { return denying }, anmltrust.CodeTrustRevoked, []string{"PUT /here"}},
		{"reject-narrowed", again, "interact", busy, func(s *stage) http.Handler { return granting(s, "body") }, anmltrust.CodeTrustRevoked, []string{"PUT /here"}},
		{"reject-not-to-be-found-out", again, "interact", busy, func(*stage) http.Handler { return lookleaptest.Status(503) }, CodeTrustUnverified, []string{"PUT /here"}},
		{"reject-identity-lost", shown, "body", busy, func(*stage) http.Handler { return denying }, CodeIdentityLost, []string{"PUT /here"}},
		{"reject-redirected-body", again, "interact", lookleaptest.Status(307, "Location", "/there"), func(*stage) http.Handler { return denying }, anmltrust.CodeTrustRevoked, []string{"PUT /here"}},
		{"accept-redirected-body", again, "interact", lookleaptest.Status(307, "Location", "/there"), nil, lookleap.CodeOK, []string{"PUT /here", "PUT /there"}},
		{"accept-result-is-read-anyway", again, "interact", lookleaptest.Status(303, "Location", "/there"), func(*stage) http.Handler { return denying }, lookleap.CodeOK, []string{"PUT /here", "GET /there"}},
	} {
		t.Run("ANML-13.4-06/"+c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, setting{doc: c.doc, before: func(s *stage) {
					answers := []http.Handler{granting(s, c.scope), granting(s, c.scope)}
					if c.third != nil {
						answers = append(answers, c.third(s))
					}
					permit(s, answers...)
				}})
				s.shop.Handle("/here", lookleaptest.Sequence(c.first, lookleaptest.Status(204)))
				call := Call{Action: "here"}
				if c.doc == again {
					call.Site = "brand.example"
				}
				_, err := s.page.Do(t.Context(), call)
				hasCode(t, err, c.want)
				if c.want != lookleap.CodeOK && !errors.Is(err, lookleap.ErrInDoubt) {
					t.Error("the error does not say that the first request may have been executed")
				}
				s.sends(c.sent...)
				equals(t, len(s.user.Requests()), 1)
			})
		})
	}
}

// TestRetryRestsOnTheUser: what the user forbids while a call waits is not sent by
// its second request.
func TestRetryRestsOnTheUser(t *testing.T) {
	const doc = `<head><title>Shop</title></head><interact><action id="a" method="PUT" endpoint="/a" idempotent="true"/></interact>
<knowledge><inform>We write to ada@example.org</inform><ask field="email" action="a" purpose="to send the ticket" required="true"/></knowledge>`
	for name, c := range map[string]struct {
		forbid func(s *stage) error
		want   lookleap.Code
	}{
		"accept-nothing":        {func(*stage) error { return nil }, lookleap.CodeOK},
		"accept-another-field":  {func(s *stage) error { return s.session.user.Policy.Set(StandingRule{Field: "tel", Domain: "*"}) }, lookleap.CodeOK},
		"reject-denied-field":   {func(s *stage) error { return s.session.user.Policy.Set(StandingRule{Field: "e-mail", Domain: "*"}) }, CodeUserRule},
		"reject-refused-domain": {func(s *stage) error { return s.session.RefuseDomain(s.Context(), "shop.example") }, CodeDomainRefused},
		"reject-refused-elsewhere": {func(s *stage) error {
			return put(s.Context(), s.session.user.Store, keyRefused+"shop.example", []byte("2026-06-01T12:00:00Z"))
		}, CodeDomainRefused},
		"reject-unreadable-refusal": {func(s *stage) error { // it may be any domain
			return put(s.Context(), s.session.user.Store, keyRefused+"no domain", []byte{})
		}, lookleap.CodeIO},
	} {
		ids := []string{"ANML-4-11"}
		if c.want == CodeDeletedContext {
			ids = append(ids, "ANML-14.2-06")
		}
		for _, id := range ids {
			t.Run(id+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, setting{doc: doc, user: User{Profile: ada, Policy: &UserPolicy{}, Store: lookleap.NewMemoryStore()}})
					s.shop.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) {
						_, _ = io.Copy(io.Discard, r.Body)
						if len(s.sent()) > 1 {
							w.WriteHeader(204)
							return
						}
						must(t, c.forbid(s))
						w.WriteHeader(500)
					})
					s.does(Call{Action: "a"}, c.want)
					want := []string{"PUT /a"}
					if c.want == lookleap.CodeOK {
						want = append(want, "PUT /a")
					}
					s.sends(want...)
				})
			})
		}
	}
}

// TestStatusesThatSayNothing: an answer that is not about the action is neither a
// success nor a document, and it is unknown whether the action was done.
func TestStatusesThatSayNothing(t *testing.T) {
	document := service(nextPage)
	for _, doc := range []string{postable, gettable} {
		for _, status := range []int{206, 207, 208, 226, 299, 300, 304, 305, 399} {
			t.Run("ANML-11.3-25/reject-"+http.StatusText(status), func(t *testing.T) {
				s := newStage(t, setting{doc: doc})
				s.shop.Handle("/a", scripted(status, document, "Content-Range", "bytes 0-9/100", "Content-Type", anml.MediaTypeXML))
				r, err := s.page.Do(t.Context(), Call{Action: "a"})
				if lookleap.CodeOf(err) != lookleap.CodeBadStatus || errors.Is(err, lookleap.ErrInDoubt) != (doc == postable) {
					t.Errorf("%d: %v, in doubt %v", status, err, errors.Is(err, lookleap.ErrInDoubt))
				}
				if r == nil || r.Page != nil || r.Body != nil || r.Problem != nil || r.Outcome != anml.OutcomeUnknown {
					t.Errorf("%d: %+v", status, r)
				}
				s.does(Call{Action: "b"}, lookleap.CodeOK) // the old page still is the document
			})
		}
	}
	for _, status := range []int{204, 205} {
		t.Run("ANML-11.3-04/accept-without-a-document-"+http.StatusText(status), func(t *testing.T) {
			s := newStage(t, setting{doc: gettable, host: func(h *lookleap.Host) { h.Fetcher = with(h.Fetcher, "/a", status, document) }})
			r := s.does(Call{Action: "a"}, lookleap.CodeOK)
			if r.Page != nil || r.Body != nil || r.Outcome != anml.OutcomeSuccess {
				t.Errorf("%+v", r)
			}
		})
	}
	for _, status := range []int{100, 101, 103, 199} {
		t.Run("ANML-11.3-25/reject-final-1xx", func(t *testing.T) {
			s := newStage(t, setting{doc: gettable, host: func(h *lookleap.Host) { h.Fetcher = with(h.Fetcher, "/a", status, document) }})
			r, err := s.page.Do(t.Context(), Call{Action: "a"})
			if lookleap.CodeOf(err) != lookleap.CodeBadStatus || r != nil {
				t.Errorf("%d: %+v, %v", status, r, err)
			}
		})
	}
}

// with is a Fetcher whose answers at a path have another status and body.
func with(next lookleap.Fetcher, path string, status int, body string) lookleap.Fetcher {
	return fetcherFunc(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil && r.URL.Path == path {
			_ = resp.Body.Close()
			resp.StatusCode, resp.Body, resp.ContentLength = status, io.NopCloser(strings.NewReader(body)), int64(len(body))
			resp.Header = http.Header{"Content-Type": {anml.MediaTypeXML}}
		}
		return resp, err
	})
}

// TestExpectedType: an answer is asked for in the type that the action says.
func TestExpectedType(t *testing.T) {
	const problems = ", application/problem+json;q=0.5, application/problem+xml;q=0.4"
	xml, json := anml.Accept(anml.XML)+problems, anml.Accept(anml.JSON)+problems
	preferred := anml.JSON
	for name, c := range map[string]struct {
		response, want string
		options        Options
	}{
		"accept-unstated":       {"", xml, Options{}},
		"accept-default":        {`<response description="x"/>`, xml, Options{}},
		"accept-json":           {`<response type="application/anml+json"/>`, json, Options{}},
		"accept-hosts-choice":   {`<response type="application/anml+xml"/>`, json, Options{Format: &preferred}},
		"accept-other":          {`<response type="Text/CSV; charset=utf-8"/>`, "text/csv, application/anml+xml;q=0.9, application/anml+json;q=0.8" + problems, Options{}},
		"accept-other-and-json": {`<response type="text/csv"/>`, "text/csv, application/anml+json;q=0.9, application/anml+xml;q=0.8" + problems, Options{Format: &preferred}},
		"accept-longest":        {`<response type="text/` + strings.Repeat("x", 250) + `"/>`, "text/" + strings.Repeat("x", 250) + ", application/anml+xml;q=0.9, application/anml+json;q=0.8" + problems, Options{}},
		"reject-anything":       {`<response type="*/*"/>`, xml, Options{}},
		"reject-any-text":       {`<response type="text/*"/>`, xml, Options{}},
		"reject-list":           {`<response type="text/csv, */*"/>`, xml, Options{}},
		"reject-line":           {`<response type="text/csv&#13;&#10;Cookie: x"/>`, xml, Options{}},
		"reject-parameter":      {`<response type="text/csv; ="/>`, xml, Options{}},
		"reject-word":           {`<response type="csv"/>`, xml, Options{}},
		"reject-long":           {`<response type="text/` + strings.Repeat("x", 251) + `"/>`, xml, Options{}},
	} {
		t.Run("ANML-8.6.4-01/"+name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				doc := interact(`<action id="a" method="GET" endpoint="/a">` + c.response + `</action>`)
				s := newStage(t, setting{doc: doc, options: c.options, json: asJSON})
				want := c.want
				if asJSON && (c.response == "" || strings.HasPrefix(name, "reject")) {
					want = json // that of the document
				} else if asJSON && (name == "accept-other" || name == "accept-longest") {
					want, _, _ = strings.Cut(want, ",")
					want += ", application/anml+json;q=0.9, application/anml+xml;q=0.8" + problems
				}
				s.shop.File("/a", "text/csv", "a,b")
				r := s.does(Call{Action: "a"}, lookleap.CodeOK)
				if got := s.net.Journal().Requests()[0].Header.Values("Accept"); !slices.Equal(got, []string{want}) {
					t.Errorf("JSON %v: %q, want %q", asJSON, got, want)
				}
				if string(r.Body) != "a,b" || r.Page != nil {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}
