package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plugin"
)

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
