package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
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
		})
	}
	t.Run("ANML-9.3-03/accept-form", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "reserve", Args: map[string]string{"seats": "2", "what": "t1"}}, lookleap.CodeOK)
		sent := s.net.Journal().Requests("www.shop.example")[0]
		if string(sent.Body) != "what=t1&seats=2" || sent.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s %s", sent.Header, sent.Body)
		}
		asked := s.user.Requests()
		if len(asked) != 1 || asked[0].Kind != lookleap.ConsentAct || asked[0].Items[0].ID != itemAct || asked[0].Items[0].Optional {
			t.Fatalf("%+v", asked)
		}
		shown := asked[0].String()
		for _, want := range []string{"POST", "shop.example", "/reserve", `"what": "t1"`, `"seats": "2"`} {
			if !strings.Contains(shown, want) {
				t.Errorf("the request does not show %q:\n%s", want, shown)
			}
		}
	})
	t.Run("ANML-9.3-03/accept-json", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "json", ArgsJSON: []byte(`{"seats":2,"ok":true}`)}, lookleap.CodeOK)
		if body := s.net.Journal().Requests()[0].Body; string(body) != `{"seats":2,"ok":true}` {
			t.Errorf("%s", body)
		}
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
	t.Run("ANML-9-01/accept-headers", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "reserve", Args: map[string]string{"what": "t1"}}, lookleap.CodeOK)
		for name := range s.net.Journal().Requests()[0].Header {
			switch name {
			case "Accept", "Content-Type", "Content-Length", "User-Agent", "Accept-Encoding":
			default:
				t.Errorf("the header %s is sent", name)
			}
		}
	})
	t.Run("ANML-11.3-12/accept-asks-for-problems", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy})
		s.does(Call{Action: "drop"}, lookleap.CodeOK)
		want := "application/anml+xml, application/anml+json;q=0.9, application/problem+json;q=0.5, application/problem+xml;q=0.4"
		if got := s.net.Journal().Requests()[0].Header.Get("Accept"); got != want {
			t.Errorf("got %s", got)
		}
	})
}

func TestArguments(t *testing.T) {
	s := newStage(t, setting{doc: searchAndBuy})
	for _, c := range []struct {
		name string
		call Call
		want lookleap.Code
	}{
		{"reject-missing", Call{Action: "search"}, CodeParamMissing},
		{"reject-type", Call{Action: "search", Args: map[string]string{"q": "x", "n": "many"}}, CodeParamInvalid},
		{"reject-unknown", Call{Action: "search", Args: map[string]string{"q": "x", "z": "1"}}, CodeParamUnknown},
		{"reject-json-text", Call{Action: "search", ArgsJSON: []byte(`{"q":`)}, CodeParamInvalid},
		{"reject-both", Call{Action: "search", Args: map[string]string{"q": "x"}, ArgsJSON: []byte(`{"q":"x"}`)}, lookleap.CodeUsage},
		{"reject-too-long-for-a-url", Call{Action: "search", Args: map[string]string{"q": strings.Repeat("x", 9000)}}, CodeParamInvalid},
	} {
		t.Run("ANML-8.6.2-03/"+c.name, func(t *testing.T) {
			if _, err := s.page.Do(t.Context(), c.call); lookleap.CodeOf(err) != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
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
		s.does(Call{Action: "a", Args: map[string]string{"x": strings.Repeat("a", 4000) + "!"}}, CodeParamInvalid)
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
		{"reject-none", Call{Action: "other"}, CodeUnknownAction},
		{"reject-several", Call{Action: "two"}, CodeAmbiguousAction},
		{"reject-other-site", Call{Site: "brand.example", Action: "one"}, CodeUnknownAction},
		{"reject-no-site", Call{Site: "not a domain", Action: "one"}, CodeUnknownAction},
		{"reject-method", Call{Action: "trace"}, CodeNotExecutable},
		{"reject-script", Call{Action: "script"}, CodeNotExecutable},
	} {
		t.Run("ANML-9.3-02/"+c.name, func(t *testing.T) {
			if _, err := s.page.Do(t.Context(), c.call); lookleap.CodeOf(err) != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
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
		{"K04/reject-lying-description", "POST", `confirm="false" description="only looks"`, nil, 1},
		{"K04/reject-harmless-delete", "DELETE", `confirm="false"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 1},
		{"ANML-13.4-05/accept-relaxed-by-policy", "POST", `confirm="false"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 0},
		{"ANML-13.4-04/reject-relaxed-confirm", "POST", `confirm="true"`, &UserPolicy{Weigh: func(context.Context, Act) Weight { return Harmless }}, 1},
		{"ANML-13.4-05/accept-raised-by-policy", "GET", "", &UserPolicy{Weigh: func(context.Context, Act) Weight { return Consequential }}, 1},
		{"ANML-13.4-05/reject-failing-policy", "GET", "", &UserPolicy{Weigh: func(context.Context, Act) Weight { panic("no") }}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action("a", c.method, "/a", c.more)), user: User{Policy: c.policy}})
			s.does(Call{Action: "a"}, lookleap.CodeOK)
			if n := len(s.user.Requests()); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			s.sends(c.method + " /a")
		})
	}
	for _, id := range []string{"buyNow", "delete-all", "pay"} {
		t.Run("K04/reject-silent-"+id, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action(id, "GET", "/x", `confirm="false"`)), replies: []labprompt.Reply{labprompt.Deny()}})
			s.does(Call{Action: id}, lookleap.CodeConsentRefused)
			s.sends()
		})
	}
	for name, reply := range map[string]labprompt.Reply{
		"deny": labprompt.Deny(), "error": labprompt.Fail(errTest), "error-and-yes": labprompt.FailApproving(errTest), "other": labprompt.ApproveOther(),
	} {
		t.Run("ANML-13.4-04/reject-"+name, func(t *testing.T) {
			s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`)), replies: []labprompt.Reply{reply}})
			if _, err := s.page.Do(t.Context(), Call{Action: "a"}); err == nil {
				t.Error("it was done")
			}
			s.sends()
		})
	}
	t.Run("ANML-13.4-04/reject-nobody-there", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`)), host: func(h *lookleap.Host) { h.Prompter = nil }})
		s.does(Call{Action: "a"}, lookleap.CodeConsentNoPrompter)
		s.sends()
	})
	t.Run("ANML-13.4-04/accept-one-for-one", func(t *testing.T) {
		s := newStage(t, setting{doc: interact(action("a", "POST", "/a", `confirm="true"`))})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		if n := len(s.user.Requests()); n != 2 {
			t.Errorf("asked %d times", n)
		}
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
			if n := len(s.user.Requests()); n != 1 {
				t.Errorf("the policy comes last, and the user was asked %d times", n)
			}
		})
	}
	t.Run("ANML-13.4-11/accept", func(t *testing.T) {
		var seen Act
		s := newStage(t, setting{doc: searchAndBuy, user: User{Policy: &UserPolicy{VetoAct: func(_ context.Context, a Act) error { seen = a; return nil }}}})
		s.does(Call{Action: "drop"}, lookleap.CodeOK)
		if seen.Method != "DELETE" || seen.URL != "https://www.shop.example/thing" || seen.Owner != "shop.example" {
			t.Errorf("%+v", seen)
		}
	})
}

var _ = lab.Status
