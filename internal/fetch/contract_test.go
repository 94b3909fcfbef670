package fetch_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestArrivedBeforeARedirect: a server has received a request if only the target of its redirect
// could not be reached.
func TestArrivedBeforeARedirect(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").Redirect("/", "https://gone.example/")
	n.Site("gone.example").Connection(lookleaptest.ConnectionRefused)
	_, err := do(t, n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{Redirect: fetch.Anywhere}, "https://shop.example/")
	if lookleap.CodeOf(err) != lookleap.CodeConnRefused || !fetch.MayHaveArrived(err) {
		t.Errorf("may have arrived: %t, %v", fetch.MayHaveArrived(err), err)
	}
}
