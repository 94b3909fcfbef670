package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
)

// policy permits the area and three searches an hour. Its withdrawal is a file that no one
// can read, which permits nothing.
const (
	rules     = "/area ALLOW\n/search ALLOW limit=3\n/orders ALLOW\n"
	withdrawn = "\xff\xfe broken"
	maxAge    = 10 * time.Minute // how long a client may use a policy
)

// site is what the servers of the run saw.
type site struct {
	world  *world
	calm   atomic.Bool // the servers answer
	signed []byte      // the policy

	mu          sync.Mutex
	draw        *rand.Rand
	withdrawnAt time.Time
	refusedAt   time.Time // when a worker first knew of the withdrawal
	arrivals    []arrival
	searches    []time.Time
}

// arrival is one effect.
type arrival struct {
	at  time.Time
	key string
}

func newSite(w *world) *site {
	signed, err := agentstxt.Sign([]byte(rules))
	if err != nil {
		panic(err)
	}
	s := &site{world: w, draw: w.stream("site", 0), signed: signed}
	w.net.Site("ferries.example").File("/.well-known/anml", anml.MediaTypeXML, document).HandleFunc("/bookings", s.effect)
	w.net.Site("shop.example").HandleFunc("/orders", s.effect).HandleFunc("/area", s.area).HandleFunc("/search", s.search).
		HandleFunc("/agents.txt", s.policy)
	return s
}

func (s *site) random(limit time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.draw.Int64N(int64(limit)))
}

// effect receives a booking or an order. It then answers late, never, or with a broken
// connection: the effect happened all the same.
func (s *site) effect(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.random(100 * time.Millisecond))
	body, _ := io.ReadAll(r.Body)
	s.arrived(r, body)
	if !s.calm.Load() {
		switch s.random(8) {
		case 0:
			time.Sleep(patient)
		case 1:
			panic(http.ErrAbortHandler)
		}
	}
	w.WriteHeader(http.StatusCreated)
}

// arrived checks what can be checked at the moment of an effect.
func (s *site) arrived(r *http.Request, body []byte) {
	w, key := s.world, r.Header.Get(lookleap.IdempotencyHeader)
	w.trace("%s %s arrives", r.Method, r.URL.Path)
	s.mu.Lock()
	twice := slices.ContainsFunc(s.arrivals, func(a arrival) bool { return a.key == key })
	s.arrivals = append(s.arrivals, arrival{time.Now(), key})
	s.mu.Unlock()
	q := w.user.byIdempotencyKey(key)
	switch {
	case q == nil:
		w.fail("no effect without a decision", "an effect of an unknown plan arrived")
		return
	case q.decided.IsZero() || len(q.approved) == 0:
		w.fail("no effect without a decision", "plan %d had its effect, and the user did not approve it", q.n)
	case twice:
		w.fail("no effect twice", "plan %d had its effect again", q.n)
	}
	w.record(planEvent{plan: q.plan.ID(), effect: true})
	if q.kind == kindTool {
		var effect struct{ Arguments json.RawMessage }
		if err := json.Unmarshal(q.plan.Effect(), &effect); err != nil || string(effect.Arguments) != string(body) {
			w.fail("exactly the approved bytes", "plan %d ran with %q", q.n, body)
		}
		return
	}
	if q.kind == kindOrder {
		if lookleap.Digest(body) != q.request.Effect {
			w.fail("exactly the approved bytes", "plan %d sent %q", q.n, body)
		}
		return
	}
	told := append(body, r.URL.RawQuery...)
	for n := range plans {
		if n != q.n && (bytes.Contains(told, []byte(emailOf(n))) || bytes.Contains(told, []byte(telOf(n)))) {
			w.fail("exactly the approved bytes", "plan %d told a value of plan %d", q.n, n)
		}
	}
	for _, item := range q.request.Items {
		for _, value := range []string{emailOf(q.n), telOf(q.n)} {
			if strings.Contains(item.Summary, value) && !slices.Contains(q.approved, item.ID) && bytes.Contains(told, []byte(value)) {
				w.fail("nothing told that the user refused", "plan %d told %s", q.n, value)
			}
		}
	}
	recorded := false
	for e, err := range agent.NewLedger(w.engines.ledger).Entries(context.Background()) {
		recorded = recorded || err == nil && e.Kind == agent.EntryAction && e.Plan == q.plan.ID()
	}
	if !recorded {
		w.fail("every effect is in the ledger before it", "plan %d is not there", q.n)
	}
}

// withdraw takes the policy back.
func (s *site) withdraw() {
	s.world.trace("the shop withdraws its policy")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdrawnAt = time.Now()
}

func (s *site) isWithdrawn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.withdrawnAt.IsZero()
}

// refused records that a worker knows of the withdrawal.
func (s *site) refused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusedAt.IsZero() {
		s.refusedAt = time.Now()
	}
}

func (s *site) policy(w http.ResponseWriter, r *http.Request) {
	text := s.signed
	if s.isWithdrawn() {
		text = []byte(withdrawn)
	}
	time.Sleep(s.random(time.Second)) // the policy may change meanwhile
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=600")
	_, _ = w.Write(text)
}

// slack is how much later than its bound a withdrawal may be seen: messages and the clocks
// of workers.
const slack = 15 * time.Second

// area is a page that the policy permits until it is withdrawn.
func (s *site) area(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	withdrawnAt, refusedAt := s.withdrawnAt, s.refusedAt
	s.mu.Unlock()
	now := time.Now()
	if !withdrawnAt.IsZero() && now.Sub(withdrawnAt) > maxAge+time.Minute+slack {
		s.world.fail("withdrawal is seen within its bound", "a worker came %v after the withdrawal", now.Sub(withdrawnAt))
	}
	if !refusedAt.IsZero() && now.Sub(refusedAt) > time.Minute+slack && s.world.engines.whole() {
		s.world.fail("withdrawal is seen within its bound", "a worker came %v after another one was refused", now.Sub(refusedAt))
	}
	_, _ = io.WriteString(w, "welcome")
}

func (s *site) search(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.searches = append(s.searches, time.Now())
	s.mu.Unlock()
	_, _ = io.WriteString(w, "found")
}
