package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

var pendingReply = lookleaptest.Fail(lookleap.ErrConsentPending)

// suspended runs a call to the point where its user has to be waited for.
func (s *stage) suspended(c Call) *lookleap.PendingError {
	s.Helper()
	_, err := s.page.Do(s.Context(), c)
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		s.Fatalf("it did not wait: %v", err)
	}
	s.sends()
	return pending
}

func TestResume(t *testing.T) {
	profile := User{Profile: ada}
	t.Run("ANML-9.2-01/accept-resumed", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		s.shop.Remove("/anml") // the page is gone, and is not needed
		other := s.open(Options{}, User{})
		r, err := other.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
		if err != nil || r.Status != 204 || r.Plan != pending.Request.ID {
			t.Fatalf("%+v, %v", r, err)
		}
		s.sends("POST /book")
		if body := string(s.net.Journal().Requests()[0].Body); !strings.Contains(body, "ada@example.org") {
			t.Errorf("%s", body)
		}
		got := ledgerOf(t, other.Ledger())
		if len(got) != 4 || !strings.HasPrefix(got[0], "disclosed email") || got[3] != "outcome ok" {
			t.Errorf("the ledger holds %q", got)
		}
	})
	t.Run("ANML-9.2-01/reject-replayed", func(t *testing.T) {
		ledger := lookleap.NewMemoryStore()
		s := newStage(t, setting{doc: asking, user: User{Profile: ada, Ledger: ledger}, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		decision := lookleaptest.Decide(pending.Request)
		if _, err := s.session.Resume(t.Context(), pending.State, decision); err != nil {
			t.Fatal(err)
		}
		before := ledgerOf(t, ledger)
		for range 3 {
			if _, err := s.session.Resume(t.Context(), pending.State, decision); !errors.Is(err, lookleap.ErrAlreadyDone) {
				t.Fatalf("%v", err)
			}
		}
		s.sends("POST /book")
		if after := ledgerOf(t, ledger); !slices.Equal(before, after) {
			t.Errorf("a replay left traces: %q", after[len(before):])
		}
	})
	t.Run("ANML-13.4-12/accept-later-when-too-fast-now", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, options: Options{Limits: Limits{Burst: 1}}, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		s.does(Call{Action: "get"}, lookleap.CodeOK)
		decision := lookleaptest.Decide(pending.Request)
		if _, err := s.session.Resume(t.Context(), pending.State, decision); lookleap.CodeOf(err) != CodeTooManyActions {
			t.Errorf("%v", err)
		}
		s.net.Clock().Advance(time.Minute)
		if _, err := s.session.Resume(t.Context(), pending.State, decision); err != nil {
			t.Errorf("the plan was used up by what was not sent: %v", err)
		}
	})
	t.Run("ANML-9.2-01/reject-refused-decision", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		for _, d := range []lookleap.ConsentDecision{{}, {Digest: pending.Request.Digest}, {Digest: pending.Request.Digest, Approved: []string{"answer-1"}}, {Digest: "sha256:0", Approved: []string{itemAct}}} {
			if _, err := s.session.Resume(t.Context(), pending.State, d); !errors.Is(err, lookleap.ErrConsentRefused) {
				t.Errorf("%+v: %v", d, err)
			}
		}
		s.sends()
	})
	t.Run("ANML-9.2-01/reject-expired", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		s.net.Clock().Advance(25 * time.Hour)
		if _, err := s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); lookleap.CodeOf(err) != lookleap.CodePlanExpired {
			t.Errorf("%v", err)
		}
		s.sends()
	})
	t.Run("ANML-13.4-02/reject-withdrawn-meanwhile", func(t *testing.T) {
		s := newStage(t, setting{doc: brandSite, replies: []lookleaptest.Reply{pendingReply}, before: func(s *stage) {
			permit(s, granting(s, "interact"), denying)
		}})
		pending := s.suspended(Call{Site: "brand.example", Action: "here"})
		if _, err := s.open(Options{}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); lookleap.CodeOf(err) != anmltrust.CodeTrustRevoked {
			t.Errorf("%v", err)
		}
		s.sends()
	})
	t.Run("ANML-13.4-10/accept-pending-again-without-identity", func(t *testing.T) {
		s := newStage(t, setting{doc: brandShown, replies: []lookleaptest.Reply{pendingReply}, before: func(s *stage) {
			permit(s, granting(s, "body"), denying)
		}})
		pending := s.suspended(Call{Action: "buy"})
		session := s.open(Options{}, User{})
		_, err := session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
		var again *lookleap.PendingError
		if !errors.As(err, &again) || strings.Contains(again.Request.String(), "brand") || again.Request.ID == pending.Request.ID {
			t.Fatalf("%v", err)
		}
		s.sends()
		if _, err := session.Resume(t.Context(), again.State, lookleaptest.Decide(again.Request)); err != nil {
			t.Error(err)
		}
		s.sends("POST /buy")
		s.net.Site("trust.example").Handle("/authorize", granting(s, "body"))
		if _, err := s.open(Options{}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("the plan that was shown first: %v", err)
		}
		s.sends("POST /buy")
	})
	t.Run("ANML-13.4-01/reject-same-origin-only-since", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "api"})
		if _, err := s.open(Options{SameOriginOnly: true}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); lookleap.CodeOf(err) != CodeEndpointForeign {
			t.Errorf("%v", err)
		}
	})
	t.Run("ANML-13.4-11/reject-forbidden-since", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		user := User{Policy: &UserPolicy{VetoAct: func(context.Context, Act) error { return errTest }}}
		if _, err := s.open(Options{}, user).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); lookleap.CodeOf(err) != CodePolicyVeto {
			t.Errorf("%v", err)
		}
		s.sends()
	})
	t.Run("ANML-13.4-04/reject-another-plans-word", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy, replies: []lookleaptest.Reply{pendingReply}})
		one := s.suspended(Call{Action: "reserve", Args: map[string]string{"what": "t1"}})
		two := s.suspended(Call{Action: "reserve", Args: map[string]string{"what": "t2"}})
		if _, err := s.session.Resume(t.Context(), two.State, lookleaptest.Decide(one.Request)); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch {
			t.Errorf("%v", err)
		}
		s.sends()
	})
}

// TestTamperedState changes what a plan would do, and whatever does not break the
// digests is refused for what it is.
func TestTamperedState(t *testing.T) {
	s := newStage(t, setting{doc: searchAndBuy, user: User{Profile: ada}, replies: []lookleaptest.Reply{pendingReply}})
	pending := s.suspended(Call{Action: "reserve", Args: map[string]string{"what": "t1"}})
	refused := func(t *testing.T, state json.RawMessage, d lookleap.ConsentDecision) {
		t.Helper()
		if _, err := s.session.Resume(t.Context(), state, d); err == nil {
			t.Error("it was done")
		}
		s.sends()
	}
	// An attacker who has the state and speaks for the user makes plans of their own.
	forge := func(t *testing.T, kind lookleap.ConsentKind, change func(e *effect)) (json.RawMessage, lookleap.ConsentDecision) {
		t.Helper()
		plan, err := lookleap.ParsePlan(pending.State)
		must(t, err)
		e, err := parseEffect(plan.Effect())
		must(t, err)
		change(e)
		data, err := json.Marshal(e)
		must(t, err)
		r := *plan.Request()
		r.Kind = kind
		forged, err := lookleap.NewPlan(r, data, s.host.Time())
		must(t, err)
		state, err := forged.State()
		must(t, err)
		return state, lookleaptest.Decide(forged.Request())
	}
	for name, change := range map[string]func(e *effect){
		"inside": func(e *effect) { e.Send.Endpoint, e.Send.URL = "https://10.0.0.1/x", "https://10.0.0.1/x" },
		"http": func(e *effect) {
			e.Send.Endpoint, e.Send.URL = "http://www.shop.example/x", "http://www.shop.example/x"
		},
		"other-url":     func(e *effect) { e.Send.URL = "https://evil.example/x" },
		"other-path":    func(e *effect) { e.Send.URL = "https://www.shop.example/x" },
		"reach":         func(e *effect) { e.Send.Reach = atDomain },
		"connect":       func(e *effect) { e.Send.Method = "CONNECT" },
		"trace":         func(e *effect) { e.Send.Method = "TRACE" },
		"get-with-body": func(e *effect) { e.Send.Method = "GET" },
		"header":        func(e *effect) { e.Send.ContentType = "text/plain\r\nX: y" },
		"format":        func(e *effect) { e.Send.Format = 9 },
		"type":          func(e *effect) { e.Type = "application/json" },
		"document":      func(e *effect) { e.Exchange.Document = "http://www.shop.example/anml" },
		"query":         func(e *effect) { e.Send.URL += "?to=evil" },
		"owned":         func(e *effect) { e.Owned = true },
		"host":          func(e *effect) { e.Exchange.Endpoint = "b.example" },
	} {
		t.Run("K01/reject-forged-"+name, func(t *testing.T) {
			state, d := forge(t, lookleap.ConsentAct, change)
			refused(t, state, d)
		})
	}
	// A call without a body, of which the address alone says what it does.
	for name, c := range map[string]struct {
		change func(e *effect)
		want   string // of the error
	}{
		"accept-read":        {func(*effect) {}, ""},
		"accept-json":        {func(e *effect) { e.Send.Format = anml.JSON }, ""},
		"reject-no-url":      {func(e *effect) { e.Send.URL = "" }, "its URL is not permitted"},
		"reject-longer-path": {func(e *effect) { e.Send.URL += "x" }, "its URL is not that of its endpoint"},
		"reject-no-endpoint": {func(e *effect) { e.Send.Endpoint, e.Send.URL = "", documentURL }, "its endpoint is not permitted"},
		"reject-plain":       {func(e *effect) { e.Send.Plain = true }, "its endpoint is not permitted"},
		"reject-claim": {func(e *effect) {
			e.Owned, e.Exchange.Owner, e.Claim = true, "brand.example", &anmltrust.Claim{Site: "other.example"}
		}, "its owner is not the claimed site"},
		"reject-response": {func(e *effect) { e.Send.Response = true }, "its method has no body"},
		"reject-reach-of-an-owner-without-a-claim": {func(e *effect) {
			e.Exchange.Owner, e.Exchange.Endpoint = "brand.example", "brand.example"
			e.Send.Endpoint, e.Send.URL, e.Send.Reach = "https://brand.example/x", "https://brand.example/x", atOwner
		}, "its endpoint is not permitted"},
	} {
		t.Run("K01/"+name, func(t *testing.T) {
			url := "https://www.shop.example/x"
			e := &effect{Type: effectType,
				Exchange: exchange{Serving: "shop.example", Owner: "shop.example", Endpoint: "www.shop.example", Document: documentURL, Action: "x"},
				Send:     actionRequest{Method: "GET", Endpoint: url, URL: url, Reach: atOrigin}}
			c.change(e)
			data, err := json.Marshal(e)
			must(t, err)
			if _, err = parseEffect(data); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzResume hands any state to Resume, with a decision that agrees to everything
// in it: nothing leaves that is not an https request to the endpoint of an effect
// that the state holds.
func FuzzResume(f *testing.F) {
	host := &lookleap.Host{Fetcher: nowhere{}, Resolver: nowhere{}}
	f.Cleanup(func() { _ = host.Close() })
	for _, effect := range []string{
		`{"type":"` + effectType + `","exchange":{"serving":"shop.example","owner":"shop.example","endpoint":"www.shop.example","document":"https://www.shop.example/anml","site":"","action":"a"},` +
			`"send":{"method":"POST","endpoint":"https://www.shop.example/a","url":"https://www.shop.example/a","reach":"same-origin","format":0}}`,
		`{"type":"` + effectType + `","disclosures":[{"kind":"arg","field":"x"}]}`, `{}`, ``,
	} {
		f.Add([]byte(effect))
	}
	f.Fuzz(func(t *testing.T, effect []byte) {
		now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
		plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
			Kind: lookleap.ConsentAct, Origin: "https://www.shop.example", Summary: "x",
			Items: []lookleap.ConsentItem{{ID: itemAct, Summary: "x"}},
		}, effect, now)
		must(t, err)
		e, err := parseEffect(effect)
		if err == nil {
			again, err := json.Marshal(e)
			must(t, err)
			if _, err := parseEffect(again); err != nil {
				t.Fatalf("what was written is not read: %v\n%s", err, again)
			}
		}
		session, err := New(&lookleap.Host{Fetcher: host.Fetcher, Resolver: host.Resolver, Now: func() time.Time { return now }}, Options{}).NewSession(User{})
		must(t, err)
		defer session.Close()
		state, err := plan.State()
		must(t, err)
		if r, err := session.Resume(t.Context(), state, lookleaptest.Decide(plan.Request())); err == nil {
			t.Fatalf("it was done: %+v", r)
		}
	})
}

// nowhere is a network that reaches nothing.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errTest }
func (nowhere) Lookup(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return nil, errTest
}
