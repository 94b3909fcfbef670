package lookleaptest_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/lookleaptest"
)

func TestPaths(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.File("*", "text/plain", "rest").
			File("/a/*", "text/plain", "below a").
			File("/a/b%2fc", "text/plain", "escaped").
			File("//a", "text/plain", "double").
			Status("/moved", 301, "location", "https://other.example/", "Link", "<a>", "link", "<b>").
			Redirect("/found", "/page")
		transport := net.Unguarded()
		for path, want := range map[string]string{
			"/page": page, "/page/": "rest", "/": "rest", "/a": "rest", "/a/": "below a", "/a/x/y?z": "below a",
			"/a/b%2fc": "escaped", "/a/b%2Fc": "below a", "//a": "double", "/a/../page": "below a",
		} {
			resp, body, err := fetch(t.Context(), transport, site.URL(path))
			if err != nil || body != want || resp.StatusCode != 200 {
				t.Errorf("%s: %v %q %v", path, resp, body, err)
			}
		}
		if resp, _, err := fetch(t.Context(), transport, site.URL("/moved")); err != nil || resp.StatusCode != 301 ||
			resp.Header.Get("Location") != "https://other.example/" || len(resp.Header["Link"]) != 2 {
			t.Error(resp, err)
		}
		if resp, _, err := fetch(t.Context(), transport, site.URL("/found")); err != nil || resp.StatusCode != 302 ||
			resp.Header.Get("Location") != "/page" {
			t.Error(resp, err)
		}
		site.Remove("*")
		if resp, _, err := fetch(t.Context(), transport, site.URL("/nothing")); err != nil || resp.StatusCode != 404 {
			t.Error(resp, err)
		}
		if net.Site("SHOP.example") != site {
			t.Error("another site of the same name")
		}
	})
}

func TestChangingContent(t *testing.T) {
	net := lookleaptest.ForTest(t)
	site := net.Site("shop.example").
		Handle("/run.sh", lookleaptest.Sequence(lookleaptest.Body("text/plain", "benign"), lookleaptest.Status(503),
			lookleaptest.Body("text/plain", "evil")))
	transport := net.Unguarded()
	for _, want := range []string{"benign", "Service Unavailable\n", "evil", "evil"} {
		if _, body, err := fetch(t.Context(), transport, site.URL("/run.sh")); err != nil || body != want {
			t.Error(body, err)
		}
	}
}

func TestRedirectChains(t *testing.T) {
	net := lookleaptest.ForTest(t)
	site := net.Site("shop.example").RedirectChain("/chain", 3, "").RedirectChain("/loop", 2, "/loop").
		RedirectChain("/out", 0, "https://169.254.169.254/")
	client := &http.Client{Transport: net.Unguarded()}
	resp, err := client.Get(site.URL("/chain"))
	if err != nil || resp.StatusCode != 200 || resp.Request.URL.Path != "/chain/3" {
		t.Error(resp, err)
	}
	if _, err := client.Get(site.URL("/loop")); err == nil || !strings.Contains(err.Error(), "10 redirects") {
		t.Error(err)
	}
	if _, err := client.Get(site.URL("/out")); err == nil || len(net.Journal().Dials("169.254.169.254")) != 1 {
		t.Error(err)
	}
}

func TestJournalOfRequests(t *testing.T) {
	both(t, func(t *testing.T, net *lookleaptest.Internet, site *lookleaptest.Site) {
		site.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
			var b bytes.Buffer
			b.ReadFrom(r.Body)
			w.Write(b.Bytes()[:min(b.Len(), 5)])
		})
		big := strings.Repeat("x", 3<<20)
		for _, body := range []string{"hello", big} {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", site.URL("/echo?q=%20"), strings.NewReader(body))
			req.Header.Set("Authorization", "Bearer secret")
			resp, err := net.Unguarded().RoundTrip(req)
			if err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
			resp.Body.Close()
		}
		got := net.Journal().Requests("shop.example")
		if len(got) != 2 || len(net.Journal().Requests("other.example")) != 0 || len(net.Journal().Requests()) != 2 {
			t.Fatal(got)
		}
		r := got[0]
		if r.Method != "POST" || r.Target != "/echo?q=%20" || r.Path != "/echo" || r.Host != "shop.example" ||
			r.Header.Get("Authorization") != "Bearer secret" || string(r.Body) != "hello" || r.BodySize != 5 ||
			r.Addr.Addr() != site.Addr() || r.Time.IsZero() {
			t.Errorf("%+v", r)
		}
		if got[1].BodySize != 3<<20 || len(got[1].Body) != 1<<20 {
			t.Error(got[1].BodySize, len(got[1].Body))
		}
		if n := net.Journal().Bytes(site.Addr().String()); n < 3<<20 {
			t.Error(n, "bytes")
		}
		net.Journal().Clear()
		if n := len(net.Journal().Requests()) + len(net.Journal().Dials()) + len(net.Journal().Queries()); n != 0 {
			t.Error(n, "entries")
		}
	})
}
