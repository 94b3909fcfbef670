package agent

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
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
	pending := pendingOf(s, err)
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
		hasTexts(t, string(s.net.Journal().Requests()[0].Body), "ada@example.org")
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
		must(t, second(s.session.Resume(t.Context(), pending.State, decision)))
		before := ledgerOf(t, ledger)
		for range 3 {
			isError(t, second(s.session.Resume(t.Context(), pending.State, decision)), lookleap.ErrAlreadyDone)
		}
		s.sends("POST /book")
		sameList(t, before, ledgerOf(t, ledger))
	})
	t.Run("ANML-13.4-12/accept-later-when-too-fast-now", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, options: Options{Limits: Limits{Burst: 1}}, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		s.does(Call{Action: "get"}, lookleap.CodeOK)
		decision := lookleaptest.Decide(pending.Request)
		hasCode(t, second(s.session.Resume(t.Context(), pending.State, decision)), CodeTooManyActions)
		s.net.Clock().Advance(time.Minute)
		must(t, second(s.session.Resume(t.Context(), pending.State, decision)))
	})
	t.Run("ANML-9.2-01/reject-refused-decision", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		for _, d := range []lookleap.ConsentDecision{{}, {Digest: pending.Request.Digest}, {Digest: pending.Request.Digest, Approved: []string{"answer-1"}}, {Digest: "sha256:0", Approved: []string{itemAct}}} {
			isError(t, second(s.session.Resume(t.Context(), pending.State, d)), lookleap.ErrConsentRefused)
		}
		s.sends()
	})
	t.Run("ANML-9.2-01/reject-expired", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		s.net.Clock().Advance(25 * time.Hour)
		hasCode(t, second(s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), lookleap.CodePlanExpired)
		s.sends()
	})
	t.Run("ANML-13.4-02/reject-withdrawn-meanwhile", func(t *testing.T) {
		s := newStage(t, setting{doc: brandSite, replies: []lookleaptest.Reply{pendingReply}, before: func(s *stage) {
			permit(s, granting(s, "interact"), denying)
		}})
		pending := s.suspended(Call{Site: "brand.example", Action: "here"})
		hasCode(t, second(s.open(Options{}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), anmltrust.CodeTrustRevoked)
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
		must(t, second(session.Resume(t.Context(), again.State, lookleaptest.Decide(again.Request))))
		s.sends("POST /buy")
		s.net.Site("trust.example").Handle("/authorize", granting(s, "body"))
		isError(t, second(s.open(Options{}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), lookleap.ErrAlreadyDone)
		s.sends("POST /buy")
	})
	t.Run("ANML-13.4-01/reject-same-origin-only-since", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "api"})
		hasCode(t, second(s.open(Options{SameOriginOnly: true}, User{}).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), CodeEndpointForeign)
	})
	t.Run("ANML-13.4-11/reject-forbidden-since", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: profile, replies: []lookleaptest.Reply{pendingReply}})
		pending := s.suspended(Call{Action: "book"})
		user := User{Policy: &UserPolicy{VetoAct: func(context.Context, Act) error { return errTest }}}
		hasCode(t, second(s.open(Options{}, user).Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), CodePolicyVeto)
		s.sends()
	})
	t.Run("ANML-13.4-04/reject-another-plans-word", func(t *testing.T) {
		s := newStage(t, setting{doc: searchAndBuy, replies: []lookleaptest.Reply{pendingReply}})
		one := s.suspended(Call{Action: "reserve", Args: map[string]string{"what": "t1"}})
		two := s.suspended(Call{Action: "reserve", Args: map[string]string{"what": "t2"}})
		hasCode(t, second(s.session.Resume(t.Context(), two.State, lookleaptest.Decide(one.Request))), lookleap.CodeConsentMismatch)
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
			must(t, second(parseEffect(again)))
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

// visitor is what a process that resumes a call is told, in its environment.
type visitor struct {
	Dir, Token     string
	DNS, Door, CAs string
	Digest         string
	Approved       []string
}

const visitorEnv = "LOOKLEAP_TEST_AGENT_VISITOR"

var resumeKey = []byte("0123456789abcdef0123456789abcdef")

// TestResumingProcess is the second process: it knows nothing but its variable.
func TestResumingProcess(t *testing.T) {
	config := os.Getenv(visitorEnv)
	if config == "" {
		t.Skip("runs in a process of its own, started by TestTwoProcesses")
	}
	var v visitor
	must(t, json.Unmarshal([]byte(config), &v))
	host := hostElsewhere(t, v.DNS, v.Door, v.CAs)
	plans, err := lookleap.OpenStore(v.Dir)
	must(t, err)
	defer plans.Close()
	host.Plans = plans
	defer host.Close()
	session, err := New(host, Options{}).NewSession(User{Ledger: plans})
	must(t, err)
	defer session.Close()
	state, err := lookleap.Keys{resumeKey}.Unseal(v.Token)
	if err == nil {
		_, err = session.Resume(t.Context(), state, lookleap.ConsentDecision{Digest: v.Digest, Approved: v.Approved})
	}
	fmt.Printf("outcome=%s\n", lookleap.CodeOf(err))
}

// TestTwoProcesses suspends a call in this process and commits it in others. Each
// load of the page has a token of its own, and only the last one is good.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	var mu sync.Mutex // guards what the service counts
	var loads int
	var booked []string
	s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []lookleaptest.Reply{pendingReply}})
	s.shop.HandleFunc("/fresh", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		loads++
		w.Header().Set("Content-Type", "application/anml+xml")
		fmt.Fprint(w, service(strings.ReplaceAll(asking, `endpoint="/book"`, fmt.Sprintf(`endpoint="/book/%d"`, loads))))
	})
	s.shop.HandleFunc("/book/*", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != fmt.Sprintf("/book/%d", loads) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		booked = append(booked, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	})
	page, err := s.session.Open(t.Context(), s.shop.URL("/fresh"))
	must(t, err)
	s.page = page
	s.net.Journal().Clear()
	pending, declined := s.suspended(Call{Action: "book"}), s.suspended(Call{Action: "book"})
	token, err := lookleap.Keys{resumeKey}.Seal(pending.State)
	must(t, err)
	declinedToken, err := lookleap.Keys{resumeKey}.Seal(declined.State)
	must(t, err)
	loop, err := s.net.OpenDoor()
	must(t, err)
	elsewhere := func(token, digest string, approved ...string) lookleap.Code {
		config, err := json.Marshal(visitor{Dir: dir, Token: token, DNS: loop.DNS, Door: loop.Addr, CAs: loop.CAFile, Digest: digest, Approved: approved})
		must(t, err)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResumingProcess$", "-test.v")
		cmd.Env = append(os.Environ(), visitorEnv+"="+string(config))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, after, _ := strings.Cut(string(out), "outcome=")
		code, _, _ := strings.Cut(after, "\n")
		return lookleap.Code(code)
	}
	var all []string
	for _, item := range pending.Request.Items {
		all = append(all, item.ID)
	}
	flipped := []byte(token)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name, token, digest string
		approved            []string
		want                lookleap.Code
		sent                int
	}{
		{"ANML-13.4-04/reject-nothing-approved", declinedToken, declined.Request.Digest, nil, lookleap.CodeConsentRefused, 0},
		{"ANML-13.4-04/reject-approved-after-no", declinedToken, declined.Request.Digest, all, lookleap.CodeConsentRefused, 0},
		{"ANML-13.4-04/reject-other-digest", token, "sha256:00", all, lookleap.CodeConsentMismatch, 0},
		{"ANML-13.4-04/reject-broken-seal", string(flipped), pending.Request.Digest, all, lookleap.CodeSealBroken, 0},
		{"ANML-9.2-01/accept-in-another-process", token, pending.Request.Digest, all, lookleap.CodeOK, 1},
		{"ANML-9.2-01/reject-a-second-time", token, pending.Request.Digest, all, lookleap.CodePlanDone, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			equals(t, elsewhere(c.token, c.digest, c.approved...), c.want)
			mu.Lock()
			defer mu.Unlock()
			equals(t, len(booked), c.sent)
			equals(t, loads, 1)
		})
	}
}

// hostElsewhere is the host of another process, which reaches a lab through its
// loopback: the address of its DNS, its door, and the file of its authorities.
func hostElsewhere(t *testing.T, dns, door, authorities string) *lookleap.Host {
	t.Helper()
	pem, err := os.ReadFile(authorities)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, dns)
	}})
	return &lookleap.Host{
		Resolver: resolver,
		Fetcher:  lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: resolver, RootCAs: roots, Dial: lookleaptest.Via(door)}),
	}
}
