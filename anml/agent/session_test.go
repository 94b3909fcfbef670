package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plugin"
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
				must(t, second(s.Forget(t.Context(), "slow.example")))
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
					pending := pendingOf(t, f.suspend(s))
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
					equals(t, strings.Join(s.sent(), ""), f.sent)
				})
			}
		}
		t.Run("reject-another-kind-of-plan", func(t *testing.T) { // and it is not used up by that
			s := newStage(t, setting{doc: asking, user: User{ID: "ann", Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
			pending := pendingOf(t, second(s.page.Do(t.Context(), Call{Action: "book"})))
			hasCode(t, second(s.session.ResumePager(t.Context(), pending.State, lookleaptest.Decide(pending.Request))), lookleap.CodePlanInvalid)
			must(t, second(s.session.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request))))
		})
		t.Run("reject-the-id-in-clear", func(t *testing.T) {
			s := newStage(t, setting{doc: asking, user: User{ID: "ann-4711", Profile: ada}, replies: []lookleaptest.Reply{lookleaptest.Pending()}})
			var marks []string
			for range 2 {
				pending := pendingOf(t, second(s.page.Do(t.Context(), Call{Action: "book"})))
				plan, err := lookleap.ParsePlan(pending.State)
				must(t, err)
				e, err := parseEffect(plan.Effect())
				must(t, err)
				marks = append(marks, e.User)
				hasTexts(t, string(plan.Effect())+pending.Request.String(), "!ann-4711")
			}
			if marks[0] == marks[1] {
				t.Error("two plans can be seen to be of one user")
			}
		})
	})
}

// stores are the two implementations; open opens the same one again.
func stores(t *testing.T, run func(t *testing.T, open func() lookleap.Store)) {
	t.Run("memory", func(t *testing.T) {
		m := lookleap.NewMemoryStore()
		run(t, func() lookleap.Store { return m })
	})
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		run(t, func() lookleap.Store {
			d, err := lookleap.OpenStore(dir)
			must(t, err)
			t.Cleanup(func() { _ = d.Close() })
			return d
		})
	})
}

// patiently repeats a call as long as other handles of the same file keep it from the lock, as they
// can on a slow disk.
func patiently(call func() error) error {
	for {
		if err := call(); !errors.Is(err, lookleap.ErrBusy) {
			return err
		}
	}
}

// failingStore fails one of its methods, and counts the calls of each.
type failingStore struct {
	lookleap.Store
	fails string
	calls map[string]int
}

var errStore = errors.New("disk on fire")

func (f *failingStore) call(method string) error {
	if f.calls == nil {
		f.calls = make(map[string]int)
	}
	if f.calls[method]++; f.fails == method {
		return errStore
	}
	return nil
}

func (f *failingStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.call("Get"); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, key)
}

func (f *failingStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if err := f.call("Put"); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, old, value, until)
}

func (f *failingStore) Delete(ctx context.Context, key string) error {
	if err := f.call("Delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

func (f *failingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.call("Keys"); err != nil {
		return nil, err
	}
	return f.Store.Keys(ctx, prefix)
}

// deafStore never answers, and does not heed the context.
type deafStore struct {
	lookleap.Store
	until chan struct{}
}

func (d deafStore) Get(context.Context, string) ([]byte, error)    { <-d.until; return nil, nil }
func (d deafStore) Keys(context.Context, string) ([]string, error) { <-d.until; return nil, nil }

func TestDeafStoreAndLedger(t *testing.T) {
	for name, call := range map[string]func(*Session) error{
		"store":  func(s *Session) error { _, err := s.store.Get(context.Background(), "a/b"); return err },
		"ledger": func(s *Session) error { return s.record(context.Background(), Entry{}) },
	} {
		for _, id := range []string{"O13", "O28"} {
			t.Run(id+"/reject-deaf-"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					until := make(chan struct{})
					defer close(until)
					a := &Agent{plugins: newPlugins()}
					a.plugins.store.Most, a.plugins.ledger.Most = 2, 2
					deaf := deafStore{until: until}
					s := &Session{agent: a, store: plugin.Store{Store: deaf, Bound: a.plugins.store}, ledger: NewLedger(plugin.Store{Store: deaf, Bound: a.plugins.ledger})}
					for range 4 {
						before := time.Now()
						hasCode(t, call(s), lookleap.CodeTimeout)
						if time.Since(before) > pluginTime {
							t.Error("the caller waits for ever")
						}
					}
				})
			})
		}
	}
}

// deafPlugins answers no call until it ends.
type deafPlugins chan struct{}

func (d deafPlugins) Value(context.Context, Question) (Value, error) { <-d; return Value{}, nil }
func (d deafPlugins) FieldNames(context.Context) ([]string, error)   { <-d; return nil, nil }
func (d deafPlugins) Forget(context.Context, string) (int, error)    { <-d; return 0, nil }
func (d deafPlugins) judge(context.Context, Subject) (PurposeVerdict, error) {
	<-d
	return PurposeOK, nil
}
func (d deafPlugins) classify(context.Context, Subject) (string, error) { <-d; return "", nil }
func (d deafPlugins) veto(context.Context, Decision) error              { <-d; return nil }
func (d deafPlugins) weigh(context.Context, Act) Weight                 { <-d; return Harmless }
func (d deafPlugins) vetoAct(context.Context, Act) error                { <-d; return nil }
func (d deafPlugins) notify(context.Context, Notice)                    { <-d }

// TestDeafProfileAndPolicy: a part that does not answer counts as the strictest answer that it
// can, and callers do not wait for it for ever.
func TestDeafProfileAndPolicy(t *testing.T) {
	for name, refused := range map[string]func(*Session) bool{
		"value":  func(s *Session) bool { _, err := s.valueOf(context.Background(), Question{}); return err != nil },
		"names":  func(s *Session) bool { _, err := s.fieldNames(context.Background()); return err != nil },
		"forget": func(s *Session) bool { _, err := s.forgetValues(context.Background(), "a.example"); return err != nil },
		"judge": func(s *Session) bool {
			return s.judge(context.Background(), Subject{}) == PurposeImplausible
		},
		"classify": func(s *Session) bool {
			return s.classify(context.Background(), Subject{}) == "unknown"
		},
		"veto": func(s *Session) bool {
			return veto(context.Background(), s, s.user.Policy.Veto, Decision{}) != nil
		},
		"weigh": func(s *Session) bool {
			return s.weigh(context.Background(), Act{}) == Consequential
		},
		"veto-act": func(s *Session) bool {
			return veto(context.Background(), s, s.user.Policy.VetoAct, Act{}) != nil
		},
		"notify": func(s *Session) bool { s.notices.tell(context.Background(), Notice{Time: time.Now()}); return true },
	} {
		t.Run("O13/reject-deaf-"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf := make(deafPlugins)
				defer close(deaf)
				s := &Session{agent: &Agent{plugins: newPlugins()}, user: User{Profile: deaf, Notify: deaf.notify,
					Policy: &UserPolicy{Judge: deaf.judge, Classify: deaf.classify, Veto: deaf.veto, Weigh: deaf.weigh, VetoAct: deaf.vetoAct}}}
				s.agent.plugins.profile.Most, s.agent.plugins.policy.Most, s.agent.plugins.notify.Most = 2, 2, 2
				s.notices = newNotices(s)
				before := time.Now()
				for range 4 { // the last two are not called at all
					if !refused(s) {
						t.Error("not refused")
					}
				}
				if time.Since(before) > 2*policyTime {
					t.Error("the caller waits for ever")
				}
			})
		})
	}
}
