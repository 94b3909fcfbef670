package agent

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
							if strings.Contains(n.Text, "s3cret") {
								t.Errorf("the notice is %+v", n)
							}
						}
					})
				}
			}
		}
	})
}
