package agent

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestEachStatusIsFinal: no 4xx status but 429 causes a second request, also of an action that may
// be repeated.
func TestEachStatusIsFinal(t *testing.T) {
	ids := map[int]string{400: "ANML-11.3-05", 401: "ANML-11.3-07", 403: "ANML-11.3-08", 409: "ANML-11.3-09", 422: "ANML-11.3-11"}
	for _, status := range []int{400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 431, 451, 499} {
		id := ids[status]
		if id == "" {
			id = "ANML-11.3-25"
		}
		t.Run(fmt.Sprintf("%s/reject-second-request-after-%d", id, status), func(t *testing.T) {
			for _, doc := range []string{repeatable, gettable} {
				s := newStage(t, setting{doc: doc})
				s.shop.Handle("/a", lab.Sequence(lab.Status(status, "Retry-After", "1"), lab.Status(204)))
				if r, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil || r == nil || r.Status != status {
					t.Errorf("%+v, %v", r, err)
				}
				if got := len(s.sent()); got != 1 {
					t.Errorf("%d requests", got)
				}
			}
		})
	}
}

// TestLedgerOfOutcomes: the last entry of a call says what became of it.
func TestLedgerOfOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.Handler
		want   lookleap.Code
	}{
		"done":         {lab.Status(204), lookleap.CodeOK},
		"unfinished":   {lab.Status(202), lookleap.CodeOK},
		"failed":       {document(`<status code="1" result="error"/>`), CodeActionFailed},
		"refused":      {lab.Status(400), CodeBadRequest},
		"conflict":     {lab.Status(409), lookleap.CodeConflict},
		"server-error": {lab.Status(500), CodeServerError},
		"elsewhere":    {lab.Status(303, "Location", "https://b.example/"), lookleap.CodeRedirectCrossOrigin},
	} {
		t.Run("ANML-11.3-04/accept-ledger-of-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: postable, answer: c.answer})
			s.does(Call{Action: "a"}, c.want)
			if got, want := ledgerOf(t, s.session.Ledger()), "outcome "+string(c.want); len(got) != 2 || got[0] != "action" || got[1] != want {
				t.Errorf("the ledger holds %q, want %q at the end", got, want)
			}
		})
	}
}

// TestEachServerError: every other 5xx status is handled as 500 is.
func TestEachServerError(t *testing.T) {
	for _, status := range []int{501, 502, 504, 505, 507, 511, 599} {
		name := fmt.Sprintf("-%d", status)
		attempts(t, "ANML-11.3-22/accept-one-retry-after"+name, repeatable, "ok", 2, func(s *stage, took time.Duration) {
			if took < 5*time.Second {
				s.Errorf("it waited %s", took)
			}
		}, lab.Status(status), lab.Status(204))
		attempts(t, "ANML-11.3-22/reject-third-after"+name, repeatable, CodeServerError, 2, func(s *stage, _ time.Duration) {
			if n := s.notices(NoticeServerError); n != 1 {
				s.Errorf("%d notices", n)
			}
		}, lab.Status(status))
		attempts(t, "ANML-11.3-22/reject-retry-of-post-after"+name, postable, CodeServerError, 1, nil, lab.Status(status), lab.Status(204))
		attempts(t, "ANML-11.3-22/reject-origin-after"+name, postable, CodeServerError, 1, func(s *stage, _ time.Duration) {
			s.does(Call{Action: "b"}, CodeTooSoon)
		}, lab.Status(status, "Retry-After", "40"))
		attempts(t, "ANML-11.3-23/accept-no-trust-failure-at"+name, gettable, CodeServerError, 2, func(s *stage, _ time.Duration) {
			if len(s.page.Tools()) != 2 || s.notices(NoticeSecurity)+s.notices(NoticeImpersonation) != 0 {
				s.Errorf("%d tools, %v", len(s.page.Tools()), s.session.Notices())
			}
		}, lab.Status(status))
	}
	attempts(t, "ANML-11.3-14/accept-idempotent-post-waits", repeatable, "ok", 2, func(s *stage, took time.Duration) {
		if took < 30*time.Second {
			s.Errorf("it waited %s", took)
		}
	}, lab.Status(429, "Retry-After", "30"), lab.Status(204))
	attempts(t, "ANML-8.13-04/reject-beyond-the-limit", repeatable, lookleap.CodeUnavailable, 1, nil,
		answering(503, anml.MediaTypeXML, service(titled+`<status code="busy" result="error" retry-after="3600"/>`)), lab.Status(204))
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} { // HTTP calls the first two idempotent; the document decides
		doc := titled + interactOnly(action("a", method, "/a", ""))
		attempts(t, "ANML-11.3-17/reject-not-idempotent-"+method, doc, CodeServerError, 1, nil, lab.Status(500), lab.Status(204))
		attempts(t, "ANML-11.3-17/accept-idempotent-"+method, strings.Replace(doc, "endpoint", `idempotent="true" endpoint`, 1), "ok", 2, nil, lab.Status(500), lab.Status(204))
	}
}

// TestRedirectsOfEachMethod: 301 and 302 are followed only for reading, 307 and 308 repeat the
// request as it is, and nothing goes to another origin.
func TestRedirectsOfEachMethod(t *testing.T) {
	of := func(t *testing.T, method string, status int, to string) *stage {
		s := newStage(t, setting{doc: titled + interactOnly(action("a", method, "/a", "")), before: func(s *stage) {
			s.net.Site("api.shop.example").Status("*", 204)
		}})
		s.shop.Status("/a", status, "Location", to)
		return s
	}
	for _, status := range []int{301, 302} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/accept-%d-of-%s", status, method), func(t *testing.T) {
				s := of(t, method, status, "/done")
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				s.sends(method+" /a", method+" /done")
			})
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-of-%s", status, method), func(t *testing.T) {
				s := of(t, method, status, "/done")
				s.does(Call{Action: "a"}, lookleap.CodeRedirectForbidden)
				s.sends(method + " /a")
			})
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		t.Run("ANML-11.3-24/accept-303-of-"+method, func(t *testing.T) {
			s := of(t, method, 303, "/done")
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			s.sends(method+" /a", "GET /done")
		})
	}
	for _, status := range []int{307, 308} {
		t.Run(fmt.Sprintf("ANML-11.3-24/accept-%d-with-its-body", status), func(t *testing.T) {
			s := newStage(t, setting{doc: searchAndBuy})
			s.shop.Status("/reserve", status, "Location", "/done")
			s.does(Call{Action: "reserve", Args: map[string]string{"what": "t1"}}, lookleap.CodeOK)
			s.sends("POST /reserve", "POST /done")
			for _, sent := range s.net.Journal().Requests("www.shop.example") {
				if string(sent.Body) != "what=t1" || sent.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
					t.Errorf("%v %s", sent.Header, sent.Body)
				}
			}
		})
		t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-a-second-time", status), func(t *testing.T) {
			s := of(t, "POST", status, "/again")
			s.shop.Status("/again", status, "Location", "/done")
			s.does(Call{Action: "a"}, lookleap.CodeRedirectForbidden)
			s.sends("POST /a", "POST /again")
		})
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(fmt.Sprintf("ANML-11.3-24/reject-%d-of-%s-to-another-origin", status, method), func(t *testing.T) {
				s := of(t, method, status, "https://api.shop.example/a")
				s.does(Call{Action: "a"}, lookleap.CodeRedirectCrossOrigin)
				s.sends(method + " /a")
				if got := s.sent("api.shop.example"); got != nil {
					t.Errorf("sent %q", got)
				}
			})
		}
	}
}

// TestStatusOfAGenericType: a body that is not of a media type of ANML does not say when to try again.
func TestStatusOfAGenericType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, setting{doc: gettable, options: Options{Read: anml.ReadOptions{AcceptGenericTypes: true}}})
		s.shop.Handle("/a", lab.Sequence(answering(503, "application/xml",
			service(`<head><title>Later</title></head><status code="busy" result="error" retry-after="30"/>`)), lab.Status(204)))
		s.does(Call{Action: "a"}, lookleap.CodeUnavailable)
		s.sends("GET /a")
	})
}
