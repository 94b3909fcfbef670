package webconsent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// faultyStore fails at calls that begin with one text, such as "Put webconsent-plan/", and lists
// its keys in the reverse order.
type faultyStore struct {
	lookleap.Store
	fails  string
	err    error
	before func() // called before a call fails
	mu     sync.Mutex
}

// set changes which calls fail while the store is used.
func (s *faultyStore) set(fails string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.err = fails, err
}

func (s *faultyStore) fault(method, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != "" && strings.HasPrefix(method+" "+key, s.fails) {
		if s.before != nil {
			s.before()
		}
		return s.err
	}
	return nil
}

func (s *faultyStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := s.fault("Get", key); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

func (s *faultyStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if err := s.fault("Put", key); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, old, value, until)
}

func (s *faultyStore) Delete(ctx context.Context, key string) error {
	if err := s.fault("Delete", key); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key)
}

func (s *faultyStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := s.fault("Keys", prefix); err != nil {
		return nil, err
	}
	keys, err := s.Store.Keys(ctx, prefix)
	slices.SortFunc(keys, func(a, b string) int { return strings.Compare(b, a) })
	return keys, err
}

var errDisk = errors.New("the disk is broken")

func newFaulty(t *testing.T) (*faultyStore, *webconsent.Prompter) {
	t.Helper()
	store := &faultyStore{Store: lookleap.NewMemoryStore(), err: errDisk}
	p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}})
	if err != nil {
		t.Fatal(err)
	}
	return store, p
}

// TestStoreFaults: what the store cannot do is an error, so that no plan and no decision is lost
// without a word.
func TestStoreFaults(t *testing.T) {
	for fails, call := range map[string]func(*webconsent.Prompter, *lookleap.PendingError) error{
		"Keys ":                func(p *webconsent.Prompter, e *lookleap.PendingError) error { return p.Suspend(t.Context(), e) },
		"Put webconsent-plan/": func(p *webconsent.Prompter, e *lookleap.PendingError) error { return p.Suspend(t.Context(), e) },
		"Delete webconsent-plan/": func(p *webconsent.Prompter, e *lookleap.PendingError) error {
			return p.Forget(t.Context(), e.Request.ID)
		},
		"Delete webconsent-decision/": func(p *webconsent.Prompter, e *lookleap.PendingError) error {
			return p.Forget(t.Context(), e.Request.ID)
		},
	} {
		t.Run("reject-"+fails, func(t *testing.T) {
			store, p := newFaulty(t)
			store.fails = fails
			if err := call(p, pending(t, newPlan(t, request()))); !errors.Is(err, errDisk) || lookleap.CodeOf(err) != lookleap.CodeIO {
				t.Error(err)
			}
			store.fails = ""
			if err := call(p, pending(t, newPlan(t, request()))); err != nil {
				t.Errorf("the store works again: %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		fault  error
		status int
	}{
		"reject-decision-that-is-not-stored": {errDisk, http.StatusInternalServerError},
		"reject-decision-after-another":      {fmt.Errorf("redis: %w", lookleap.ErrConflict), http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			store := &faultyStore{Store: lookleap.NewMemoryStore(), err: c.fault}
			s := serve(t, webconsent.Options{Store: store, Keys: lookleap.Keys{key()}})
			b, plan := s.open(t), newPlan(t, request())
			if err := s.Suspend(t.Context(), pending(t, plan)); err != nil {
				t.Fatal(err)
			}
			store.fails = "Put webconsent-decision/"
			if got := b.decide(plan.ID(), "order"); got.status != c.status || strings.Contains(got.body, "was recorded") {
				t.Errorf("%d %s", got.status, got.body)
			}
			if list := b.get(b.home).body; strings.Contains(list, "Approved:") {
				t.Errorf("the list shows a decision: %s", list)
			}
		})
	}
	t.Run("accept-once-next-to-a-list-that-cannot-be-read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &faultyStore{Store: lookleap.NewMemoryStore(), err: errDisk}
			later := time.Now().Add(2 * lookleap.PlanLifetime)
			p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Now: func() time.Time { return later }})
			if err != nil {
				t.Fatal(err)
			}
			first, second := newPlan(t, request()), newPlan(t, request())
			if err := p.Suspend(t.Context(), pending(t, first)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for d, err := range p.Decided(t.Context()) {
				if got = append(got, d.ID); d.ID == second.ID() {
					break
				}
				switch store.fails {
				case "": // the first plan was returned
					store.fails = "Keys "
				default:
					store.fails = ""
					if !errors.Is(err, errDisk) {
						t.Error(err)
					}
					if err := p.Suspend(t.Context(), pending(t, second)); err != nil {
						t.Error(err)
					}
				}
			}
			if want := []string{first.ID(), "", second.ID()}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	})
	t.Run("accept-nothing-after-the-context", func(t *testing.T) {
		store := &faultyStore{Store: lookleap.NewMemoryStore(), err: errDisk}
		p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Suspend(t.Context(), pending(t, newPlan(t, request()))); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		store.fails, store.before = "Get ", cancel // what a store says then is about the caller
		for d, err := range p.Decided(ctx) {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("reject-list-that-cannot-be-read", func(t *testing.T) {
		store, p := newFaulty(t)
		store.fails = "Keys "
		faults := 0
		for d, err := range p.Decided(t.Context()) {
			if faults++; d.ID != "" || !errors.Is(err, errDisk) {
				t.Errorf("%+v, %v", d, err)
			}
			break
		}
		if faults != 1 {
			t.Errorf("%d faults", faults)
		}
	})
}

// TestStoreRecords: a record counts for the plan and the purpose that it was sealed for.
func TestStoreRecords(t *testing.T) {
	seal := func(purpose, record string) []byte {
		keys, err := lookleap.Keys{key()}.For("webconsent " + purpose)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := keys.Seal([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		return []byte(sealed)
	}
	plan := newPlan(t, request())
	state, err := plan.State()
	if err != nil {
		t.Fatal(err)
	}
	whole := seal("plan", `{"id":"`+plan.ID()+`","since":"2026-03-01T12:00:00Z","state":`+string(state)+`}`)
	for name, c := range map[string]struct {
		plan, decision []byte
		want           lookleap.Code
	}{
		"accept-decision":               {whole, seal("decision", `{"id":"`+plan.ID()+`","decision":{"digest":"d","approved":["order"]}}`), lookleap.CodeOK},
		"reject-decision-without-JSON":  {whole, seal("decision", "approved"), lookleap.CodeInternal},
		"reject-decision-about-another": {whole, seal("decision", `{"id":"other","decision":{"digest":"d","approved":["order"]}}`), lookleap.CodeSealBroken},
		"reject-plan-as-decision":       {whole, whole, lookleap.CodeSealBroken},
		"reject-decision-in-clear":      {whole, []byte(`{"id":"` + plan.ID() + `","decision":{"digest":"d","approved":["order"]}}`), lookleap.CodeSealBroken},
		"reject-plan-of-another":        {seal("plan", `{"id":"other","state":`+string(state)+`}`), nil, lookleap.CodeSealBroken},
		"reject-plan-of-no-plan":        {seal("plan", `{"id":"`+plan.ID()+`","state":{}}`), nil, lookleap.CodePlanInvalid},
		"reject-plan-in-clear":          {[]byte("{}"), nil, lookleap.CodeSealBroken},
		"reject-state-of-another": {seal("plan", `{"id":"`+plan.ID()+`","state":`+string(pending(t, newPlan(t, request())).State)+`}`), nil,
			lookleap.CodeSealBroken},
	} {
		t.Run(name, func(t *testing.T) {
			store := lookleap.NewMemoryStore()
			later := time.Now().Add(2 * lookleap.PlanLifetime) // a decision that was made in time counts later, too
			p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Now: func() time.Time { return later }})
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Put(t.Context(), "webconsent-plan/"+plan.ID(), nil, c.plan, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if c.decision != nil {
				if err := store.Put(t.Context(), "webconsent-decision/"+plan.ID(), nil, c.decision, time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			for d, err := range p.Decided(t.Context()) {
				if ok := c.want == lookleap.CodeOK; lookleap.CodeOf(err) != c.want || d.ID != plan.ID() || (len(d.Decision.Approved) == 1) != ok || (d.State != nil) != ok {
					t.Errorf("%+v, %v", d, err)
				}
				break
			}
		})
	}
}

// TestSuspendWrongly: what is no plan, or too large, is not stored.
func TestSuspendWrongly(t *testing.T) {
	suspended := pending(t, newPlan(t, request()))
	size := len(suspended.State)
	for name, c := range map[string]struct {
		options webconsent.Options
		pending *lookleap.PendingError
		want    lookleap.Code
	}{
		"accept-largest":  {webconsent.Options{MaxState: size}, suspended, lookleap.CodeOK},
		"reject-larger":   {webconsent.Options{MaxState: size - 1}, suspended, lookleap.CodeTooLarge},
		"reject-nothing":  {webconsent.Options{}, nil, lookleap.CodeUsage},
		"reject-no-plan":  {webconsent.Options{}, &lookleap.PendingError{State: []byte("{}")}, lookleap.CodePlanInvalid},
		"reject-no-state": {webconsent.Options{}, &lookleap.PendingError{}, lookleap.CodePlanInvalid},
		"reject-time-that-has-no-JSON": {webconsent.Options{Now: func() time.Time { return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }}, suspended,
			lookleap.CodeIO},
	} {
		t.Run(name, func(t *testing.T) {
			store := lookleap.NewMemoryStore()
			c.options.Store, c.options.Keys = store, lookleap.Keys{key()}
			p, err := webconsent.New(c.options)
			if err != nil {
				t.Fatal(err)
			}
			err = p.Suspend(t.Context(), c.pending)
			if keys, _ := store.Keys(t.Context(), ""); lookleap.CodeOf(err) != c.want || (len(keys) == 1) != (c.want == lookleap.CodeOK) {
				t.Errorf("%v, %q are stored", err, keys)
			}
		})
	}
}

// TestDecidedNextToOthers: a plan that waits, and one that was forgotten, hide no other record.
func TestDecidedNextToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		store := lookleap.NewMemoryStore()
		p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range 3 {
			plan := newPlan(t, request())
			if err := p.Suspend(t.Context(), pending(t, plan)); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, plan.ID())
		}
		slices.Sort(ids)
		// A decision that cannot be read is returned, too.
		if err := store.Put(t.Context(), "webconsent-decision/"+ids[1], nil, []byte("damaged"), time.Time{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got []string
		for d, err := range p.Decided(ctx) {
			if err == nil {
				t.Errorf("%+v", d)
			}
			if got = append(got, d.ID); len(got) > 1 {
				continue
			}
			if err := p.Forget(t.Context(), d.ID); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(10*time.Second, func() { // when the list was read without the forgotten plan
				if err := store.Put(t.Context(), "webconsent-plan/", nil, []byte("damaged"), time.Time{}); err != nil {
					t.Error(err)
				}
			})
		}
		if want := []string{ids[1], ""}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestDecidedOnce: each plan is returned once, in the order of their ids, as soon as it is suspended.
func TestDecidedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faultyStore{Store: lookleap.NewMemoryStore()}
		later := time.Now().Add(2 * lookleap.PlanLifetime)
		p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Poll: time.Hour, Now: func() time.Time { return later }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string
		go func() {
			for d, err := range p.Decided(ctx) {
				if err != nil || len(d.Decision.Approved) != 0 {
					t.Errorf("%+v, %v", d, err)
				}
				got = append(got, d.ID)
			}
		}()
		synctest.Wait()
		var want []string
		for range 3 {
			plan := newPlan(t, request()) // which has expired by the clock of the Prompter
			if err := p.Suspend(t.Context(), pending(t, plan)); err != nil {
				t.Fatal(err)
			}
			want = append(want, plan.ID())
			synctest.Wait()
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q at once", got, want)
			}
		}
		time.Sleep(10 * time.Hour)
		if !slices.Equal(got, want) {
			t.Errorf("%q after more readings, want %q", got, want)
		}
		again := pending(t, newPlan(t, request()))
		for range 2 { // a plan that was forgotten is a new one
			if err := p.Suspend(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := p.Forget(t.Context(), again.Request.ID); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if got = got[len(want):]; len(got) != 2 {
			t.Errorf("%q, want %s twice", got, again.Request.ID)
		}
		slices.Sort(want)
		got = nil
		for d := range p.Decided(ctx) {
			if got = append(got, d.ID); len(got) == len(want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
