package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestTransferOnceAcrossHandles: processes that share a directory use an
// authorization for one disclosure up once between them.
func TestTransferOnceAcrossHandles(t *testing.T) {
	const told = `<knowledge><inform confidentiality="restricted">Member 4711-8822</inform></knowledge>`
	asks := booking("", askFor("member", `required="true"`, `purpose="to find your points"`))
	dir := t.TempDir()
	st := newStand(t, lookleaptest.Approve())
	st.user.Profile = Fields{"member": {Text: "4711-8822"}}
	handle := func() *Page { // a session of its own, on a store of its own
		store, err := lookleap.OpenStore(dir)
		must(t, err)
		t.Cleanup(func() { _ = store.Close() })
		st.user.Store, st.s = store, nil
		pageFor(t, st.net, st.session(), "https://a.example/a", told)
		return pageFor(t, st.net, st.session(), "https://b.example/b", asks)
	}
	pages := []*Page{handle(), handle(), handle(), handle()}
	spend := func(t *testing.T) int32 {
		var calls []*prepared
		for _, p := range pages {
			calls = append(calls, st.prepares(p, Call{}))
		}
		var n atomic.Int32
		var wg sync.WaitGroup
		for _, x := range calls {
			wg.Go(func() {
				if text, _, err := x.settle(none, time.Time{}); err != nil {
					t.Error(err)
				} else if strings.Contains(text, "4711") {
					n.Add(1)
				}
			})
		}
		wg.Wait()
		return n.Load()
	}
	for _, round := range []string{"first", "again"} { // an authorization after that is another one
		t.Run("ANML-14.2-01/reject-second-use-"+round, func(t *testing.T) {
			must(t, pages[0].AuthorizeTransfer(t.Context(), member))
			equals(t, spend(t), 1)
		})
	}
	t.Run("ANML-14.2-01/reject-restored-record", func(t *testing.T) { // a crash left it, or another process read it before
		must(t, pages[0].AuthorizeTransfer(t.Context(), member))
		keys, err := st.user.Store.Keys(t.Context(), keyTransfer)
		must(t, err)
		equals(t, len(keys), 1)
		record, err := st.user.Store.Get(t.Context(), keys[0])
		must(t, err)
		equals(t, spend(t), 1)
		if err := st.user.Store.Put(t.Context(), keys[0], record, record, time.Time{}); !errors.Is(err, lookleap.ErrConflict) {
			t.Error(err)
		}
		for _, p := range pages {
			if d := p.Decide(t.Context())[0]; d.Verb != VerbDefer {
				t.Error(brief(d))
			}
		}
	})
}

// permit has brand.example let shop.example act for it in these sections, as its
// query endpoint says at each question.
func permit(s *stage, answers ...http.Handler) {
	s.net.Name("_anml.brand.example").TXT("v=anml1;query=https://trust.example/authorize").TTL(time.Hour)
	s.net.Site("trust.example").Handle("/authorize", lookleaptest.Sequence(answers...))
	s.net.Site("www.brand.example").Status("*", 204)
	s.net.Site("third.example").Status("*", 204)
}

func granting(s *stage, sections ...string) http.Handler {
	scope, err := json.Marshal(sections)
	must(s, err)
	expires := s.net.Clock().Now().Add(240 * time.Hour).UTC().Format("2006-01-02T15:04:05Z")
	return lookleaptest.Body("application/json", fmt.Sprintf(`{"authorized":true,"tier":2,"scope":%s,"expires":%q}`, scope, expires))
}

var denying = lookleaptest.Status(http.StatusNotFound)

// brandSite is a document of two sites; the brand's has one action of each kind.
const brandSite = `<site domain="shop.example"><head><title>Shop</title></head><interact><action id="own" method="POST" endpoint="/own"/></interact></site>
<site domain="brand.example"><head><title>Brand</title></head>
<knowledge><ask field="email" action="tell" purpose="to send the ticket" required="true"/></knowledge>
<interact><action id="here" method="POST" endpoint="/here"/><action id="there" method="POST" endpoint="https://www.brand.example/there"/>
<action id="third" method="POST" endpoint="https://third.example/x"/><action id="look" method="GET" endpoint="/look"/><action id="tell" method="POST" endpoint="/tell"/></interact></site>`

// brandShown is a document of one site that speaks for the brand, with an action of
// the server's own.
const brandShown = `<head><title>Brand at the shop</title><trust domain="brand.example"/></head><interact><action id="buy" method="POST" endpoint="/buy"/></interact>`

func TestForeignOwner(t *testing.T) {
	brand := func(t *testing.T, doc string, first []string, then ...func(s *stage) http.Handler) *stage {
		return newStage(t, setting{doc: doc, user: User{Profile: Fields{"email": {Text: "ada@example.org"}}}, before: func(s *stage) {
			answers := []http.Handler{granting(s, first...)}
			for _, f := range then {
				answers = append(answers, f(s))
			}
			permit(s, answers...)
		}})
	}
	all := []string{"interact", "knowledge"}
	withdrawn := func(*stage) http.Handler { return denying }
	t.Run("ANML-13.4-02/accept-serving-domain", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.does(Call{Site: "brand.example", Action: "here"}, lookleap.CodeOK)
		s.sends("POST /here")
		shown := s.user.Requests()[0]
		if text := shown.String(); !strings.Contains(text, "[brand.example]") || !strings.Contains(text, "[shop.example]") || shown.TrustRoot != "brand.example" || shown.Verdict == nil {
			t.Errorf("both domains have to be shown:\n%s", text)
		}
	})
	t.Run("ANML-13.4-02/accept-the-site", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.does(Call{Site: "brand.example", Action: "there"}, lookleap.CodeOK)
		equals(t, len(s.sent("www.brand.example")), 1)
		hasTexts(t, s.user.Requests()[0].String(), "!another party", `www.[brand.example] "/", which belongs to [brand.example]`)
	})
	t.Run("ANML-13.4-02/reject-third-silently", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.user.Then(lookleaptest.Approve(itemAct))
		s.does(Call{Site: "brand.example", Action: "third"}, lookleap.CodeConsentRefused)
		sameList(t, s.sent("third.example"), nil)
	})
	t.Run("ANML-13.4-02/reject-out-of-scope", func(t *testing.T) {
		s := brand(t, brandSite, []string{"body", "knowledge"})
		s.does(Call{Site: "brand.example", Action: "here"}, CodeActionNotOwned)
		for _, tool := range s.page.Tools() {
			if tool.Site == "brand.example" {
				t.Errorf("the tool %s is offered", tool.Name)
			}
		}
		s.sends()
	})
	t.Run("ANML-13.4-10/accept-own-without-trust", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.does(Call{Site: "shop.example", Action: "own"}, lookleap.CodeOK)
		sameList(t, s.sent("trust.example"), nil)
		s.hasAsked("!speaks for")
	})
	t.Run("ANML-13.4-02/reject-withdrawn", func(t *testing.T) {
		s := brand(t, brandSite, all, withdrawn)
		s.does(Call{Site: "brand.example", Action: "here"}, anmltrust.CodeTrustRevoked)
		s.sends()
	})
	t.Run("ANML-13.4-02/reject-unverifiable", func(t *testing.T) {
		s := brand(t, brandSite, all, func(*stage) http.Handler { return lookleaptest.Status(503) })
		_, err := s.page.Do(t.Context(), Call{Site: "brand.example", Action: "here"})
		hasCode(t, err, CodeTrustUnverified)
		isError(t, err, anmltrust.ErrTrustUnverified)
		s.sends()
	})
	t.Run("ANML-13.4-02/reject-answers-without-knowledge", func(t *testing.T) {
		s := brand(t, brandSite, all, func(s *stage) http.Handler { return granting(s, "interact") })
		s.does(Call{Site: "brand.example", Action: "tell"}, anmltrust.CodeTrustRevoked)
		s.sends()
	})
	t.Run("ANML-13.4-02/accept-answers", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.does(Call{Site: "brand.example", Action: "tell"}, lookleap.CodeOK)
		s.sends("POST /tell")
	})
	t.Run("ANML-13.4-10/accept-shown-claim-verified", func(t *testing.T) {
		s := brand(t, brandShown, []string{"body", "aesthetic"})
		s.does(Call{Action: "buy"}, lookleap.CodeOK)
		equals(t, len(s.sent("trust.example")), 1)
		hasTexts(t, s.user.Requests()[0].String(), "speaks for [brand.example]")
	})
	t.Run("ANML-13.4-10/accept-asked-again-without-identity", func(t *testing.T) {
		s := brand(t, brandShown, []string{"body"}, withdrawn)
		s.does(Call{Action: "buy"}, lookleap.CodeOK)
		asked := s.user.Requests()
		if len(asked) != 2 || !strings.Contains(asked[0].Summary, "brand") || strings.Contains(asked[1].String(), "brand") || asked[0].ID == asked[1].ID {
			t.Errorf("asked %d times", len(asked))
		}
		s.sends("POST /buy")
	})
	t.Run("ANML-13.4-10/reject-without-identity", func(t *testing.T) {
		s := brand(t, brandShown, []string{"body"}, withdrawn)
		s.user.Then(lookleaptest.Approve(), lookleaptest.Refuse())
		s.does(Call{Action: "buy"}, lookleap.CodeConsentRefused)
		s.sends()
	})
	t.Run("ANML-13.4-02/reject-expired-grant", func(t *testing.T) {
		s := brand(t, brandSite, all)
		s.net.Clock().Advance(300 * time.Hour)
		s.does(Call{Site: "brand.example", Action: "look"}, CodeActionNotOwned)
		s.sends()
	})
	t.Run("ANML-9.3-02/reject-ask-of-another-site", func(t *testing.T) {
		doc := strings.Replace(brandSite, `<interact><action id="own"`, `<knowledge><ask field="tel" action="tell" purpose="x" required="true"/></knowledge><interact><action id="own"`, 1)
		s := brand(t, doc, all)
		s.does(Call{Site: "brand.example", Action: "tell"}, lookleap.CodeOK)
		hasTexts(t, string(s.net.Journal().Requests("www.shop.example")[0].Body), "!tel\"")
		s.does(Call{Site: "shop.example", Action: "tell"}, anml.CodeUnknownAction)
	})
}

// TestFailuresBeforeSending shows that a call is not sent when something fails after the user agreed,
// and that only a decision is recorded as a refusal.
func TestFailuresBeforeSending(t *testing.T) {
	for _, method := range []string{"Keys " + keySensitive, "Put " + keySensitive} {
		t.Run("ANML-13.2-01/reject-store-fails-"+method, func(t *testing.T) {
			store := &hookedStore{Store: lookleap.NewMemoryStore(), hook: failsAt("", nil)}
			s := newStage(t, setting{doc: booking("", askFor("email", `purpose="payment"`)), user: User{Profile: ada, Store: store}})
			s.user.Then(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				store.hook = failsAt(method, errTest)
				return lookleaptest.Decide(r), nil
			})
			s.does(book, lookleap.CodeIO)
			s.sends()
			sameList(t, ledgerOf(t, s.session.Ledger()), nil)
		})
	}
}

// TestIdempotencyKey: a service can tell the second request of a plan from another plan.
func TestIdempotencyKey(t *testing.T) {
	keys := func(t *testing.T, s *stage, path string) (keys []string) {
		t.Helper()
		for _, r := range s.net.Journal().Requests("www.shop.example") {
			if r.Path == path {
				keys = append(keys, r.Header.Get(lookleap.IdempotencyHeader))
			}
		}
		return keys
	}
	synctest.Test(t, func(t *testing.T) {
		const idempotent = `<head><title>Shop</title></head><interact><action id="a" method="POST" endpoint="/a" idempotent="true"/><action id="b" method="GET" endpoint="/b"/></interact>`
		s := newStage(t, setting{doc: idempotent})
		s.shop.Handle("/a", lookleaptest.Sequence(lookleaptest.Status(http.StatusInternalServerError), lookleaptest.Status(http.StatusNoContent)))
		s.shop.Status("/b", http.StatusNoContent)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "b"}, lookleap.CodeOK)
		got := keys(t, s, "/a")
		if len(got) != 3 || len(got[0]) != 34 || got[0] != got[1] || got[2] == got[1] {
			t.Errorf("a request, its retry and another plan have the keys %q", got)
		}
		if got := keys(t, s, "/b"); len(got) != 1 || got[0] != "" {
			t.Errorf("a GET request has the key %q", got)
		}
	})
}

// countdown is a context that ends after some questions about it.
type countdown struct {
	context.Context
	left, late int // questions before the end, and after it
}

func (c *countdown) Err() error {
	if c.left > 0 {
		c.left--
		return nil
	}
	c.late++
	return context.DeadlineExceeded
}

// TestWorkEndsWithTheCaller: comparing arguments with the profile ends when the caller's time is over.
func TestWorkEndsWithTheCaller(t *testing.T) {
	t.Run("P27", func(t *testing.T) {
		data := new(profileValues)
		for i := range 200 {
			value := fmt.Sprintf("value number %d of the profile", i)
			data.values = append(data.values, profileValue{fmt.Sprint("field", i), fold(value).text})
		}
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("nothing of it 12 ", 1000)))
		work := map[string]func(context.Context){
			"whole":   func(ctx context.Context) { data.fieldsIn(ctx, "", text) },
			"divided": func(ctx context.Context) { data.divided(ctx, []string{text, text + "1", "2"}) },
		}
		for name, run := range work {
			t.Run("reject-work-after-the-end-"+name, func(t *testing.T) {
				whole := &countdown{Context: t.Context(), left: 1 << 30}
				run(whole)
				asked := 1<<30 - whole.left
				if asked < 200 {
					t.Fatalf("the work asks %d times whether to go on", asked)
				}
				for _, left := range []int{0, 1, asked / 2, asked - 1} {
					cut := &countdown{Context: t.Context(), left: left}
					run(cut)
					if cut.late == 0 || cut.late > 2 { // of the text and of its reading
						t.Errorf("after the end the work asks %d more times", cut.late)
					}
				}
			})
		}
		t.Run("reject-call-of-a-caller-who-left", func(t *testing.T) {
			s := newStage(t, setting{doc: `<head><title>S</title></head><interact><action id="go" method="POST" endpoint="/go"><param name="a"/></action></interact>`})
			ctx, leave := context.WithCancel(t.Context())
			leave()
			hasCode(t, second(s.page.Do(ctx, Call{Action: "go", Args: map[string]string{"a": text}})), lookleap.CodeCancelled)
			s.sends()
		})
	})
}
