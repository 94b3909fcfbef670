package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

const asking = `<head><title>Shop</title></head>
<constraints><disclosure field="email" requires="explicit-consent"/><disclosure field="tel" requires="explicit-consent"/></constraints>
<knowledge><ask field="email" action="book" purpose="to send the ticket" required="true"/><ask field="tel" action="book" purpose="to call you about delays"/></knowledge>
<interact><action id="book" method="POST" endpoint="/book"><param name="seats"/></action><action id="get" method="GET" endpoint="/get"/>
<action id="api" method="POST" endpoint="https://api.shop.example/book"/></interact>`

var ada = Fields{"email": {Text: "ada@example.org"}, "tel": {Text: "+44 20 7946 0000"}, "fn": {Text: "Ada"}}

// brokenLedger is a store that takes no entries, or panics.
func brokenLedger(panics bool) lookleap.Store {
	return &hookedStore{Store: lookleap.NewMemoryStore(), hook: func(call string) error {
		if !strings.HasPrefix(call, "Put "+keyLedger) {
			return nil
		}
		if panics {
			panic("no")
		}
		return errTest
	}}
}

func TestAnsweringActions(t *testing.T) {
	t.Run("ANML-9.2-01/accept-in-order", func(t *testing.T) {
		ledger := lookleap.NewMemoryStore()
		var before []string
		s := newStage(t, setting{doc: asking, user: User{Profile: ada, Ledger: ledger}})
		s.shop.HandleFunc("/book", func(w http.ResponseWriter, _ *http.Request) {
			before = ledgerOf(t, ledger)
			w.WriteHeader(204)
		})
		s.does(Call{Action: "book"}, lookleap.CodeOK)
		sent := s.net.Journal().Requests()[0]
		if sent.Header.Get("Content-Type") != anml.MediaTypeXML || !strings.Contains(string(sent.Body), `value="ada@example.org"`) || !strings.Contains(string(sent.Body), "consent=\"explicit\"") {
			t.Errorf("%s\n%s", sent.Header, sent.Body)
		}
		if !slices.ContainsFunc(before, func(e string) bool { return strings.HasPrefix(e, "disclosed email") }) || before[len(before)-1] != "action" {
			t.Errorf("when the request came, the ledger held %q", before)
		}
		if after := ledgerOf(t, ledger); after[len(after)-1] != "outcome ok" {
			t.Errorf("afterwards it holds %q", after)
		}
	})
	t.Run("ANML-9.2-01/reject-before-asking", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, host: func(h *lookleap.Host) { h.Prompter = nil }})
		s.does(Call{Action: "book"}, lookleap.CodeConsentNoPrompter)
		s.sends()
	})
	t.Run("ANML-13.4-05/accept-shown-with-values", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
		s.does(Call{Action: "book"}, lookleap.CodeOK)
		equals(t, len(s.user.Requests()), 1)
		shown := s.user.Requests()[0].String()
		for _, want := range []string{"ada@example.org", "+44 20 7946 0000", "to send the ticket", "POST"} {
			hasTexts(t, shown, want)
		}
	})
	for name, ledger := range map[string]lookleap.Store{"error": brokenLedger(false), "panic": brokenLedger(true)} {
		t.Run("ANML-9.2-01/reject-ledger-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: asking, user: User{Profile: ada, Ledger: ledger}})
			s.does(Call{Action: "book"}, lookleap.CodeIO)
			s.sends()
		})
	}
}

// TestAnswersNeedABody: answers never enter a URL (R56).
func TestAnswersNeedABody(t *testing.T) {
	doc := func(method, required string) string {
		return `<head><title>x</title></head><knowledge><ask field="email" action="a" purpose="x" required="` + required + `"/></knowledge>` + interactOnly(action("a", method, "/a", ""))
	}
	for _, method := range []string{"GET", "HEAD", "DELETE", "OPTIONS"} {
		t.Run("ANML-9.3-03/reject-answers-"+method, func(t *testing.T) {
			s := newStage(t, setting{doc: doc(method, "true"), user: User{Profile: ada}})
			s.does(Call{Action: "a"}, CodeNoBodyMethod)
			s.sends()
			if len(s.page.Tools()) != 0 {
				t.Error("a tool is offered")
			}
		})
	}
	for name, reply := range map[string]Reply{
		"refusal": {Refuse: map[string]anml.Reason{"email": anml.UserDenied}}, "inform": {Informs: []Value{{Text: "by bus"}}},
		"ask": {Asks: []Counter{{Field: "lang", Purpose: "to answer you"}}},
	} {
		t.Run("ANML-9.3-03/reject-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: doc("GET", "false"), user: User{Profile: ada}})
			s.does(Call{Action: "a", Reply: &reply}, CodeNoBodyMethod)
			s.sends()
		})
	}
	t.Run("ANML-9.1-01/accept-each-method", func(t *testing.T) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH"} {
			s := newStage(t, setting{doc: `<interact><action id="a" method="` + method + `" endpoint="/a"/></interact>`})
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			s.sends(method + " /a")
		}
	})
	t.Run("ANML-9.3-03/accept-nothing-answered", func(t *testing.T) {
		s := newStage(t, setting{doc: doc("GET", "false"), user: User{Profile: ada}})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.sends("GET /a")
		if got := entries(t, s.session.Ledger(), EntryDisclosed, EntryRefused); got != nil || len(s.user.Requests()) != 0 {
			t.Errorf("%+v, asked %d times", got, len(s.user.Requests()))
		}
	})
	t.Run("ANML-9.3-03/reject-arguments-beside-answers", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
		s.does(Call{Action: "book", Args: map[string]string{"seats": "2"}}, lookleap.CodeUsage)
		s.sends()
	})
	t.Run("ANML-8.6.2-03/reject-required-parameter-without-ask", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.Replace(asking, `<param name="seats"/>`, `<param name="seats" required="true"/>`, 1), user: User{Profile: ada}})
		s.does(Call{Action: "book"}, anml.CodeParamMissing)
	})
	t.Run("ANML-8.6.2-03/accept-required-parameter-with-ask", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.Replace(asking, `<param name="seats"/>`, `<param name="email" required="true"/>`, 1), user: User{Profile: ada}})
		s.does(Call{Action: "book"}, lookleap.CodeOK)
	})
	for _, id := range []string{"ANML-13.6-04/reject-answers", "ANML-13.12-03/reject-answers"} {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, setting{doc: strings.Replace(asking, `endpoint="/book"`, `endpoint="http://www.shop.example/book"`, 1), user: User{Profile: ada}})
			s.does(Call{Action: "book"}, CodeInsecureEndpoint)
			s.does(Call{Action: "book", Reply: &Reply{Refuse: map[string]anml.Reason{"email": anml.UserDenied, "tel": anml.UserDenied}}}, CodeInsecureEndpoint)
			s.sends()
		})
	}
}

// TestFormats: which serialization a response is in (section 11.1).
func TestFormats(t *testing.T) {
	xml, json := anml.XML, anml.JSON
	for _, c := range []struct {
		name    string
		json    bool
		accept  string
		options Options
		enctype string
		want    anml.Format
	}{
		{"as-the-document-xml", false, "", Options{}, "", xml},
		{"as-the-document-json", true, "", Options{}, "", json},
		{"as-the-service-prefers", false, anml.MediaTypeJSON, Options{}, "", json},
		{"as-the-host-wants", false, "", Options{Format: &json}, "", json},
		{"as-the-action-says", false, "", Options{}, anml.MediaTypeJSON, json},
		{"host-before-service", false, anml.MediaTypeXML, Options{Format: &json}, "", json},
	} {
		t.Run("ANML-9.3-03/accept-"+c.name, func(t *testing.T) {
			doc := strings.Replace(asking, `endpoint="/book"`, `endpoint="/book" enctype="`+c.enctype+`"`, 1)
			s := newStage(t, setting{doc: doc, json: c.json, options: c.options, user: User{Profile: ada}, before: func(s *stage) {
				if c.accept != "" {
					s.shop.Fault("/anml", lookleaptest.Header("Accept", c.accept))
				}
			}})
			s.does(Call{Action: "book"}, lookleap.CodeOK)
			sent := s.net.Journal().Requests()[0]
			equals(t, sent.Header.Get("Content-Type"), c.want.MediaType())
			must(t, second(anml.Parse(sent.Header.Get("Content-Type"), sent.Body, anml.ReadOptions{Role: anml.RoleAgentResponse})))
		})
	}
	t.Run("ANML-11.3-25/accept-415-preference", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
		s.shop.Handle("/book", lookleaptest.Sequence(lookleaptest.Status(415, "Accept", anml.MediaTypeJSON), lookleaptest.Status(204)))
		_, err := s.page.Do(t.Context(), Call{Action: "book"})
		if lookleap.CodeOf(err) != lookleap.CodeBadStatus || !strings.Contains(err.Error(), "serialization") {
			t.Errorf("got %v", err)
		}
		s.does(Call{Action: "book"}, lookleap.CodeOK)
		equals(t, s.net.Journal().Requests()[1].Header.Get("Content-Type"), anml.MediaTypeJSON)
	})
}

// TestPersonalArguments: a value of the user's in a parameter is asked about
// whatever the method is.
func TestPersonalArguments(t *testing.T) {
	doc := `<head><title>x</title></head>` + interactOnly(`<action id="find" method="GET" endpoint="/find"><param name="q"/></action>`)
	t.Run("ANML-13.4-05/accept-personal-get", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ada}})
		s.does(Call{Action: "find", Args: map[string]string{"q": "ada@example.org"}}, lookleap.CodeOK)
		equals(t, len(s.user.Requests()), 1)
		for _, item := range s.user.Requests()[0].Items {
			if item.Optional {
				t.Errorf("the item %s can be left out, and the argument is sent all the same", item.ID)
			}
		}
	})
	t.Run("ANML-13.4-05/reject-personal-get", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
		s.does(Call{Action: "find", Args: map[string]string{"q": "ada@example.org"}}, lookleap.CodeConsentRefused)
		s.sends()
	})
	t.Run("ANML-13.4-05/accept-allowed-data-is-confirmed", func(t *testing.T) {
		policy := &UserPolicy{}
		must(t, policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}))
		s := newStage(t, setting{doc: `<head><title>x</title></head><constraints><disclosure field="email" requires="none"/></constraints>` +
			interactOnly(`<action id="find" method="GET" endpoint="/find"><param name="email" description="where to write to"/></action>`), user: User{Profile: ada, Policy: policy}})
		s.does(Call{Action: "find", Args: map[string]string{"email": "ada@example.org"}}, lookleap.CodeOK)
		policy.Weigh = func(context.Context, Act) Weight { return Harmless } // whatever the host thinks of the action
		s.does(Call{Action: "find", Args: map[string]string{"email": "ada@example.org"}}, lookleap.CodeOK)
		if asked := s.user.Requests(); len(asked) != 2 || len(asked[0].Items) != 1 || len(asked[1].Items) != 1 {
			t.Errorf("asked %d times", len(asked))
		}
	})
	t.Run("ANML-13.12-03/reject-personal-get-over-http", func(t *testing.T) {
		s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/find"`, `endpoint="http://www.shop.example/find"`, 1), user: User{Profile: ada}})
		s.does(Call{Action: "find", Args: map[string]string{"q": "ada@example.org"}}, CodeInsecureEndpoint)
		s.sends()
	})
	t.Run("ANML-13.4-05/accept-impersonal-get", func(t *testing.T) {
		s := newStage(t, setting{doc: doc, user: User{Profile: ada}})
		s.does(Call{Action: "find", Args: map[string]string{"q": "tea"}}, lookleap.CodeOK)
		if n := len(s.user.Requests()); n != 0 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestNoOtherOriginGetsAnswers: a redirect never carries what was answered away.
func TestNoOtherOriginGetsAnswers(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run("K02/reject-answers-"+http.StatusText(status), func(t *testing.T) {
			s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
			other := s.net.Site("api.shop.example").Status("*", 204)
			s.shop.Status("/book", status, "Location", "https://api.shop.example/book")
			if _, err := s.page.Do(t.Context(), Call{Action: "book"}); err == nil {
				t.Error("it is followed")
			}
			if n := len(s.net.Journal().Dials(other.Addr().String())); n != 0 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

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

// TestAcknowledgedHTTP: an action at an http endpoint is sent after the user accepted that, and
// only if it reads.
func TestAcknowledgedHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		replies []lookleaptest.Reply
		want    lookleap.Code
		sent    []string
	}{
		"accept-acknowledged":     {"GET", []lookleaptest.Reply{lookleaptest.Approve()}, lookleap.CodeOK, []string{"GET /a"}},
		"reject-not-acknowledged": {"GET", []lookleaptest.Reply{lookleaptest.Approve(itemAct, itemOrigin)}, lookleap.CodeConsentRefused, nil},
		"reject-not-for-post":     {"POST", []lookleaptest.Reply{lookleaptest.Approve()}, CodeInsecureEndpoint, nil},
	} {
		t.Run("ANML-8.6.1-04/"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere(c.method), replies: c.replies, before: func(s *stage) {
				s.net.Site("api.shop.example").Plain().Status("*", 204)
				s.host.Fetcher = s.net.Unguarded()
			}})
			s.does(Call{Action: "plain"}, c.want)
			sameList(t, s.sent("api.shop.example"), c.sent)
		})
	}
}

func TestPlainEndpoints(t *testing.T) {
	foreign := func(h *lookleap.Host, s *stage) { h.Fetcher = s.net.Unguarded() }
	world := func(t *testing.T, method string, replies ...lookleaptest.Reply) *stage {
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
		hasTexts(t, first, "without encryption")
		if got := s.sent("api.shop.example"); len(got) != 2 || len(second) != 1 {
			t.Errorf("sent %q, asked %d times", got, len(second))
		}
		if h := s.net.Journal().Requests("api.shop.example")[0].Header; h.Get("Cookie") != "" || h.Get("Authorization") != "" {
			t.Errorf("%v", h)
		}
	})
	t.Run("ANML-13.12-04/reject-not-acknowledged", func(t *testing.T) {
		s := world(t, "GET", lookleaptest.Approve(itemAct, itemOrigin))
		s.does(Call{Action: "plain"}, lookleap.CodeConsentRefused)
		sameList(t, s.sent("api.shop.example"), nil)
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
