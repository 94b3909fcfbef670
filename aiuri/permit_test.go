package aiuri_test

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestPermit: an endpoint that the options do not permit is neither looked up nor called, and
// the user is not asked.
func TestPermit(t *testing.T) {
	only := func(list ...string) func(aiuri.URI) error {
		return func(u aiuri.URI) error {
			if ok, err := aiuri.MatchAuthority(u, list); !ok || err != nil {
				return errors.New("not on the list")
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		permit func(aiuri.URI) error
		code   lookleap.Code
	}{
		"accept-none":  {nil, lookleap.CodeOK},
		"reject-panic": {func(aiuri.URI) error { panic("x") }, aiuri.CodeAuthorityNotAllowed},
		"reject-other": {only("other.example"), aiuri.CodeAuthorityNotAllowed},
	} {
		t.Run("AIU-3-01/"+name, func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { asked++; return allow(r) })
			w.options.Permit = c.permit
			_, err := w.invoke(t, pay)
			if c.code == lookleap.CodeOK {
				if err != nil || asked != 1 {
					t.Errorf("%v after %d questions", err, asked)
				}
				return
			}
			if lookleap.CodeOf(err) != c.code || asked != 0 || len(w.net.Journal().Dials()) != 0 || len(w.net.Journal().Queries()) != 0 {
				t.Errorf("%v after %d questions, %v", err, asked, w.net.Journal().Dials())
			}
		})
		t.Run("AIU-3-01/"+name+"-of-a-page", func(t *testing.T) {
			w := newWorld(t)
			asked := 0
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { asked++; return allow(r) })
			page(w.net.Site("page.example"), "ai://bank.example/pay", "")
			w.options.Permit = c.permit
			_, err := w.invoke(t, aiuri.Request{Page: "https://page.example/", Body: pay.Body, MediaType: pay.MediaType, Scopes: pay.Scopes})
			if c.code == lookleap.CodeOK && (err != nil || asked != 1) || c.code != lookleap.CodeOK && (lookleap.CodeOf(err) != c.code || asked != 0 || len(w.net.Journal().Paths("ai.example")) != 0) {
				t.Errorf("%v after %d questions", err, asked)
			}
		})
	}
}

// TestClientRefuses: a zero client, and malformed requests, return errors.
func TestClientRefuses(t *testing.T) {
	if _, err := new(aiuri.Client).Invoke(t.Context(), pay); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*aiuri.Request)
		code   lookleap.Code
	}{
		"reject-method": {func(r *aiuri.Request) { r.Method = "post" }, aiuri.CodeMethodNotAllowed},
	} {
		t.Run("AIU-3.2-07/"+name, func(t *testing.T) {
			w, r := newWorld(t), pay
			c.change(&r)
			if _, err := w.invoke(t, r); lookleap.CodeOf(err) != c.code || len(w.net.Journal().Paths("ai.example")) != 0 {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	for method, body := range map[string][]byte{"GET": nil, "POST": {}} {
		w, line := newWorld(t), &recorder{}
		w.options.Native = line
		if _, err := w.invoke(t, aiuri.Request{URI: pay.URI, Body: body}); err != nil || len(line.calls) != 1 || line.calls[0].Method != method {
			t.Errorf("%s: %v, %+v", method, err, line.calls)
		}
	}
}
