package aiuri_test

import (
	"net/http"
	"slices"
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

// TestAmongManyLinks: the last link that is read, and elements that a reader of a head skips.
func TestAmongManyLinks(t *testing.T) {
	const link = `<link rel=aiip href=ai://bank/>`
	one := []string{"ai://bank/"}
	comments := func(size int) string { return strings.Repeat("<!---->", size/7) + strings.Repeat(" ", size%7) }
	t.Run("AIU-3.1-02/accept-100th", func(t *testing.T) {
		for _, values := range [][]string{{strings.Repeat("</a>;rel=next,", 99) + `<ai://bank/>;rel=aiip,<ai://late/>;rel=aiip`},
			{strings.Repeat("</a>;rel=next,", 99), `<ai://bank/>;rel=aiip`, `<ai://late/>;rel=aiip`}} {
			if got := aiuri.LinkTargets(values); !slices.Equal(got, one) {
				t.Errorf("got %q", got)
			}
		}
	})
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"accept-100th-element":  {"<head>" + strings.Repeat("<link rel=next href=/a>", 99) + link + strings.Replace(link, "bank", "late", 1), one},
		"reject-style":          {"<head><style>" + link + "</style>", nil},
		"accept-after-style":    {"<head><style>p{}</style>" + link, one},
		"accept-after-title":    {"<head><title>x</title>" + link, one},
		"accept-after-comment":  {"<head><!-- x -->" + link, one},
		"accept-after-meta":     {"<head><meta charset=utf-8>" + link, one},
		"accept-after-base":     {"<head><base href=/>" + link, one},
		"accept-at-512-KiB":     {comments(512<<10-len(link)) + link, one},
		"reject-beyond-512-KiB": {comments(512<<10-len(link)+1) + link, nil},
	} {
		t.Run("AIU-3.1-03/"+name, func(t *testing.T) {
			if got := aiuri.ElementTargets([]byte(c.page)); !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestElementEscapes: the element that is published for a URI advertises exactly this URI, also
// where it looks like a character reference.
func TestElementEscapes(t *testing.T) {
	for _, uri := range []string{"ai://bank/?a=1&lt;b", "ai://bank/?a=1&amp;b", "ai://bank/?x&lt", "ai://bank/it's"} {
		t.Run("AIU-3.1-01/accept-element-with-reference", func(t *testing.T) {
			if got := aiuri.ElementTargets([]byte("<head>" + aiuri.LinkElement(parseAny(uri)))); len(got) != 1 || got[0] != uri {
				t.Errorf("%s: got %q", uri, got)
			}
		})
	}
}
