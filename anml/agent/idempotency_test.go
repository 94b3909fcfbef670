package agent

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestIdempotencyKey: a service can tell the second request of a plan from another plan.
func TestIdempotencyKey(t *testing.T) {
	keys := func(t *testing.T, s *stage, path string) (keys []string) {
		t.Helper()
		for _, r := range s.net.Journal().Requests("www.shop.example") {
			if r.Path == path {
				keys = append(keys, r.Header.Get(lookleap.IdempotencyHeader))
			}
		}
		return keys
	}
	synctest.Test(t, func(t *testing.T) {
		const idempotent = `<head><title>Shop</title></head><interact><action id="a" method="POST" endpoint="/a" idempotent="true"/><action id="b" method="GET" endpoint="/b"/></interact>`
		s := newStage(t, setting{doc: idempotent})
		s.shop.Handle("/a", lookleaptest.Sequence(lookleaptest.Status(http.StatusInternalServerError), lookleaptest.Status(http.StatusNoContent)))
		s.shop.Status("/b", http.StatusNoContent)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "b"}, lookleap.CodeOK)
		got := keys(t, s, "/a")
		if len(got) != 3 || len(got[0]) != 34 || got[0] != got[1] || got[2] == got[1] {
			t.Errorf("a request, its retry and another plan have the keys %q", got)
		}
		if got := keys(t, s, "/b"); len(got) != 1 || got[0] != "" {
			t.Errorf("a GET request has the key %q", got)
		}
	})
}
