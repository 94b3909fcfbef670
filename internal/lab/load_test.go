package lab_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap/internal/lab"
)

// Two hundred callers at once are no trouble, and each of them is in the journal.
func TestManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lab.ForTest(t)
		site := net.Site("shop.example").Body("/", "text/plain", "hi")
		host := net.Host()
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				if _, body, err := get(t.Context(), host, site.URL("/")); err != nil || body != "hi" {
					t.Error(body, err)
				}
				net.Site("shop.example").Status("/other", 204)
				net.Journal().Dials()
			})
		}
		group.Wait()
		if n := len(net.Journal().Requests("shop.example")); n != 200 {
			t.Error(n)
		}
	})
}
