package agent

import (
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// TestClockSetBack: what ended does not come back when the clock is set back,
// and nothing lasts longer than it should.
func TestClockSetBack(t *testing.T) {
	const month = 30 * 24 * time.Hour
	origin, err := domain.Parse(pageURL)
	must(t, err)
	// later lets time pass, and sets the clock back.
	later := func(f *finding, pass time.Duration) {
		for _, step := range []time.Duration{pass, -month} {
			f.net.Clock().Advance(step)
			f.s.now()
			if _, err := f.s.agent.host.Wait(f.Context(), "", lookleap.Rate{}); err != nil { // the limiter sees the clock
				f.Fatal(err)
			}
		}
	}
	page := gateKey{"GET " + pageURL, origin.Origin(), origin.Origin()}
	t.Run("O10", func(t *testing.T) {
		for name, c := range map[string]struct {
			hold  func(*finding, time.Time) error // closes something until a time
			check func(*finding) error
		}{
			"origin": {
				func(f *finding, until time.Time) error {
					f.s.hold(f.Context(), limitHold+page.origin, "", until.Sub(f.s.now()))
					return nil
				},
				func(f *finding) error { return f.s.gate.check(f.Context(), page) },
			},
			"action": {
				func(f *finding, until time.Time) error {
					f.s.hold(f.Context(), f.s.actionKey(page.action), "", until.Sub(f.s.now()))
					return nil
				},
				func(f *finding) error { return f.s.gate.check(f.Context(), page) },
			},
			"place": {
				func(f *finding, until time.Time) error {
					f.s.memory.close(origin, &lookleap.Error{Code: CodeNoANML, Err: &lookleap.ResponseError{RetryAfter: time.Minute}}, until)
					return nil
				},
				func(f *finding) error { return f.s.memory.refuses(f.Context(), origin) },
			},
		} {
			begin := func(t *testing.T) *finding {
				f := newFinding(t, func(u *User, o *Options) { u.Store = lookleap.NewMemoryStore() })
				must(t, c.hold(f, f.s.now().Add(time.Minute)))
				return f
			}
			t.Run("accept-after-the-wait-for-"+name, func(t *testing.T) {
				f := begin(t)
				later(f, time.Minute)
				if err := c.check(f); err != nil {
					t.Errorf("the wait began again: %v", err)
				}
			})
			t.Run("reject-within-the-wait-for-"+name, func(t *testing.T) {
				f := begin(t)
				later(f, time.Second)
				if err := c.check(f); err == nil {
					t.Error("the wait ended early")
				}
				f.net.Clock().Advance(time.Minute)
				if err := c.check(f); err != nil {
					t.Errorf("the wait became longer: %v", err)
				}
			})
		}
		for name, store := range map[string]lookleap.Store{"": nil, "-in-a-store": lookleap.NewMemoryStore()} {
			for state, moves := range map[string][2]time.Duration{
				"that-ended":  {2 * time.Hour, 90 * time.Minute},
				"to-prolong":  {30 * time.Minute, 20 * time.Minute},
				"of-tomorrow": {time.Second, month},
			} {
				t.Run("reject-consent-"+state+name, func(t *testing.T) {
					st := asker(t)
					st.user.Store = store
					if _, _, err := st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, start.Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					st.net.Clock().Advance(moves[0])
					st.s.now()
					st.net.Clock().Advance(-moves[1])
					st.decides(booking("", askFor("email")), "prompt needs-consent")
					// A consent that is given afterwards stays.
					if _, _, err := st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, st.net.Clock().Now().Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					st.decides(booking("", askFor("email")), "allow consent-held explicit")
				})
			}
			for state, c := range map[string]struct {
				pass, back time.Duration
				want       string
			}{
				"reject-consent-that-ended-before-a-correction": {time.Hour + 10*time.Second, 30 * time.Second, "prompt needs-consent"},
				"reject-consent-when-the-clock-jumps-forward":   {30 * time.Minute, -month, "prompt needs-consent"},
			} {
				t.Run(state+name, func(t *testing.T) {
					st := asker(t)
					st.user.Store = store
					if _, _, err := st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, start.Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					st.net.Clock().Advance(c.pass)
					st.decides(booking("", askFor("email")), map[bool]string{true: "allow consent-held explicit", false: "prompt needs-consent"}[c.pass < time.Hour])
					st.net.Clock().Advance(-c.back)
					st.decides(booking("", askFor("email")), c.want)
				})
			}
		}
	})
}
