package agent

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestConflictingRules: of several rules about a field the most restrictive one is
// applied to what is sent (section 11.4).
func TestConflictingRules(t *testing.T) {
	for name, c := range map[string]struct {
		rules   []string
		asked   bool // about the field itself, although the user's standing will allows it
		authent bool
	}{
		"accept-one-rule":                {[]string{"none"}, false, false},
		"reject-none-and-explicit":       {[]string{"none", "explicit-consent"}, true, false},
		"reject-explicit-and-none":       {[]string{"explicit-consent", "none"}, true, false},
		"accept-implicit-and-none":       {[]string{"implicit-consent", "none"}, false, false},
		"reject-authentication-explicit": {[]string{"authentication", "explicit-consent"}, true, true},
		"reject-three":                   {[]string{"none", "authentication", "implicit-consent"}, true, true},
		"reject-unknown-word":            {[]string{"none", "None"}, true, false},
	} {
		t.Run("ANML-11.4-12/"+name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				policy, shown := &UserPolicy{}, 0
				if err := policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}); err != nil {
					t.Fatal(err)
				}
				rules := ""
				for _, r := range c.rules {
					rules += `<disclosure field="email" requires="` + r + `"/>`
				}
				s := newStage(t, setting{json: asJSON, doc: `<head><title>x</title></head><constraints>` + rules + `</constraints>` +
					`<knowledge><ask field="email" action="a" purpose="to send the ticket" required="true"/></knowledge>` + interactOnly(action("a", "POST", "/a", "")),
					user: User{Profile: ada, Policy: policy, Authenticate: func(context.Context, string) error { shown++; return nil }}})
				s.does(Call{Action: "a"}, lookleap.CodeOK)
				asked := slices.ContainsFunc(s.user.Requests()[0].Items, func(i lookleap.ConsentItem) bool { return i.ID == "answer-1" })
				if asked != c.asked || (shown > 0) != c.authent {
					t.Errorf("json %t: asked about the field: %t, authenticated %d times", asJSON, asked, shown)
				}
			}
		})
	}
}

// TestPromptsShowFindings: what looks like somebody else's document is shown where
// the user decides (section 13.6).
func TestPromptsShowFindings(t *testing.T) {
	s := newStage(t, setting{doc: postable})
	s.net.Site("old.example").Redirect("/anml", documentURL)
	page, err := s.session.Open(t.Context(), "https://old.example/anml")
	if err != nil {
		t.Fatal(err)
	}
	s.page = page
	s.does(Call{Action: "a"}, lookleap.CodeOK)
	if shown := s.user.Requests()[0].String(); !strings.Contains(shown, "beware: ") {
		t.Errorf("nothing is said of %v:\n%s", page.Findings(), shown)
	}
}

// TestUnverifiedSitesAreNamed: a model is told that a site's part is not the
// site's.
func TestUnverifiedSitesAreNamed(t *testing.T) {
	s := newStage(t, setting{doc: gettable})
	s.shop.Handle("/a", answering(200, anml.MediaTypeXML, service(brandSite)))
	r := s.does(Call{Action: "a"}, lookleap.CodeOK)
	if text := r.Text(anml.TextOptions{}); !strings.Contains(text, "[brand.example], which was not verified") {
		t.Errorf("%s", text)
	}
}

// TestManyAtOnce: many calls at once are counted and sent one by one.
func TestManyAtOnce(t *testing.T) {
	t.Run("ANML-13.4-12/reject-many-at-once", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newStage(t, setting{doc: postable})
			s.shop.Fault("/a", lab.Delay(time.Second))
			done := make(chan error)
			for range 50 {
				go func() {
					_, err := s.page.Do(t.Context(), Call{Action: "a"})
					done <- err
				}()
			}
			ok := 0
			for range 50 {
				// Calls that reach the user before the first five are sent are limited
				// by how often the same request is shown.
				switch err := <-done; lookleap.CodeOf(err) {
				case lookleap.CodeOK:
					ok++
				case CodeTooManyActions, lookleap.CodeConsentTooOften:
				default:
					t.Error(err)
				}
			}
			if n := len(s.sent()); n != 5 || ok != 5 {
				t.Errorf("%d requests, %d results", n, ok)
			}
		})
	})
}

// slowYes approves everything, and takes a moment for it.
type slowYes struct{ prompts *atomic.Int32 }

func (y slowYes) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	y.prompts.Add(1)
	time.Sleep(time.Millisecond)
	return permitted(r), nil
}

// TestWaitingQuestions: a call that cannot be sent any more when its turn to be
// asked about comes is refused, and the user is not asked.
func TestWaitingQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		code    lookleap.Code
		prompts int32
	}{
		"accept-as-many-as-can-be-sent":    {200, CodeTooManyActions, 5},
		"reject-question-about-ended-call": {410, CodeGone, 1},
	} {
		t.Run("O50/"+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var prompts atomic.Int32
				ask := func(h *lookleap.Host) {
					h.Prompter = slowYes{&prompts}
				}
				s := newStage(t, setting{doc: postable, host: ask, answer: lab.Status(c.status)})
				done := make(chan error)
				for range 20 {
					go func() {
						_, err := s.page.Do(t.Context(), Call{Action: "a"})
						done <- err
					}()
				}
				refused := 0
				for range 20 {
					if lookleap.CodeOf(<-done) == c.code {
						refused++
					}
				}
				if n := prompts.Load(); n < c.prompts || n > c.prompts+1 { // the next one may be shown before the result is there
					t.Errorf("%d prompts, %d refused", n, refused)
				}
			})
		})
	}
}

// TestCallerLeaves: what was sent is written down although nobody waits for it.
func TestCallerLeaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}})
		s.shop.Fault("/book", lab.Mute())
		ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
		defer leave()
		_, err := s.page.Do(ctx, Call{Action: "book"})
		if lookleap.CodeOf(err) != lookleap.CodeCancelled {
			t.Errorf("%v", err)
		}
		got := ledgerOf(t, s.session.Ledger())
		if len(got) != 4 || got[3] != "outcome cancelled" {
			t.Errorf("the ledger holds %q", got)
		}
		if n := s.notices(NoticeUnreachable); n != 0 {
			t.Errorf("%d notices about a caller who left", n)
		}
	})
}
