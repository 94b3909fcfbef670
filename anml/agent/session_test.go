package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// profileCall is a [Profile] that sees the context and the question.
type profileCall func(context.Context, Question) (Value, error)

func (f profileCall) Value(ctx context.Context, q Question) (Value, error) { return f(ctx, q) }

// TestOthersMeanwhile checks that a plug-in of the host that does not answer holds no
// lock that another page or session needs.
func TestOthersMeanwhile(t *testing.T) {
	for _, plugin := range []string{"profile", "policy"} {
		t.Run("O01/accept-"+plugin, func(t *testing.T) {
			called, answer := make(chan struct{}), make(chan struct{})
			wait := func(field string) {
				if field == "email" {
					close(called)
					<-answer
				}
			}
			st := asker(t).allow("email", "*").allow("tel", "*")
			switch plugin {
			case "profile":
				st.user.Profile = profileCall(func(ctx context.Context, q Question) (Value, error) {
					wait(q.Field)
					return ann.Value(ctx, q)
				})
			case "policy":
				st.user.Policy.Veto = func(_ context.Context, d Decision) error { wait(d.Field); return nil }
			}
			slow := pageFor(t, st.net, st.session(), "https://slow.example/a", booking("", askFor("email")))
			done := make(chan struct{})
			go func() { defer close(done); slow.Decide(t.Context()) }()
			<-called
			other := &stand{T: t, net: st.net, user: st.user, opts: st.opts}
			for _, s := range []*Session{st.session(), other.session()} { // each would wait for ever
				p := pageFor(t, st.net, s, "https://quick.example/a", booking("", askFor("tel")))
				if d := p.Decide(t.Context()); len(d) != 1 || d[0].Verb != VerbAllow {
					t.Errorf("%+v", d)
				}
				_ = p.Explain().String()
				p.Tools()
				p.Text(anml.TextOptions{})
				for range s.Context().Informs("") {
				}
				if _, err := p.Do(t.Context(), Call{Action: "find", Args: map[string]string{"q": "tea"}}); err == nil {
					t.Error("an action was executed without a word of the user's")
				}
				if _, err := s.Forget(t.Context(), "slow.example"); err != nil {
					t.Error(err)
				}
			}
			close(answer)
			<-done
		})
	}
}

// TestPlanOwner: a plan of one user is resumed in no session of another one, and
// stays as it was for its own.
func TestPlanOwner(t *testing.T) {
	key := []byte("a key of the host")
	users := map[string][2]User{ // whose plan it is, and who resumes it
		"another-id":          {{ID: "ann"}, {ID: "bob"}},
		"another-key":         {{LedgerKey: key}, {LedgerKey: []byte("another key")}},
		"same-id-another-key": {{ID: "ann", LedgerKey: key}, {ID: "ann"}},
		"unknown-id":          {{ID: "ann"}, {}},
		"of-an-unknown-user":  {{}, {ID: "ann"}},
	}
	type flow struct {
		doc     string
		suspend func(*stage) error
		resume  func(*Session, *lookleap.PendingError, lookleap.ConsentDecision) error
		sent    string // by the owner
	}
	flows := map[string]flow{
		"call": {asking, func(s *stage) error {
			_, err := s.page.Do(s.Context(), Call{Action: "book"})
			return err
		}, func(s *Session, p *lookleap.PendingError, d lookleap.ConsentDecision) error {
			_, err := s.Resume(t.Context(), p.State, d)
			return err
		}, "POST /book"},
		"transfer": {booking("", askFor("member", `purpose="to find your points"`)), func(s *stage) error {
			pageFor(s.T, s.net, s.session, "https://a.example/a", `<knowledge><inform confidentiality="restricted">Member 4711-8822</inform></knowledge>`)
			return s.page.AuthorizeTransfer(s.Context(), member)
		}, func(s *Session, p *lookleap.PendingError, d lookleap.ConsentDecision) error {
			return s.ResumeTransfer(t.Context(), p.State, d)
		}, ""},
		"pages": {titled + `<body><nav next="/p2" total="50"/><p>1</p></body>`, func(s *stage) error {
			s.shop.File("/p2", "application/anml+xml", service(titled+`<body><nav next="/p3"/><p>2</p></body>`))
			_, err := s.page.Pager().Next(s.Context(), PageWanted)
			return err
		}, func(s *Session, p *lookleap.PendingError, d lookleap.ConsentDecision) error {
			_, err := s.ResumePager(t.Context(), p.State, d)
			return err
		}, ""},
	}
	t.Run("O06", func(t *testing.T) {
		for name, f := range flows {
			for who, user := range users {
				t.Run("reject-"+name+"-"+who, func(t *testing.T) {
					owner, other := user[0], user[1]
					owner.Profile = Fields{"email": {Text: "ada@example.org"}, "member": {Text: "4711-8822"}}
					s := newStage(t, setting{doc: f.doc, user: owner, replies: []lookleaptest.Reply{lookleaptest.Pending()}, options: Options{Limits: Limits{Pages: 1}}})
					var pending *lookleap.PendingError
					if err := f.suspend(s); !errors.As(err, &pending) {
						t.Fatal(err)
					}
					s.net.Journal().Clear()
					other.Ledger = lookleap.NewMemoryStore()
					stranger := s.open(Options{Limits: Limits{Pages: 1}}, other)
					for _, d := range []lookleap.ConsentDecision{lookleaptest.Decide(pending.Request), {Digest: pending.Request.Digest}} {
						hasCode(t, f.resume(stranger, pending, d), lookleap.CodePlanOtherUser)
					}
					s.sends()
					if got := ledgerOf(t, other.Ledger); len(got) != 0 {
						t.Errorf("the other user's ledger holds %q", got)
					}
					again := s.open(Options{Limits: Limits{Pages: 1}}, owner) // another process
					if err := f.resume(again, pending, lookleaptest.Decide(pending.Request)); err != nil {
						t.Errorf("its own user: %v", err)
					}
					if got := strings.Join(s.sent(), ""); got != f.sent {
						t.Errorf("sent %q, want %q", got, f.sent)
					}
				})
			}
		}
		t.Run("reject-another-kind-of-plan", func(t *testing.T) { // and it is not used up by that
			s := newStage(t, setting{doc: asking, user: User{ID: "ann", Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
			var pending *lookleap.PendingError
			if _, err := s.page.Do(t.Context(), Call{Action: "book"}); !errors.As(err, &pending) {
				t.Fatal(err)
			}
			_, err := s.session.ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))
			hasCode(t, err, lookleap.CodePlanInvalid)
			if _, err := s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); err != nil {
				t.Error(err)
			}
		})
		t.Run("reject-the-id-in-clear", func(t *testing.T) {
			s := newStage(t, setting{doc: asking, user: User{ID: "ann-4711", Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
			var marks []string
			for range 2 {
				var pending *lookleap.PendingError
				if _, err := s.page.Do(t.Context(), Call{Action: "book"}); !errors.As(err, &pending) {
					t.Fatal(err)
				}
				plan, err := lookleap.ParsePlan(pending.State)
				must(t, err)
				e, err := parseEffect(plan.Effect())
				must(t, err)
				marks = append(marks, e.User)
				if strings.Contains(string(plan.Effect())+pending.Request.String(), "ann-4711") {
					t.Error("the plan holds the user's id")
				}
			}
			if marks[0] == marks[1] {
				t.Error("two plans can be seen to be of one user")
			}
		})
	})
}
