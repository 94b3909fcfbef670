package aiuri_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestPageResponses: which responses of a page advertise an endpoint.
func TestPageResponses(t *testing.T) {
	const link = `<ai://bank/x>; rel="aiip"`
	element := strings.Replace(linkHead, "ENDPOINT", "ai://bank/x", 1)
	for _, c := range []struct {
		id   string
		set  func(*lookleaptest.Site)
		code lookleap.Code
	}{
		{"AIU-3.1-02/accept-three-redirects", func(s *lookleaptest.Site) {
			s.RedirectChain("/shop", 2, "/end").Handle("/end", lookleaptest.Status(200, "Link", link))
		}, lookleap.CodeOK},
		{"AIU-3.1-02/reject-four-redirects", func(s *lookleaptest.Site) {
			s.RedirectChain("/shop", 3, "/end").Handle("/end", lookleaptest.Status(200, "Link", link))
		}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-02/reject-link-of-a-redirect", func(s *lookleaptest.Site) {
			s.Handle("/shop", lookleaptest.Status(302, "Location", "/end", "Link", link)).File("/end", "text/html", "<p>")
		}, aiuri.CodeNoEndpoint},
		{"AIU-3.1-02/reject-202", func(s *lookleaptest.Site) { s.Handle("/shop", lookleaptest.Status(202, "Link", link)) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-02/reject-500", func(s *lookleaptest.Site) { s.Handle("/shop", lookleaptest.Status(500, "Link", link)) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-03/accept-html", func(s *lookleaptest.Site) { s.File("/shop", "text/html; charset=utf-8", element) }, lookleap.CodeOK},
		{"AIU-3.1-03/accept-xhtml", func(s *lookleaptest.Site) { s.File("/shop", "application/xhtml+xml", element) }, lookleap.CodeOK},
		{"AIU-3.1-03/reject-cut-page", func(s *lookleaptest.Site) {
			s.File("/shop", "text/html", element+strings.Repeat(" ", 2*len(element))).Fault("/shop", lookleaptest.ResetBody())
		}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-03/reject-plain-text", func(s *lookleaptest.Site) { s.File("/shop", "text/plain", element) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-03/reject-no-media-type", func(s *lookleaptest.Site) {
			s.HandleFunc("/shop", func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				_, _ = w.Write([]byte(element))
			})
		}, aiuri.CodeNoEndpoint},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			c.set(net.Site("shop.example"))
			d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), "https://shop.example/shop")
			if lookleap.CodeOf(err) != c.code || (d != nil) != (c.code == lookleap.CodeOK) || d != nil && d.Endpoint.String() != "ai://bank/x" {
				t.Errorf("got %+v, %v; want %s", d, err, c.code)
			}
		})
	}
}
