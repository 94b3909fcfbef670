package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestArgumentTypes sends an argument of each type, and none of another type.
func TestArgumentTypes(t *testing.T) {
	const typed = `<head><title>Shop</title></head><interact><action id="a" method="GET" endpoint="/a"><param name="number" type="number"/><param name="boolean" type="boolean"/>` +
		`<param name="date" type="date"/><param name="datetime" type="datetime"/><param name="uri" type="uri"/><param name="enum" type="enum"><option value="red"/></param>` +
		`<param name="text" pattern="[a-z]+" min="2" max="3"/></action></interact>`
	for name, c := range map[string]struct{ good, bad, sent string }{
		"number":   {"1.5", "many", "1.5"},
		"boolean":  {"true", "yes", "true"},
		"date":     {"2026-07-14", "14.7.2026", "2026-07-14"},
		"datetime": {"2026-07-14T09:00:00Z", "2026-07-14", "2026-07-14T09%3A00%3A00Z"},
		"uri":      {"urn:x:y", "x y", "urn%3Ax%3Ay"},
		"enum":     {"red", "blue", "red"},
		"text":     {"abc", "abcd", "abc"},
	} {
		s := newStage(t, setting{doc: typed})
		t.Run("ANML-8.6.2-03/accept-type-"+name, func(t *testing.T) {
			s.does(Call{Action: "a", Args: map[string]string{name: c.good}}, lookleap.CodeOK)
			s.sends("GET /a?" + name + "=" + c.sent)
		})
		t.Run("ANML-8.6.2-03/reject-type-"+name, func(t *testing.T) {
			s.net.Journal().Clear()
			s.does(Call{Action: "a", Args: map[string]string{name: c.bad}}, anml.CodeParamInvalid)
			s.does(Call{Action: "a", ArgsJSON: []byte(`{"` + name + `":"` + c.bad + `"}`)}, anml.CodeParamInvalid)
			s.sends()
		})
	}
	for name, c := range map[string]struct {
		args map[string]string
		want string
	}{
		"default":              {map[string]string{"q": "tea"}, "GET /search?kind=all&q=tea&n=3"},
		"value-before-default": {map[string]string{"q": "tea", "n": "5"}, "GET /search?kind=all&q=tea&n=5"},
	} {
		t.Run("ANML-8.6.2-03/accept-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: searchAndBuy})
			s.does(Call{Action: "search", Args: c.args}, lookleap.CodeOK)
			s.sends(c.want)
		})
	}
}

// TestArgumentsOfEachMethod sends arguments in the body of each method that has one.
func TestArgumentsOfEachMethod(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		for enctype, want := range map[string]string{"application/x-www-form-urlencoded": "q=x+y&n=2", "application/json": `{"q":"x y","n":2}`} {
			t.Run("ANML-9.3-03/accept-"+method+"-"+enctype[len("application/"):], func(t *testing.T) {
				s := newStage(t, setting{doc: titled + `<interact><action id="a" method="` + method + `" endpoint="/a" enctype="` + enctype + `"><param name="q"/><param name="n" type="number"/></action></interact>`})
				s.does(Call{Action: "a", Args: map[string]string{"q": "x y", "n": "2"}}, lookleap.CodeOK)
				s.sends(method + " /a")
				if sent := s.net.Journal().Requests()[0]; string(sent.Body) != want || sent.Header.Get("Content-Type") != enctype {
					t.Errorf("%s: %s", sent.Header.Get("Content-Type"), sent.Body)
				}
			})
		}
	}
}

// TestAcknowledgedHTTP: an action at an http endpoint is sent after the user accepted that, and
// only if it reads.
func TestAcknowledgedHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		replies []labprompt.Reply
		want    lookleap.Code
		sent    []string
	}{
		"accept-acknowledged":     {"GET", []labprompt.Reply{labprompt.Approve()}, lookleap.CodeOK, []string{"GET /a"}},
		"reject-not-acknowledged": {"GET", []labprompt.Reply{labprompt.Approve(itemAct, itemOrigin)}, lookleap.CodeConsentRefused, nil},
		"reject-not-for-post":     {"POST", []labprompt.Reply{labprompt.Approve()}, CodeInsecureEndpoint, nil},
	} {
		t.Run("ANML-8.6.1-04/"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere(c.method), replies: c.replies, before: func(s *stage) {
				s.net.Site("api.shop.example").Plain().Status("*", 204)
				s.host.Fetcher = s.net.ForeignTransport()
			}})
			s.does(Call{Action: "plain"}, c.want)
			if got := s.sent("api.shop.example"); !slices.Equal(got, c.sent) {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
		})
	}
}

// TestReachOfLookalikes: a host is of the document's domain or of the owner's by whole labels.
func TestReachOfLookalikes(t *testing.T) {
	document, err := domain.Parse("https://www.shop.example/anml")
	must(t, err)
	for name, c := range map[string]struct {
		id, ref, site string
		want          endpointReach
	}{
		"accept-sibling-of-the-document": {"ANML-13.4-01", "https://api.shop.example/", "", atDomain},
		"reject-end-of-a-name":           {"ANML-13.4-01", "https://evilshop.example/", "", atOther},
		"reject-beginning-of-a-name":     {"ANML-13.4-01", "https://www.shop.example.evil.example/", "", atOther},
		"reject-domain-in-the-path":      {"ANML-13.4-01", "https://evil.example/shop.example/", "", atOther},
		"accept-host-of-the-owner":       {"ANML-13.4-02", "https://api.brand.example/", "brand.example", atOwner},
		"reject-end-of-the-owner":        {"ANML-13.4-02", "https://evilbrand.example/", "brand.example", atOther},
		"reject-beginning-of-the-owner":  {"ANML-13.4-02", "https://brand.example.evil.example/", "brand.example", atOther},
	} {
		t.Run(c.id+"/"+name, func(t *testing.T) {
			if to, err := resolveEndpoint(document, c.ref, c.site); err != nil || to.reach != c.want {
				t.Errorf("%s, %v", to.reach, err)
			}
		})
	}
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
	t.Run("ANML-13.12-04/accept-head", func(t *testing.T) {
		s := world(t, "HEAD")
		s.does(Call{Action: "plain"}, lookleap.CodeOK)
		if got := s.sent("api.shop.example"); !slices.Equal(got, []string{"HEAD /a"}) {
			t.Errorf("sent %q", got)
		}
	})
	t.Run("ANML-13.12-04/reject-only-the-origin-agreed", func(t *testing.T) {
		s := world(t, "GET", labprompt.Deny())
		s.session.gate.agree("https://www.shop.example", "http://api.shop.example")
		s.does(Call{Action: "plain"}, lookleap.CodeConsentRefused)
		s.hasAsked("without encryption")
	})
	t.Run("ANML-13.12-04/reject-not-acknowledged", func(t *testing.T) {
		s := world(t, "GET", labprompt.Approve(itemAct, itemOrigin))
		s.does(Call{Action: "plain"}, lookleap.CodeConsentRefused)
		if got := s.sent("api.shop.example"); got != nil {
			t.Errorf("sent %q", got)
		}
	})
	for id, method := range map[string]string{
		"ANML-13.12-04/reject-acting": "POST", "ANML-13.6-04/reject-post": "POST", "ANML-13.12-03/reject-post": "POST",
		"K01/reject-http": "POST", "K01/reject-http-put": "PUT", "K01/reject-http-patch": "PATCH", "K01/reject-http-delete": "DELETE",
	} {
		t.Run(id, func(t *testing.T) {
			s := world(t, method)
			s.does(Call{Action: "plain"}, CodeInsecureEndpoint)
			if got := s.sent("api.shop.example"); got != nil || len(s.user.Requests()) != 0 {
				t.Errorf("sent %q, asked %d times", got, len(s.user.Requests()))
			}
		})
	}
}

// TestRedirectsElsewhere: no redirect of an action is followed to another origin.
func TestRedirectsElsewhere(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
			t.Run(fmt.Sprintf("K02/reject-%d-%s-elsewhere", status, strings.ToLower(method)), func(t *testing.T) {
				for _, target := range []string{"https://other.example/x", "https://api.shop.example/x", "https://www.shop.example:8443/x", "http://www.shop.example/x", "//other.example/x"} {
					s := newStage(t, setting{doc: interact(action("a", method, "/a", ""))})
					s.net.Site("other.example").Status("*", 204)
					s.net.Site("api.shop.example").Status("*", 204)
					s.shop.Handle("/a", lab.Status(status, "Location", target))
					_, err := s.page.Do(t.Context(), Call{Action: "a"})
					if code := lookleap.CodeOf(err); code != lookleap.CodeRedirectCrossOrigin && code != lookleap.CodeNotHTTPS {
						t.Errorf("%s: got %v", target, err)
					}
					if sent := s.sent("www.shop.example", "other.example", "api.shop.example"); len(sent) != 1 {
						t.Errorf("%s: sent %q", target, sent)
					}
				}
			})
		}
	}
}

// TestSilentActions: what costs, destroys or tells something is confirmed, whatever says so and
// whatever the document and the policy think of it.
func TestSilentActions(t *testing.T) {
	harmless := &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}
	for name, c := range map[string]struct{ id, endpoint, more string }{
		"path": {"a", "/cart/purchase", ""}, "description": {"a", "/x", `description="Cancel the order"`}, "harmless-pay": {"pay", "/x", ""},
	} {
		t.Run("K04/reject-silent-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action(c.id, "GET", c.endpoint, c.more+` confirm="false"`)), user: User{Policy: harmless}, replies: []labprompt.Reply{labprompt.Deny()}})
			s.does(Call{Action: c.id}, lookleap.CodeConsentRefused)
			s.sends()
		})
	}
	for _, word := range strings.Fields("buy purchase pay payment checkout order book reserve subscribe donate charge transfer bid deposit withdraw refund upgrade renew invoice " +
		"delete remove erase cancel terminate unsubscribe destroy drop revoke wipe purge close deactivate") {
		t.Run("K04/reject-silent-word-"+word, func(t *testing.T) {
			if why := consequential(Act{Method: "GET", ID: "now_" + strings.ToUpper(word), URL: "https://www.shop.example/x"}, false, false, Harmless); why == "" {
				t.Error("the user is not asked")
			}
		})
	}
	t.Run("K04/reject-silent-telling", func(t *testing.T) { // of what no rule demands consent for
		p := &UserPolicy{Weigh: harmless.Weigh}
		must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
		doc := titled + `<constraints>` + rule("fn", "none") + `</constraints>` + interactOnly(action("a", "POST", "/a", `confirm="false"`)) + `<knowledge>` + askFor("fn", `action="a"`) + `</knowledge>`
		s := newStage(t, setting{doc: doc, user: User{Policy: p, Profile: ada}, replies: []labprompt.Reply{labprompt.Deny()}})
		s.does(Call{Action: "a"}, lookleap.CodeConsentRefused)
		s.sends()
	})
}

// TestInjectedArguments: a service reads one argument with exactly its value.
func TestInjectedArguments(t *testing.T) {
	for name, c := range map[string][2]string{
		"query": {"GET", ""}, "form": {"POST", ""}, "json": {"POST", "application/json"}, "multipart": {"POST", "multipart/form-data"},
	} {
		t.Run("K05/reject-injection-into-"+name, func(t *testing.T) {
			const value = "1&admin=true#f?\",\"admin\":\"true\r\n--x\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\ntrue"
			s := newStage(t, setting{doc: interact(`<action id="a" method="` + c[0] + `" endpoint="/a" enctype="` + c[1] + `"><param name="x"/></action>`)})
			var got url.Values
			s.shop.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) {
				if c[1] == "application/json" {
					var all map[string]string
					_ = json.NewDecoder(r.Body).Decode(&all)
					got = url.Values{"x": {all["x"]}}
					if len(all) != 1 {
						got.Set("admin", "true")
					}
				} else {
					_ = r.ParseMultipartForm(1 << 20)
					got = r.Form
				}
				w.WriteHeader(http.StatusNoContent)
			})
			s.does(Call{Action: "a", Args: map[string]string{"x": value}}, lookleap.CodeOK)
			if len(got) != 1 || len(got["x"]) != 1 || got.Get("x") != value {
				t.Errorf("the service reads %q", got)
			}
		})
	}
}
