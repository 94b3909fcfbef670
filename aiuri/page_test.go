package aiuri_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestPageResponses: which responses of a page advertise an endpoint.
func TestPageResponses(t *testing.T) {
	const link = `<ai://bank/x>; rel="aiip"`
	element := strings.Replace(linkHead, "ENDPOINT", "ai://bank/x", 1)
	for _, c := range []struct {
		id   string
		set  func(*lab.Site)
		code lookleap.Code
	}{
		{"AIU-3.1-02/accept-three-redirects", func(s *lab.Site) {
			s.RedirectChain("/shop", 2, "/end").Handle("/end", lab.Status(200, "Link", link))
		}, lookleap.CodeOK},
		{"AIU-3.1-02/reject-four-redirects", func(s *lab.Site) {
			s.RedirectChain("/shop", 3, "/end").Handle("/end", lab.Status(200, "Link", link))
		}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-02/reject-link-of-a-redirect", func(s *lab.Site) {
			s.Handle("/shop", lab.Status(302, "Location", "/end", "Link", link)).Body("/end", "text/html", "<p>")
		}, aiuri.CodeNoEndpoint},
		{"AIU-3.1-02/reject-202", func(s *lab.Site) { s.Handle("/shop", lab.Status(202, "Link", link)) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-02/reject-500", func(s *lab.Site) { s.Handle("/shop", lab.Status(500, "Link", link)) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-03/accept-html", func(s *lab.Site) { s.Body("/shop", "text/html; charset=utf-8", element) }, lookleap.CodeOK},
		{"AIU-3.1-03/accept-xhtml", func(s *lab.Site) { s.Body("/shop", "application/xhtml+xml", element) }, lookleap.CodeOK},
		{"AIU-3.1-03/reject-cut-page", func(s *lab.Site) {
			s.Body("/shop", "text/html", element+strings.Repeat(" ", 2*len(element))).Fault("/shop", lab.ResetBody())
		}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-03/reject-plain-text", func(s *lab.Site) { s.Body("/shop", "text/plain", element) }, aiuri.CodeNoEndpoint},
		{"AIU-3.1-03/reject-no-media-type", func(s *lab.Site) {
			s.HandleFunc("/shop", func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				_, _ = w.Write([]byte(element))
			})
		}, aiuri.CodeNoEndpoint},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lab.ForTest(t)
			c.set(net.Site("shop.example"))
			d, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Discover(t.Context(), "https://shop.example/shop")
			if lookleap.CodeOf(err) != c.code || (d != nil) != (c.code == lookleap.CodeOK) || d != nil && d.Endpoint.String() != "ai://bank/x" {
				t.Errorf("got %+v, %v; want %s", d, err, c.code)
			}
		})
	}
}
