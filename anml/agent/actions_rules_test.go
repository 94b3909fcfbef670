package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
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
			if got := s.sent("api.shop.example"); !slices.Equal(got, c.sent) {
				t.Errorf("sent %q, want %q", got, c.sent)
			}
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
		s := world(t, "GET", lookleaptest.Approve(itemAct, itemOrigin))
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
