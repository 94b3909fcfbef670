package agent

import (
	"fmt"
	"testing"

	"github.com/lookleap/lookleap"
)

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
