package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

func TestResolveEndpoint(t *testing.T) {
	document, err := domain.Parse(documentURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, ref, site string
		want          string // reach and URL, or a code
	}{
		{"ANML-13.4-01/accept-path", "/cart", "", "same-origin https://www.shop.example/cart"},
		{"ANML-13.4-01/accept-relative", "cart?x=1#y", "", "same-origin https://www.shop.example/cart?x=1"},
		{"ANML-13.4-01/accept-absolute", "https://WWW.shop.example:443/cart", "", "same-origin https://www.shop.example/cart"},
		{"ANML-13.4-01/accept-sibling", "https://api.shop.example/c", "", "same-domain https://api.shop.example/c"},
		{"ANML-13.4-01/accept-parent", "https://shop.example/c", "", "same-domain https://shop.example/c"},
		{"ANML-13.4-01/reject-other-as-own", "https://b.example/c", "", "other-domain https://b.example/c"},
		{"ANML-13.4-01/reject-lookalike", "https://shop.example.b.example/c", "", "other-domain https://shop.example.b.example/c"},
		{"ANML-13.4-02/accept-site", "https://www.brand.example/x", "brand.example", "owner-domain https://www.brand.example/x"},
		{"ANML-13.4-02/accept-site-itself", "https://brand.example/x", "brand.example", "owner-domain https://brand.example/x"},
		{"ANML-13.4-02/reject-third", "https://third.example/x", "brand.example", "other-domain https://third.example/x"},
		{"ANML-13.4-02/reject-suffix-trick", "https://notbrand.example/x", "brand.example", "other-domain https://notbrand.example/x"},
		{"ANML-13.4-03/reject-ip", "https://10.0.0.1/x", "", "ip-host"},
		{"ANML-13.4-03/reject-ipv6", "https://[::1]/x", "", "ip-host"},
		{"ANML-13.4-03/reject-number", "https://2130706433/x", "", "ip-host"},
		{"ANML-13.4-03/reject-localhost", "https://localhost/x", "", "special-host"},
		{"ANML-13.4-03/reject-local", "https://printer.local/x", "", "special-host"},
		{"ANML-13.4-03/reject-single-label", "https://intranet/x", "", "special-host"},
		{"ANML-13.4-03/reject-ssh", "https://www.shop.example:22/x", "", "blocked-port"},
		{"ANML-13.4-03/reject-smtp", "https://b.example:25/x", "", "blocked-port"},
		{"K01/reject-other", "https://evil.example/pay", "", "other-domain https://evil.example/pay"},
		{"K01/reject-no-scheme", "//evil.example/", "", "other-domain https://evil.example/"},
		{"K01/reject-backslashes", `/\\evil.example`, "", "bad-url"},
		{"K01/reject-javascript", "javascript:alert(1)", "", "not-https"},
		{"K01/reject-data", "data:text/plain,x", "", "not-https"},
		{"K01/reject-file", "file:///etc/passwd", "", "not-https"},
		{"K01/reject-userinfo", "https://www.shop.example@evil.example/", "", "userinfo"},
	} {
		t.Run(c.id, func(t *testing.T) {
			to, err := resolveEndpoint(document, c.ref, c.site)
			got := string(to.reach) + " " + to.url.String()
			if err != nil {
				got = string(lookleap.CodeOf(err))
			}
			if got != c.want {
				t.Errorf("got %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

// elsewhere is a document with one action of each reach.
func elsewhere(method string) string {
	return interact(action("own", method, "/a", ""), action("sibling", method, "https://api.shop.example/a", ""),
		action("other", method, "https://b.example/a", ""), action("plain", method, "http://api.shop.example/a", ""))
}

func TestOtherOrigins(t *testing.T) {
	set := func(s *stage) {
		s.net.Site("api.shop.example").Status("*", 204)
		s.net.Site("b.example").Status("*", 204)
	}
	items := func(s *stage, i int) (ids []string) {
		for _, item := range s.user.Requests()[i].Items {
			ids = append(ids, item.ID)
		}
		return ids
	}
	t.Run("ANML-13.11-02/accept-asked", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set})
		s.does(Call{Action: "sibling"}, lookleap.CodeOK)
		if got := items(s, 0); !slices.Equal(got, []string{itemAct, itemOrigin}) {
			t.Errorf("asked about %q", got)
		}
		shown := s.user.Requests()[0].String()
		for _, want := range []string{"www.[shop.example]", "api.[shop.example]"} {
			if !strings.Contains(shown, want) {
				t.Errorf("it does not show %s:\n%s", want, shown)
			}
		}
	})
	t.Run("ANML-13.11-02/accept-remembered", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set})
		s.does(Call{Action: "sibling"}, lookleap.CodeOK)
		s.does(Call{Action: "sibling"}, lookleap.CodeOK)
		if n := len(s.user.Requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
		other := s.open(Options{}, User{})
		page, err := other.Open(t.Context(), documentURL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := page.Do(t.Context(), Call{Action: "sibling"}); err != nil || len(s.user.Requests()) != 2 {
			t.Errorf("another session was not asked: %v", err)
		}
	})
	t.Run("ANML-13.11-02/reject-remembered-for-others", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set})
		for range 3 {
			s.does(Call{Action: "other"}, lookleap.CodeOK)
		}
		if n := len(s.user.Requests()); n != 3 {
			t.Errorf("asked %d times", n)
		}
	})
	t.Run("ANML-13.4-01/accept-named", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("POST"), before: set})
		s.does(Call{Action: "other"}, lookleap.CodeOK)
		if shown := s.user.Requests()[0].String(); !strings.Contains(shown, "[b.example]") || !strings.Contains(shown, "somebody else") {
			t.Errorf("it does not name the other party:\n%s", shown)
		}
	})
	for _, id := range []string{"sibling", "other"} {
		t.Run("ANML-13.4-01/reject-without-prompter-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere("GET"), before: set, host: func(h *lookleap.Host) { h.Prompter = nil }})
			s.does(Call{Action: id}, lookleap.CodeConsentNoPrompter)
			if got := s.sent("www.shop.example", "api.shop.example", "b.example"); got != nil {
				t.Errorf("sent %q", got)
			}
		})
		t.Run("ANML-13.4-01/reject-same-origin-only-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere("GET"), before: set, options: Options{SameOriginOnly: true}})
			s.does(Call{Action: id}, CodeEndpointForeign)
			if len(s.user.Requests()) != 0 {
				t.Error("the user was asked")
			}
		})
		t.Run("K01/reject-refused-origin-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere("GET"), before: set, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
			s.does(Call{Action: id}, lookleap.CodeConsentRefused)
			if got := s.sent("api.shop.example", "b.example"); got != nil {
				t.Errorf("sent %q", got)
			}
		})
	}
	t.Run("ANML-13.4-01/accept-own", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set, options: Options{SameOriginOnly: true}})
		s.does(Call{Action: "own"}, lookleap.CodeOK)
		s.sends("GET /a")
	})
}

func TestPlainEndpoints(t *testing.T) {
	foreign := func(h *lookleap.Host, s *stage) { h.Fetcher = s.net.ForeignTransport() }
	world := func(t *testing.T, method string, replies ...labprompt.Reply) *stage {
		return newStage(t, setting{doc: elsewhere(method), replies: replies, before: func(s *stage) {
			s.net.Site("api.shop.example").Plain().Status("*", 204)
			foreign(s.host, s)
		}})
	}
	t.Run("ANML-13.12-04/accept-acknowledged", func(t *testing.T) {
		s := world(t, "GET")
		s.does(Call{Action: "plain"}, lookleap.CodeOK)
		s.does(Call{Action: "plain"}, lookleap.CodeOK)
		first, second := s.user.Requests()[0].String(), s.user.Requests()
		if !strings.Contains(first, "without encryption") {
			t.Errorf("the risk is not shown:\n%s", first)
		}
		if got := s.sent("api.shop.example"); len(got) != 2 || len(second) != 1 {
			t.Errorf("sent %q, asked %d times", got, len(second))
		}
		if h := s.net.Journal().Requests("api.shop.example")[0].Header; h.Get("Cookie") != "" || h.Get("Authorization") != "" {
			t.Errorf("%v", h)
		}
	})
	t.Run("ANML-13.12-04/reject-not-acknowledged", func(t *testing.T) {
		s := world(t, "GET", labprompt.Approve(itemAct, itemOrigin))
		s.does(Call{Action: "plain"}, lookleap.CodeConsentRefused)
		if got := s.sent("api.shop.example"); got != nil {
			t.Errorf("sent %q", got)
		}
	})
	for _, id := range []string{"ANML-13.12-04/reject-acting", "ANML-13.6-04/reject-post", "K01/reject-http", "ANML-13.12-03/reject-post"} {
		t.Run(id, func(t *testing.T) {
			s := world(t, "POST")
			s.does(Call{Action: "plain"}, CodeInsecureEndpoint)
			if got := s.sent("api.shop.example"); got != nil || len(s.user.Requests()) != 0 {
				t.Errorf("sent %q, asked %d times", got, len(s.user.Requests()))
			}
		})
	}
}
