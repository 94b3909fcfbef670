package agent

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// gettable and postable are one action each, of either kind.
const (
	gettable   = `<head><title>Shop</title></head><interact><action id="a" method="GET" endpoint="/a"/><action id="b" method="GET" endpoint="/b"/></interact>`
	postable   = `<head><title>Shop</title></head><interact><action id="a" method="POST" endpoint="/a"/><action id="b" method="GET" endpoint="/b"/></interact>`
	repeatable = `<head><title>Shop</title></head><interact><action id="a" method="POST" endpoint="/a" idempotent="true"/></interact>`
)

// attempts runs the action "a" against scripted answers, in a bubble.
func attempts(t *testing.T, name, doc string, want lookleap.Code, sent int, check func(s *stage, took time.Duration), answers ...http.Handler) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: doc})
			s.shop.Handle("/a", lookleaptest.Sequence(answers...))
			begin := time.Now()
			s.does(Call{Action: "a"}, want)
			equals(t, len(s.sent()), sent)
			if check != nil {
				check(s, time.Since(begin))
			}
		})
	})
}

func TestStatuses(t *testing.T) {
	ok := lookleaptest.Status(204)
	blocked := func(code lookleap.Code) func(*stage, time.Duration) {
		return func(s *stage, _ time.Duration) {
			s.Helper()
			before := len(s.sent())
			s.does(Call{Action: "a"}, code)
			equals(s, len(s.sent()), before)
			s.does(Call{Action: "b"}, lookleap.CodeOK)
		}
	}
	for status, code := range map[int]lookleap.Code{
		400: CodeBadRequest, 404: lookleap.CodeBadStatus, 405: lookleap.CodeBadStatus, 415: lookleap.CodeBadStatus, 418: lookleap.CodeBadStatus,
		409: lookleap.CodeConflict, 422: CodeUnprocessable,
	} {
		id := map[int]string{400: "ANML-11.3-05", 409: "ANML-11.3-09", 422: "ANML-11.3-11"}[status]
		if id == "" {
			id = "ANML-11.3-25"
		}
		attempts(t, id+"/reject-retry-"+http.StatusText(status), repeatable, code, 1, nil, lookleaptest.Status(status), ok)
	}
	attempts(t, "ANML-11.3-04/accept-empty", postable, "ok", 1, nil, ok)
	attempts(t, "ANML-11.3-25/reject-gone", gettable, CodeGone, 1, blocked(CodeGone), lookleaptest.Status(410), ok)
	attempts(t, "ANML-11.3-08/reject-forbidden-again", gettable, lookleap.CodeForbidden, 1, blocked(lookleap.CodeForbidden), lookleaptest.Status(403), ok)
	attempts(t, "ANML-11.3-08/accept-after-reset", gettable, lookleap.CodeForbidden, 1, func(s *stage, _ time.Duration) {
		s.session.ResetActions()
		s.does(Call{Action: "a"}, lookleap.CodeOK)
	}, lookleaptest.Status(403), ok)

	for name, c := range map[string]struct {
		doc  string
		want []string
	}{"told": {gettable, []string{"Bearer", "Basic"}}, "told-of-post": {postable, []string{"Bearer", "Basic"}}, "told-without-schemes": {gettable, nil}} {
		var challenges []string
		for _, scheme := range c.want {
			challenges = append(challenges, "WWW-Authenticate", scheme+` realm="x"`)
		}
		attempts(t, "ANML-11.3-06/accept-"+name, c.doc, CodeAuthRequired, 1, func(s *stage, _ time.Duration) {
			i := slices.IndexFunc(s.session.Notices(), func(n Notice) bool { return n.Kind == NoticeAuthRequired })
			if i < 0 {
				s.Fatal("the user is not told")
			}
			n, told := s.session.Notices()[i], []string(nil)
			for _, said := range n.Remote {
				if told = append(told, said.Text); said.Source != "www.shop.example" {
					s.Errorf("said by %q", said.Source)
				}
			}
			if !slices.Equal(told, c.want) || n.Origin != "https://www.shop.example" || n.Code != CodeAuthRequired || n.Text == "" {
				s.Errorf("told %q in %+v", told, n)
			}
		}, lookleaptest.Status(401, challenges...), ok)
	}
	attempts(t, "ANML-11.3-07/reject-retry", repeatable, CodeAuthRequired, 1, nil, lookleaptest.Status(401), ok)

	attempts(t, "ANML-11.3-15/reject-no-time", gettable, lookleap.CodeRateLimited, 1, blocked(lookleap.CodeRateLimited), lookleaptest.Status(429), ok)
	attempts(t, "ANML-11.3-15/reject-unreadable-time", gettable, lookleap.CodeRateLimited, 1, blocked(lookleap.CodeRateLimited), lookleaptest.Status(429, "Retry-After", "soon"), ok)
	attempts(t, "ANML-11.3-14/accept-idempotent-waits", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 30*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, lookleaptest.Status(429, "Retry-After", "30"), ok)
	attempts(t, "ANML-11.3-14/reject-sooner", postable, lookleap.CodeRateLimited, 1, func(s *stage, _ time.Duration) {
		s.does(Call{Action: "a"}, CodeTooSoon)
		s.does(Call{Action: "b"}, CodeTooSoon) // of the same origin
		equals(s, len(s.sent()), 1)
		time.Sleep(31 * time.Second)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
	}, lookleaptest.Status(429, "Retry-After", "30"), ok)
	attempts(t, "ANML-11.3-14/reject-beyond-the-limit", gettable, lookleap.CodeRateLimited, 1, nil, lookleaptest.Status(429, "Retry-After", "61"), ok)
	attempts(t, "ANML-11.3-14/accept-at-the-limit", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 60*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, lookleaptest.Status(429, "Retry-After", "60"), ok)
	attempts(t, "ANML-11.3-14/accept-date", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 19*time.Second || took > 25*time.Second { // a date has no fraction of a second
			s.Errorf("it waited %s", took)
		}
	}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(429)
	}), ok)
	attempts(t, "ANML-11.3-14/reject-twice", gettable, lookleap.CodeRateLimited, 2, nil, lookleaptest.Status(429, "Retry-After", "1"))

	attempts(t, "ANML-11.3-17/accept-idempotent", repeatable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 5*time.Second {
			s.Errorf("it waited %s", took)
		}
		equals(s, s.notices(NoticeServerError), 0)
	}, lookleaptest.Status(500), ok)
	attempts(t, "ANML-11.3-17/reject-third", repeatable, CodeServerError, 2, nil, lookleaptest.Status(500))
	attempts(t, "ANML-11.3-17/reject-not-idempotent", postable, CodeServerError, 1, nil, lookleaptest.Status(500), ok)
	attempts(t, "ANML-11.3-16/reject-at-once", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 5*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, lookleaptest.Status(500), ok)
	attempts(t, "ANML-11.3-18/accept-told-once", repeatable, CodeServerError, 2, func(s *stage, _ time.Duration) {
		equals(s, s.notices(NoticeServerError), 1)
	}, lookleaptest.Status(500))
	for _, status := range []int{502, 504, 599} {
		attempts(t, "ANML-11.3-22/accept-like-500", repeatable, "ok", 2, nil, lookleaptest.Status(status), ok)
		attempts(t, "ANML-11.3-22/reject-sooner-than-told", repeatable, "ok", 2, func(s *stage, took time.Duration) {
			if took < 40*time.Second {
				s.Errorf("it waited %s", took)
			}
		}, lookleaptest.Status(status, "Retry-After", "40"), ok)
	}
	attempts(t, "ANML-11.3-19/accept-waits", repeatable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 45*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, lookleaptest.Status(503, "Retry-After", "45"), ok)
	attempts(t, "ANML-11.3-19/reject-sooner", postable, lookleap.CodeUnavailable, 1, func(s *stage, _ time.Duration) {
		s.does(Call{Action: "a"}, CodeTooSoon)
	}, lookleaptest.Status(503, "Retry-After", "45"), ok)
	attempts(t, "ANML-11.3-20/reject-again", gettable, lookleap.CodeUnavailable, 1, blocked(lookleap.CodeUnavailable), lookleaptest.Status(503), ok)
	for name, header := range map[string][]string{"with": {"Retry-After", "3600"}, "without": nil} {
		attempts(t, "ANML-11.3-21/accept-told-"+name+"-time", gettable, lookleap.CodeUnavailable, 1, func(s *stage, _ time.Duration) {
			equals(s, s.notices(NoticeUnavailable), 1)
		}, lookleaptest.Status(503, header...))
	}
	attempts(t, "ANML-11.3-23/accept-no-trust-failure", gettable, CodeServerError, 2, func(s *stage, _ time.Duration) {
		for _, n := range s.session.Notices() {
			if n.Kind == NoticeSecurity || n.Kind == NoticeImpersonation {
				s.Errorf("told %+v", n)
			}
		}
		equals(s, len(s.page.Tools()), 2)
	}, lookleaptest.Status(500))
}

func TestStatusRetryAfter(t *testing.T) {
	failed := lookleaptest.Body(anml.MediaTypeXML, service(`<head><title>Later</title></head><status code="busy" result="error" retry-after="30"/>`))
	attempts(t, "ANML-8.13-04/reject-sooner", gettable, CodeActionFailed, 1, func(s *stage, _ time.Duration) {
		s.does(Call{Action: "a"}, CodeTooSoon)
		s.does(Call{Action: "b"}, lookleap.CodeOK)
		time.Sleep(30 * time.Second)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
	}, failed, lookleaptest.Status(204))
	later := func(status int, retry string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", anml.MediaTypeXML)
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(service(`<head><title>Later</title></head><status code="busy" result="error" message="busy" retry-after="30"/>`)))
		})
	}
	attempts(t, "ANML-8.13-04/accept-later-of-both", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 50*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, later(503, "50"), lookleaptest.Status(204))
	attempts(t, "ANML-8.13-04/accept-later-in-the-body", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 30*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, later(503, "10"), lookleaptest.Status(204))
	attempts(t, "ANML-11.3-15/accept-time-in-the-body", gettable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 30*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, later(429, ""), lookleaptest.Status(204))
}

func TestRedirects(t *testing.T) {
	to := func(status int, location string) http.Handler {
		return lookleaptest.Status(status, "Location", location)
	}
	for _, c := range []struct {
		name, doc string
		answer    http.Handler
		want      lookleap.Code
		sent      []string
	}{
		{"ANML-11.3-24/accept-303", postable, to(303, "/done"), "ok", []string{"POST /a", "GET /done"}},
		{"ANML-11.3-24/accept-303-to-itself", postable, lookleaptest.Sequence(to(303, "/a"), lookleaptest.Status(204)), "ok", []string{"POST /a", "GET /a"}},
		{"ANML-11.3-24/accept-307", postable, to(307, "/done"), "ok", []string{"POST /a", "POST /done"}},
		{"ANML-11.3-24/accept-308", postable, to(308, "/done"), "ok", []string{"POST /a", "POST /done"}},
		{"ANML-11.3-24/accept-301-get", gettable, to(301, "/done"), "ok", []string{"GET /a", "GET /done"}},
		{"ANML-11.3-24/accept-302-get", gettable, to(302, "/done"), "ok", []string{"GET /a", "GET /done"}},
		{"ANML-11.3-24/reject-301-post", postable, to(301, "/done"), lookleap.CodeRedirectForbidden, []string{"POST /a"}},
		{"ANML-11.3-24/reject-302-post", postable, to(302, "/done"), lookleap.CodeRedirectForbidden, []string{"POST /a"}},
		{"ANML-11.3-24/reject-307-twice", postable, to(307, "/again"), lookleap.CodeRedirectForbidden, []string{"POST /a", "POST /again"}},
		{"ANML-11.3-24/reject-loop", gettable, to(302, "/a"), lookleap.CodeTooManyRedirects, []string{"GET /a"}},
		{"ANML-13.4-13/reject-303-elsewhere", postable, to(303, "https://other.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"POST /a"}},
		{"K02/reject-307-elsewhere", postable, to(307, "https://other.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"POST /a"}},
		{"K02/reject-308-elsewhere", postable, to(308, "https://other.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"POST /a"}},
		{"K02/reject-302-get-elsewhere", gettable, to(302, "https://other.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"GET /a"}},
		{"K02/reject-sibling", postable, to(303, "https://api.shop.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"POST /a"}},
		{"K02/accept-same-origin", postable, to(303, "/done"), "ok", []string{"POST /a", "GET /done"}},
		{"K02/reject-303-elsewhere", postable, to(303, "https://other.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"POST /a"}},
		{"ANML-13.4-13/reject-sibling", gettable, to(302, "https://api.shop.example/x"), lookleap.CodeRedirectCrossOrigin, []string{"GET /a"}},
		{"ANML-13.4-13/reject-http", gettable, to(302, "http://www.shop.example/x"), lookleap.CodeNotHTTPS, []string{"GET /a"}},
		{"ANML-13.4-13/reject-no-target", gettable, lookleaptest.Status(302), lookleap.CodeBadRedirect, []string{"GET /a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, setting{doc: c.doc})
			s.net.Site("other.example").Status("*", 204)
			s.net.Site("api.shop.example").Status("*", 204)
			s.shop.Handle("/a", c.answer)
			s.shop.Handle("/again", to(307, "/more"))
			_, err := s.page.Do(t.Context(), Call{Action: "a"})
			hasCode(t, err, c.want)
			s.sends(c.sent...)
			if elsewhere := s.sent("other.example", "api.shop.example"); elsewhere != nil {
				t.Errorf("sent %q", elsewhere)
			}
		})
	}
	t.Run("ANML-13.4-13/accept-target-is-told", func(t *testing.T) {
		s := newStage(t, setting{doc: postable})
		s.shop.Handle("/a", to(307, "https://other.example/x?y=1"))
		_, err := s.page.Do(t.Context(), Call{Action: "a"})
		var away *RedirectError
		if !errors.As(err, &away) || away.Target != "https://other.example/x?y=1" || away.Status != 307 {
			t.Errorf("%v", err)
		}
	})
	t.Run("ANML-11.3-24/reject-body-after-303", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.shop.Handle("/reserve", to(303, "/done"))
		s.does(Call{Action: "reserve", Args: map[string]string{"what": "t1"}}, lookleap.CodeOK)
		s.sends("POST /reserve", "GET /done")
		if r := s.net.Journal().Requests()[1]; r.BodySize != 0 || r.Header.Get("Content-Type") != "" {
			t.Errorf("%s %s", r.Header, r.Body)
		}
	})
	t.Run("ANML-13.7-06/reject-retry-over-budget", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable, options: Options{Limits: Limits{Requests: 1}}})
			s.shop.Redirect("/a", "/done").Status("/done", 500)
			s.does(Call{Action: "a"}, CodeServerError)
			s.sends("GET /a", "GET /done")
		})
	})
	t.Run("ANML-13.7-06/reject-over-budget", func(t *testing.T) {
		s := newStage(t, setting{doc: gettable, options: Options{Limits: Limits{Requests: 3}}})
		s.shop.RedirectChain("/a", 20, "/done")
		s.does(Call{Action: "a"}, lookleap.CodeBudget)
		if n := len(s.sent()); n != 4 { // the user's own request and three of the document's
			t.Errorf("%d requests", n)
		}
		s.does(Call{Action: "b"}, lookleap.CodeOK) // it has no redirect to pay for
	})
}

func TestNetworkErrors(t *testing.T) {
	for _, c := range []struct {
		name, doc  string
		connection lookleaptest.Connection
		dials      int
	}{
		{"ANML-11.4-07/accept-refused-get", gettable, lookleaptest.ConnectionRefused, 2},
		{"ANML-11.4-07/accept-refused-post", postable, lookleaptest.ConnectionRefused, 2}, // nothing of it was sent
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, setting{doc: strings.ReplaceAll(c.doc, `endpoint="/a"`, `endpoint="https://api.shop.example/a"`)})
				api := s.net.Site("api.shop.example").Connection(c.connection)
				if _, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil {
					t.Error("it was done")
				}
				equals(t, len(s.net.Journal().Dials(api.Addr().String())), c.dials)
				equals(t, s.notices(NoticeUnreachable), 1)
			})
		})
	}
	for _, c := range []struct {
		name, doc string
		sent      int
	}{
		{"ANML-11.4-07/accept-reset-get", gettable, 2},
		{"ANML-11.4-07/accept-reset-idempotent", repeatable, 2},
		{"ANML-11.4-07/reject-reset-post", postable, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, setting{doc: c.doc})
				s.shop.Fault("/a", lookleaptest.Reset())
				if _, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil {
					t.Error("it was done")
				}
				equals(t, len(s.sent()), c.sent)
			})
		})
	}
	t.Run("ANML-11.4-08/accept-told-once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			s.shop.Fault("/a", lookleaptest.Reset())
			_, _ = s.page.Do(t.Context(), Call{Action: "a"})
			equals(t, s.notices(NoticeUnreachable), 1)
		})
	})
	t.Run("ANML-11.4-07/reject-certificate", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.ReplaceAll(gettable, `endpoint="/a"`, `endpoint="https://api.shop.example/a"`)})
		api := s.net.Site("api.shop.example").Certificate(lookleaptest.CertificateExpired)
		s.does(Call{Action: "a"}, lookleap.CodeTLS)
		if s.notices(NoticeInsecure) != 1 || s.notices(NoticeUnreachable) != 0 {
			t.Errorf("told %+v", s.session.Notices())
		}
		equals(t, len(s.net.Journal().Dials(api.Addr().String())), 1)
	})
	t.Run("ANML-13.7-07/reject-mute", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			s.shop.Fault("/a", lookleaptest.Mute())
			begin := time.Now()
			s.does(Call{Action: "a"}, lookleap.CodeTimeout)
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
		})
	})
	t.Run("ANML-11.4-08/reject-guard-as-failure", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.ReplaceAll(gettable, `endpoint="/a"`, `endpoint="https://api.shop.example/a"`)})
		s.net.Name("api.shop.example", "10.0.0.1")
		_, err := s.page.Do(t.Context(), Call{Action: "a"})
		if !errors.Is(err, lookleap.ErrDenied) || s.notices(NoticeUnreachable) != 0 {
			t.Errorf("%v, told %+v", err, s.session.Notices())
		}
	})
	t.Run("ANML-11.4-07/reject-retry-on-unseen-connections", func(t *testing.T) {
		for doc, want := range map[string]int{postable: 1, gettable: 2} {
			sent := 0
			s := newStage(t, setting{doc: doc, host: func(h *lookleap.Host) {
				lab := h.Fetcher
				h.Fetcher = fetcherFunc(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path != "/a" {
						return lab.RoundTrip(r)
					}
					sent++
					return nil, net.ErrClosed
				})
			}})
			if _, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil || sent != want {
				t.Errorf("%v, %d requests, want %d", err, sent, want)
			}
		}
	})
}

// TestQueriesOfRedirects: what a service puts into the query of a redirect is in no error, event,
// notice or text for a model.
func TestQueriesOfRedirects(t *testing.T) {
	const doc = `<head><title>S</title></head><interact><action id="go" method="POST" endpoint="/go"/><action id="look" method="GET" endpoint="/go"/></interact>`
	t.Run("P28", func(t *testing.T) {
		for name, target := range map[string]string{
			"another-origin": "https://other.example/x?token=s3cret", "fragment": "/y?token=s3cret#s3cret", "private": "https://10.0.0.1/x?token=s3cret",
			"plain": "http://www.shop.example/x?token=s3cret", "user": "https://s3cret:s3cret@www.shop.example/x?token=s3cret",
			"malformed": "https://[::1/x?token=s3cret", "bad-escape": "/x?token=s3cret%zz", "scheme": "ftp://www.shop.example/x?token=s3cret",
			"port": "https://www.shop.example:99999/x?token=s3cret", "loop": "/go?token=s3cret",
		} {
			for _, status := range []int{301, 303, 307} {
				for _, action := range []string{"go", "look"} {
					t.Run("reject-query-of-"+name+"-"+http.StatusText(status)[:3]+"-"+action, func(t *testing.T) {
						var events lookleaptest.Events
						s := newStage(t, setting{doc: doc, host: func(h *lookleap.Host) { h.Observe = events.Observe }})
						s.shop.Handle("/go", lookleaptest.Status(status, "Location", target))
						s.shop.Handle("/y", lookleaptest.Status(status, "Location", "https://other.example/z?token=s3cret"))
						_, err := s.page.Do(t.Context(), Call{Action: action})
						if err == nil {
							return // the redirect was followed
						}
						for what, text := range map[string]string{"error": err.Error(), "text": ErrorText(err)} {
							if strings.Contains(text, "s3cret") {
								t.Errorf("the %s is %q", what, text)
							}
						}
						for _, e := range events.All() {
							if text := e.Subject; strings.Contains(text, "s3cret") || e.Err != nil && strings.Contains(e.Err.Error(), "s3cret") ||
								e.Finding != nil && strings.Contains(e.Finding.Message, "s3cret") {
								t.Errorf("the event is %+v", e)
							}
						}
						for _, n := range s.session.Notices() {
							hasTexts(t, n.Text, "!s3cret")
						}
					})
				}
			}
		}
	})
}
