package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// deafStore and deafLedger never answer, and do not heed their contexts.
type deafStore struct {
	Store
	until chan struct{}
}

func (d deafStore) Get(context.Context, string) ([]byte, error) { <-d.until; return nil, nil }

type deafLedger struct {
	Ledger
	until chan struct{}
}

func (d deafLedger) Append(context.Context, ...Entry) error { <-d.until; return nil }

func TestDeafStoreAndLedger(t *testing.T) {
	for name, call := range map[string]func(*Session) error{
		"store":  func(s *Session) error { _, err := s.store().Get(context.Background(), "a/b"); return err },
		"ledger": func(s *Session) error { return s.record(context.Background(), Entry{}) },
	} {
		for _, id := range []string{"O13", "O28"} {
			t.Run(id+"/reject-deaf-"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					until := make(chan struct{})
					defer close(until)
					a := &Agent{plugins: newPlugins()}
					a.plugins.store.Most, a.plugins.ledger.Most = 2, 2
					s := &Session{agent: a, user: User{Store: deafStore{until: until}, Ledger: deafLedger{until: until}}}
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
