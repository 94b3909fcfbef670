package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/lookleaptest"
)

const searchAndBuy = `<head><title>Shop</title></head><interact>
	<action id="search" method="GET" endpoint="/search?kind=all"><param name="q" required="true"/><param name="n" type="number" default="3"/></action>
	<action id="reserve" method="POST" endpoint="/reserve"><param name="what" required="true"/><param name="seats" type="number"/></action>
	<action id="json" method="PUT" endpoint="/json" enctype="application/json"><param name="seats" type="number"/><param name="ok" type="boolean"/></action>
	<action id="form" method="POST" endpoint="/form" enctype="multipart/form-data"><param name="note"/></action>
	<action id="plain" method="POST" endpoint="/plain" enctype="text/plain"><param name="note"/></action>
	<action id="drop" method="DELETE" endpoint="/thing" confirm="false"/>
</interact>`

func TestDo(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		name := map[bool]string{false: "xml", true: "json"}[asJSON]
		t.Run("ANML-9.3-03/accept-query-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: searchAndBuy, json: asJSON})
			r := s.does(Call{Action: "search", Args: map[string]string{"q": "tea & milk"}}, lookleap.CodeOK)
			s.sends("GET /search?kind=all&q=tea+%26+milk&n=3")
			if len(s.user.Requests()) != 0 || r == nil || r.Status != 204 {
				t.Errorf("asked %d times, result %+v", len(s.user.Requests()), r)
			}
			if mediaType, given := s.net.Journal().Requests()[0].Header["Content-Type"]; given {
				t.Errorf("a request without a body is of type %q", mediaType)
			}
		})
	}
	t.Run("ANML-9.3-03/accept-form", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "reserve", Args: map[string]string{"seats": "2", "what": "t1"}}, lookleap.CodeOK)
		sent := s.net.Journal().Requests("www.shop.example")[0]
		equals(t, string(sent.Body), "what=t1&seats=2")
		equals(t, sent.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
		asked := s.user.Requests()
		if len(asked) != 1 || asked[0].Kind != lookleap.ConsentAct || asked[0].Items[0].ID != itemAct || asked[0].Items[0].Optional {
			t.Fatalf("%+v", asked)
		}
		shown := asked[0].String()
		for _, want := range []string{"POST", "shop.example", "/reserve", `"what": "t1"`, `"seats": "2"`} {
			hasTexts(t, shown, want)
		}
	})
	t.Run("ANML-9.3-03/accept-json", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "json", ArgsJSON: []byte(`{"seats":2,"ok":true}`)}, lookleap.CodeOK)
		equals(t, string(s.net.Journal().Requests()[0].Body), `{"seats":2,"ok":true}`)
	})
	t.Run("ANML-9.3-03/accept-multipart", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "form", Args: map[string]string{"note": "hello"}}, lookleap.CodeOK)
		sent := s.net.Journal().Requests()[0]
		if !strings.HasPrefix(sent.Header.Get("Content-Type"), "multipart/form-data; boundary=") || !strings.Contains(string(sent.Body), "\r\n\r\nhello\r\n") {
			t.Errorf("%s\n%s", sent.Header, sent.Body)
		}
	})
	t.Run("ANML-9.3-03/reject-unknown-enctype", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "plain", Args: map[string]string{"note": "hello"}}, CodeEncType)
		s.sends()
	})
	t.Run("ANML-9.1-01/accept-method", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "json"}, lookleap.CodeOK)
		s.does(Call{Action: "drop"}, lookleap.CodeOK)
		s.sends("PUT /json", "DELETE /thing")
	})
	t.Run("ANML-9.3-03/accept-query-of-each-method-without-a-body", func(t *testing.T) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE"} {
			s := newStage(t, setting{doc: `<interact><action id="a" method="` + method + `" endpoint="/a"><param name="q"/></action></interact>`})
			s.does(Call{Action: "a", Args: map[string]string{"q": "x y"}}, lookleap.CodeOK)
			s.sends(method + " /a?q=x+y")
			if sent := s.net.Journal().Requests()[0]; len(sent.Body) != 0 {
				t.Errorf("%s: %s", method, sent.Body)
			}
		}
	})
	t.Run("ANML-9-01/accept-headers", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "reserve", Args: map[string]string{"what": "t1"}}, lookleap.CodeOK)
		for name := range s.net.Journal().Requests()[0].Header {
			switch name {
			case "Accept", "Content-Type", "Content-Length", "User-Agent", "Accept-Encoding", lookleap.IdempotencyHeader:
			default:
				t.Errorf("the header %s is sent", name)
			}
		}
	})
	t.Run("ANML-11.3-12/accept-asks-for-problems", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "drop"}, lookleap.CodeOK)
		want := "application/anml+xml, application/anml+json;q=0.9, application/problem+json;q=0.5, application/problem+xml;q=0.4"
		equals(t, s.net.Journal().Requests()[0].Header.Get("Accept"), want)
	})
}

func TestArguments(t *testing.T) {
	s := newStage(t, setting{doc: searchAndBuy})
	for _, c := range []struct {
		name string
		call Call
		want lookleap.Code
	}{
		{"reject-missing", Call{Action: "search"}, anml.CodeParamMissing},
		{"reject-type", Call{Action: "search", Args: map[string]string{"q": "x", "n": "many"}}, anml.CodeParamInvalid},
		{"reject-unknown", Call{Action: "search", Args: map[string]string{"q": "x", "z": "1"}}, anml.CodeParamUnknown},
		{"reject-json-text", Call{Action: "search", ArgsJSON: []byte(`{"q":`)}, anml.CodeParamInvalid},
		{"reject-both", Call{Action: "search", Args: map[string]string{"q": "x"}, ArgsJSON: []byte(`{"q":"x"}`)}, lookleap.CodeUsage},
		{"reject-too-long-for-a-url", Call{Action: "search", Args: map[string]string{"q": strings.Repeat("x", 9000)}}, anml.CodeParamInvalid},
	} {
		t.Run("ANML-8.6.2-03/"+c.name, func(t *testing.T) {
			hasCode(t, second(s.page.Do(t.Context(), c.call)), c.want)
			s.sends()
		})
	}
	t.Run("K05/reject-line-ends", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(`<action id="a" method="POST" endpoint="/a"><param name="x" default="1&#13;&#10;Host: evil.test"/></action>`)})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		sent := s.net.Journal().Requests()[0]
		if strings.ContainsAny(string(sent.Body), "\r\n") || sent.Host != "www.shop.example" {
			t.Errorf("%q", sent.Body)
		}
	})
	t.Run("K05/reject-catastrophic-pattern", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(`<action id="a" method="GET" endpoint="/a"><param name="x" pattern="(a+)+$"/></action>`)})
		s.does(Call{Action: "a", Args: map[string]string{"x": strings.Repeat("a", 4000) + "!"}}, anml.CodeParamInvalid)
		s.sends()
	})
}

func TestFindingActions(t *testing.T) {
	s := newStage(t, setting{doc: interact(
		action("one", "GET", "/one", ""), action("two", "GET", "/a", ""), action("two", "GET", "/b", ""),
		action("trace", "TRACE", "/a", ""), action("script", "GET", "javascript:alert(1)", ""))})
	for _, c := range []struct {
		name string
		call Call
		want lookleap.Code
	}{
		{"reject-none", Call{Action: "other"}, anml.CodeUnknownAction},
		{"reject-several", Call{Action: "two"}, anml.CodeAmbiguousAction},
		{"reject-other-site", Call{Site: "brand.example", Action: "one"}, anml.CodeUnknownAction},
		{"reject-no-site", Call{Site: "not a domain", Action: "one"}, anml.CodeUnknownAction},
		{"reject-method", Call{Action: "trace"}, CodeNotExecutable},
		{"reject-script", Call{Action: "script"}, CodeNotExecutable},
	} {
		t.Run("ANML-9.3-02/"+c.name, func(t *testing.T) {
			hasCode(t, second(s.page.Do(t.Context(), c.call)), c.want)
			s.sends()
		})
	}
	t.Run("ANML-9.3-02/accept-once", func(t *testing.T) {
		s.does(Call{Action: "one"}, lookleap.CodeOK)
		s.sends("GET /one")
	})
}

func TestConfirmation(t *testing.T) {
	for _, c := range []struct {
		name, method, more string
		policy             *UserPolicy
		asked              int
	}{
		{"ANML-13.4-05/accept-get", "GET", "", nil, 0},
		{"ANML-13.4-05/accept-post-asked", "POST", "", nil, 1},
		{"ANML-13.4-05/accept-put-asked", "PUT", "", nil, 1},
		{"ANML-13.4-05/accept-patch-asked", "PATCH", "", nil, 1},
		{"ANML-13.4-05/accept-delete-asked", "DELETE", "", nil, 1},
		{"ANML-8.6.1-08/accept-confirm", "GET", `confirm="true"`, nil, 1},
		{"ANML-8.6.1-08/accept-invalid-counts", "GET", `confirm="maybe"`, nil, 1},
		{"K04/reject-confirm-false", "POST", `confirm="false"`, nil, 1},
		{"K04/reject-post-unstated", "POST", "", nil, 1},
		{"K04/reject-put", "PUT", `confirm="false"`, nil, 1},
		{"K04/reject-patch", "PATCH", `confirm="false"`, nil, 1},
		{"K04/reject-delete", "DELETE", `confirm="false"`, nil, 1},
		{"K04/reject-lying-description", "POST", `confirm="false" description="only looks"`, nil, 1},
		{"K04/reject-harmless-delete", "DELETE", `confirm="false"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 1},
		{"ANML-13.4-05/accept-relaxed-by-policy", "POST", `confirm="false"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 0},
		{"ANML-13.4-05/reject-relaxed-delete", "DELETE", `confirm="false"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 1},
		{"ANML-13.4-04/reject-relaxed-confirm", "POST", `confirm="true"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 1},
		{"ANML-13.4-05/accept-raised-by-policy", "GET", "", &UserPolicy{Weigh: func(context.Context, Act) Weight { return Consequential }}, 1},
		{"ANML-13.4-05/reject-unknown-weight", "GET", "", &UserPolicy{Weigh: func(context.Context, Act) Weight { return 99 }}, 1},
		{"ANML-13.4-05/reject-failing-policy", "GET", "", &UserPolicy{Weigh: func(context.Context, Act) Weight { panic("no") }}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action("a", c.method, "/a", c.more)), user: User{Policy: c.policy}})
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			equals(t, len(s.user.Requests()), c.asked)
			s.sends(c.method + " /a")
		})
	}
	for _, id := range []string{"buyNow", "delete-all", "pay"} {
		t.Run("K04/reject-silent-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action(id, "GET", "/x", `confirm="false"`)), replies: []lookleaptest.Reply{lookleaptest.Refuse()}})
			s.does(Call{Action: id}, lookleap.CodeConsentRefused)
			s.sends()
		})
	}
	for name, reply := range map[string]lookleaptest.Reply{
		"deny": lookleaptest.Refuse(), "error": lookleaptest.Fail(errTest), "other": lookleaptest.Approve("never-asked"),
		"error-and-yes": func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleaptest.Decide(r), errTest
		},
	} {
		t.Run("ANML-13.4-04/reject-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`)), replies: []lookleaptest.Reply{reply}})
			if _, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil {
				t.Error("it was done")
			}
			s.sends()
		})
	}
	t.Run("ANML-13.4-04/reject-without-prompter", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`)), host: func(h *lookleap.Host) { h.Prompter = nil }})
		s.does(Call{Action: "a"}, lookleap.CodeConsentNoPrompter)
		s.sends()
	})
	t.Run("ANML-13.4-04/accept-one-for-one", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`))})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		equals(t, len(s.user.Requests()), 2)
	})
}

func TestPolicyVeto(t *testing.T) {
	for name, veto := range map[string]func(context.Context, Act) error{
		"deny":  func(context.Context, Act) error { return errTest },
		"panic": func(context.Context, Act) error { panic("no") },
	} {
		t.Run("ANML-13.4-11/reject-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: searchAndBuy, user: User{Policy: &UserPolicy{VetoAct: veto}}})
			s.does(Call{Action: "drop"}, CodePolicyVeto)
			s.sends()
			equals(t, len(s.user.Requests()), 1)
		})
	}
	t.Run("ANML-13.4-11/accept-nothing-objects", func(t *testing.T) {
		var seen Act
		s := newStage(t, setting{doc: searchAndBuy, user: User{Policy: &UserPolicy{VetoAct: func(_ context.Context, a Act) error { seen = a; return nil }}}})
		s.does(Call{Action: "drop"}, lookleap.CodeOK)
		if seen.Method != "DELETE" || seen.URL != "https://www.shop.example/thing" || seen.Owner != "shop.example" {
			t.Errorf("%+v", seen)
		}
	})
}

func TestResolveEndpoint(t *testing.T) {
	document, err := domain.Parse(documentURL)
	must(t, err)
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
		{"ANML-13.4-03/reject-8443", "https://www.shop.example:8443/x", "", "blocked-port"},
		{"ANML-13.4-03/reject-http-at-443", "http://www.shop.example:443/x", "", "blocked-port"},
		{"ANML-13.4-03/reject-ip-without-scheme", "//10.0.0.1/x", "", "ip-host"},
		{"ANML-13.4-03/reject-ip-over-http", "http://169.254.169.254/x", "", "ip-host"},
		{"ANML-13.4-03/reject-internal", "https://db.internal/x", "", "special-host"},
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
		sameList(t, items(s, 0), []string{itemAct, itemOrigin})
		shown := s.user.Requests()[0].String()
		for _, want := range []string{"www.[shop.example]", "api.[shop.example]"} {
			hasTexts(t, shown, want)
		}
	})
	t.Run("ANML-13.11-02/accept-remembered", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set})
		s.does(Call{Action: "sibling"}, lookleap.CodeOK)
		s.does(Call{Action: "sibling"}, lookleap.CodeOK)
		equals(t, len(s.user.Requests()), 1)
		other := s.open(Options{}, User{})
		page, err := other.Open(t.Context(), documentURL)
		must(t, err)
		if _, err := page.Do(t.Context(), Call{Action: "sibling"}); err != nil || len(s.user.Requests()) != 2 {
			t.Errorf("another session was not asked: %v", err)
		}
	})
	t.Run("ANML-13.11-02/reject-remembered-for-others", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set})
		for range 3 {
			s.does(Call{Action: "other"}, lookleap.CodeOK)
		}
		equals(t, len(s.user.Requests()), 3)
	})
	t.Run("ANML-13.4-01/accept-named", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("POST"), before: set})
		s.does(Call{Action: "other"}, lookleap.CodeOK)
		hasTexts(t, s.user.Requests()[0].String(), "[b.example]", "another party")
	})
	for _, id := range []string{"sibling", "other"} {
		t.Run("ANML-13.4-01/reject-without-prompter-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere("GET"), before: set, host: func(h *lookleap.Host) { h.Prompter = nil }})
			s.does(Call{Action: id}, lookleap.CodeConsentNoPrompter)
			sameList(t, s.sent("www.shop.example", "api.shop.example", "b.example"), nil)
		})
		t.Run("ANML-13.4-01/reject-same-origin-only-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere("GET"), before: set, options: Options{SameOriginOnly: true}})
			s.does(Call{Action: id}, CodeEndpointForeign)
			if len(s.user.Requests()) != 0 {
				t.Error("the user was asked")
			}
		})
		for method, suffix := range map[string]string{"GET": "", "POST": "-post", "PUT": "-put", "DELETE": "-delete"} {
			t.Run("K01/reject-refused-origin-"+id+suffix, func(t *testing.T) {
				s := newStage(t, setting{doc: elsewhere(method), before: set, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
				s.does(Call{Action: id}, lookleap.CodeConsentRefused)
				sameList(t, s.sent("api.shop.example", "b.example"), nil)
			})
		}
	}
	t.Run("ANML-13.4-01/accept-own", func(t *testing.T) {
		s := newStage(t, setting{doc: elsewhere("GET"), before: set, options: Options{SameOriginOnly: true}})
		s.does(Call{Action: "own"}, lookleap.CodeOK)
		s.sends("GET /a")
	})
}

// TestEffectsOfOthers: a plan whose effect this package would not have written is refused,
// although the user agreed to it. Each case breaks one rule of an effect that is valid otherwise.
func TestEffectsOfOthers(t *testing.T) {
	const doc = titled + `<interact><action id="find" method="GET" endpoint="/find?lang=en" confirm="true"><param name="q"/></action></interact>`
	s := newStage(t, setting{doc: doc, replies: []lookleaptest.Reply{pendingReply}})
	plan, err := lookleap.ParsePlan(s.suspended(Call{Action: "find", Args: map[string]string{"q": "tea"}}).State)
	must(t, err)
	plain := func(method string) func(*effect) {
		return func(e *effect) {
			e.Send.Endpoint, e.Send.URL = "http://www.shop.example/find", "http://www.shop.example/find?q=tea"
			e.Send.Method, e.Send.Plain, e.Send.Reach = method, true, atDomain
		}
	}
	for name, c := range map[string]struct {
		change func(*effect)
		want   string // in the error; "" if there is none
	}{
		"accept-own":         {func(*effect) {}, ""},
		"accept-plain-read":  {plain("GET"), ""},
		"accept-plain-head":  {plain("HEAD"), ""},
		"reject-plain-write": {plain("DELETE"), "must not be sent over plain http"},
		"reject-plain-told": {func(e *effect) {
			plain("GET")(e)
			e.Disclosures = []disclosure{{Kind: discloseArg, Field: "email", Value: annsEmail}}
		}, "must not be sent over plain http"},
		"reject-method":   {func(e *effect) { e.Send.Method = "TRACE" }, "method is not supported"},
		"reject-query":    {func(e *effect) { e.Send.URL = "https://www.shop.example/find?lang=de" }, "not that of its endpoint"},
		"reject-fragment": {func(e *effect) { e.Send.URL += "#x" }, "URL is not permitted"},
		"reject-document": {func(e *effect) { e.Exchange.Document, e.Send.Reach = "", atOther }, "document has no https URL"},
		"reject-expects":  {func(e *effect) { e.Send.Expects = "text/plain\r\nX: y" }, "media type is malformed"},
		"reject-null":     {func(e *effect) { e.Send.ContentType = "text/plain\x00" }, "media type is malformed"},
	} {
		t.Run("K01/"+name, func(t *testing.T) {
			e, err := parseEffect(plan.Effect())
			must(t, err)
			c.change(e)
			data, err := json.Marshal(e)
			must(t, err)
			switch e, err := parseEffect(data); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (e != nil || lookleap.CodeOf(err) != lookleap.CodePlanInvalid || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
