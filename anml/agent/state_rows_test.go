package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestStateRows: the effect of a plan and a line of a ledger have one reading.
func TestStateRows(t *testing.T) {
	t.Run("P08", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: nil})
		in, err := s.page.prepare(t.Context(), Call{Action: "book"})
		must(t, err)
		good, err := json.Marshal(in.effect)
		must(t, err)
		t.Run("accept-effect", func(t *testing.T) {
			if _, err := parseEffect(good); err != nil {
				t.Error(err)
			}
		})
		for name, change := range map[string][2]string{
			"method-in-capital": {`"method":"POST"`, `"method":"POST","Method":"GET"`},
			"duplicate-method":  {`"method":"POST"`, `"method":"POST","method":"POST"`},
			"unknown-member":    {`"method":"POST"`, `"method":"POST","more":1`},
			"null-action":       {`"action":"book"`, `"action":null`},
		} {
			t.Run("reject-effect-with-"+name, func(t *testing.T) {
				text := strings.Replace(string(good), change[0], change[1], 1)
				if text == string(good) {
					t.Fatalf("nothing is changed in %s", good)
				}
				if _, err := parseEffect([]byte(text)); lookleap.CodeOf(err) != lookleap.CodePlanInvalid {
					t.Errorf("%v", err)
				}
			})
		}
		entry := `[{"time":"2026-05-01T09:00:00Z","plan":"p","kind":"refused","serving":"a.example","owner":"a.example","endpoint":"a.example","document":"https://a.example","number":1}]`
		read := func(body string) ([]Entry, error) {
			store := lookleap.NewMemoryStore()
			must(t, store.Put(t.Context(), ledgerKey(1), nil, []byte(body), time.Time{}))
			return NewLedger(store).read(t.Context(), ledgerKey(1))
		}
		t.Run("accept-line", func(t *testing.T) {
			if entries, err := read(entry); err != nil || entries[0].Kind != EntryRefused {
				t.Errorf("%+v, %v", entries, err)
			}
		})
		for name, change := range map[string]string{
			"kind-in-capital": `"kind":"refused","Kind":"disclosed"`, "duplicate-kind": `"kind":"disclosed","kind":"refused"`, "unknown-member": `"kind":"refused","more":1`,
		} {
			t.Run("reject-line-with-"+name, func(t *testing.T) {
				if entries, err := read(strings.Replace(entry, `"kind":"refused"`, change, 1)); err == nil {
					t.Errorf("%+v", entries)
				}
			})
		}
	})
}
