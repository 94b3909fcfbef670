package webconsent_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

type answer struct {
	approval *lookleap.Approval
	err      error
}

// ask asks through a Host, as every package does.
func ask(ctx context.Context, p *webconsent.Prompter, plan *lookleap.Plan) <-chan answer {
	done := make(chan answer, 1)
	host := &lookleap.Host{Prompter: p}
	go func() {
		a, err := host.Ask(ctx, plan)
		done <- answer{a, err}
	}()
	return done
}

func TestPromptConsent(t *testing.T) {
	t.Run("accept-some-items", func(t *testing.T) {
		s := serve(t, webconsent.Options{})
		b := s.open(t)
		plan := newPlan(t, request())
		done := ask(t.Context(), s.Prompter, plan)
		if ids := b.waitFor(1); ids[0] != plan.ID() {
			t.Fatalf("%q waits", ids)
		}
		if got := b.decide(plan.ID(), "order"); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		a := <-done
		if a.err != nil || !a.approval.Has("order") || a.approval.Has("phone") {
			t.Errorf("%v, %v", a.approval, a.err)
		}
		b.waitFor(0)
		if list := b.get(b.home).body; !strings.Contains(list, "Approved: 1 of 2") {
			t.Errorf("the list does not show the decision: %s", list)
		}
		if got := b.get(b.home + "plan/" + plan.ID()); got.status != http.StatusNotFound {
			t.Errorf("a decided plan is shown: %d", got.status)
		}
	})
	t.Run("reject-refused", func(t *testing.T) {
		s := serve(t, webconsent.Options{})
		b := s.open(t)
		plan := newPlan(t, request())
		done := ask(t.Context(), s.Prompter, plan)
		b.waitFor(1)
		b.decide(plan.ID())
		if a := <-done; !errors.Is(a.err, lookleap.ErrConsentRefused) {
			t.Errorf("%v", a.err)
		}
	})
	t.Run("reject-without-a-needed-item", func(t *testing.T) {
		s := serve(t, webconsent.Options{})
		b := s.open(t)
		plan := newPlan(t, request())
		ctx, cancel := context.WithCancel(t.Context())
		done := ask(ctx, s.Prompter, plan)
		b.waitFor(1)
		got := b.decide(plan.ID(), "phone")
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "every item that is needed") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if !strings.Contains(got.body, `value="phone" checked`) {
			t.Error("the page forgot what the user ticked")
		}
		if got := b.decide(plan.ID(), "order", "unasked"); got.status != http.StatusUnprocessableEntity {
			t.Errorf("an item that was not asked: %d", got.status)
		}
		cancel()
		if a := <-done; !errors.Is(a.err, context.Canceled) {
			t.Errorf("%v", a.err)
		}
		b.waitFor(0)
	})
	t.Run("reject-too-many", func(t *testing.T) {
		p, err := webconsent.New(webconsent.Options{MaxPending: 1})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := newPlan(t, request())
		if err := p.Suspend(ctx, pending(t, first)); err != nil {
			t.Fatal(err)
		}
		if err := p.Suspend(ctx, pending(t, first)); err != nil {
			t.Errorf("the same plan again: %v", err)
		}
		if err := p.Suspend(ctx, pending(t, newPlan(t, request()))); lookleap.CodeOf(err) != lookleap.CodeLimit {
			t.Errorf("%v", err)
		}
	})
	t.Run("reject-too-many-at-once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, err := webconsent.New(webconsent.Options{MaxPending: 1})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			first := make(chan error, 1)
			go func() { _, err := p.PromptConsent(ctx, newPlan(t, request()).Request()); first <- err }()
			synctest.Wait()
			if _, err := p.PromptConsent(t.Context(), newPlan(t, request()).Request()); lookleap.CodeOf(err) != lookleap.CodeLimit {
				t.Error(err)
			}
			cancel()
			if err := <-first; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if _, err := p.PromptConsent(t.Context(), newPlan(t, request()).Request()); lookleap.CodeOf(err) != lookleap.CodePlanExpired {
				t.Errorf("after the first one: %v", err)
			}
		})
	})
	t.Run("reject-nothing", func(t *testing.T) {
		p, err := webconsent.New(webconsent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := p.PromptConsent(t.Context(), nil); d.Digest != "" || lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("%v, %v", d, err)
		}
	})
	t.Run("accept-changes-at-once", func(t *testing.T) { // without waiting for the next reading of the store
		s := serve(t, webconsent.Options{Poll: time.Hour})
		b := s.open(t)
		seen := make(chan int)
		go func() { defer close(seen); b.watch(seen) }()
		show := func(want int) {
			t.Helper()
			for got := range seen {
				if got == want {
					return
				}
			}
			t.Fatalf("the page does not show %d requests", want)
		}
		show(0)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		live, stored := newPlan(t, request()), newPlan(t, request())
		done := ask(ctx, s.Prompter, live)
		show(1)
		if err := s.Suspend(ctx, pending(t, stored)); err != nil {
			t.Fatal(err)
		}
		show(2)
		cancel()
		<-done
		show(1)
		if err := s.Forget(t.Context(), stored.ID()); err != nil {
			t.Fatal(err)
		}
		show(0)
	})
	t.Run("accept-wait-then-suspend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, err := webconsent.New(webconsent.Options{Wait: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, err = p.PromptConsent(t.Context(), newPlan(t, request()).Request())
			if !errors.Is(err, lookleap.ErrConsentPending) || time.Since(start) != time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("reject-expired", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, err := webconsent.New(webconsent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.PromptConsent(t.Context(), newPlan(t, request()).Request())
			if lookleap.CodeOf(err) != lookleap.CodePlanExpired {
				t.Errorf("%v", err)
			}
			p, err = webconsent.New(webconsent.Options{Wait: 2 * lookleap.PlanLifetime})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.PromptConsent(t.Context(), newPlan(t, request()).Request()); lookleap.CodeOf(err) != lookleap.CodePlanExpired {
				t.Errorf("waiting for longer: %v", err)
			}
			// One that does not wait leaves the end to the caller who resumes.
			p, err = webconsent.New(webconsent.Options{Wait: -1})
			if err != nil {
				t.Fatal(err)
			}
			plan := newPlan(t, request())
			time.Sleep(2 * lookleap.PlanLifetime)
			if _, err := p.PromptConsent(t.Context(), plan.Request()); !errors.Is(err, lookleap.ErrConsentPending) {
				t.Errorf("without waiting: %v", err)
			}
		})
	})
}

// TestServe: without a base URL, only addresses of the loopback interface are served.
func TestServe(t *testing.T) {
	elsewhere := listener{&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}}
	local := listener{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}}
	for name, c := range map[string]struct {
		base string
		l    net.Listener
		want lookleap.Code
	}{
		"reject-other-interface":           {"", elsewhere, lookleap.CodeUsage},
		"accept-other-interface-of-a-base": {"https://agent.example.com", elsewhere, lookleap.CodeIO}, // of the listener
		"accept-loopback":                  {"", local, lookleap.CodeIO},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := webconsent.New(webconsent.Options{BaseURL: c.base})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Serve(t.Context(), c.l); lookleap.CodeOf(err) != c.want || errors.Is(err, errListener) != (c.want == lookleap.CodeIO) {
				t.Error(err)
			}
		})
	}
}

var errListener = errors.New("nothing listens")

// listener has an address, and no connections.
type listener struct{ addr net.Addr }

func (l listener) Accept() (net.Conn, error) { return nil, errListener }
func (l listener) Close() error              { return nil }
func (l listener) Addr() net.Addr            { return l.addr }

// pending suspends a plan as a Host does.
func pending(t *testing.T, plan *lookleap.Plan) *lookleap.PendingError {
	t.Helper()
	p, err := webconsent.New(webconsent.Options{Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = (&lookleap.Host{Prompter: p}).Ask(t.Context(), plan)
	var suspended *lookleap.PendingError
	if !errors.As(err, &suspended) {
		t.Fatalf("%v", err)
	}
	return suspended
}

func key() []byte { return []byte(strings.Repeat("k", lookleap.MinKeyLen)) }

// TestSuspend suspends a plan in one process, decides it in a second one that starts later,
// and resumes it in a third. The processes share a directory.
func TestSuspend(t *testing.T) {
	dir := t.TempDir()
	process := func() webconsent.Options {
		store, err := lookleap.OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return webconsent.Options{Store: store, Keys: lookleap.Keys{key()}, Wait: -1, Poll: time.Millisecond}
	}
	worker, err := webconsent.New(process())
	if err != nil {
		t.Fatal(err)
	}
	plan := newPlan(t, request())
	_, err = (&lookleap.Host{Prompter: worker}).Ask(t.Context(), plan)
	var suspended *lookleap.PendingError
	if !errors.As(err, &suspended) {
		t.Fatalf("%v", err)
	}
	if err := worker.Suspend(t.Context(), suspended); err != nil {
		t.Fatal(err)
	}

	s := serve(t, process()) // after a restart
	b := s.open(t)
	if ids := b.waitFor(1); ids[0] != plan.ID() {
		t.Fatalf("%q wait", ids)
	}
	form := b.form(plan.ID())
	if got := b.decide(plan.ID(), "order", "phone"); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	form.Set("do", "refuse")
	if got := b.post(plan.ID(), form); got.status != http.StatusConflict {
		t.Errorf("a second decision: %d %s", got.status, got.body)
	}

	resumer, err := webconsent.New(process())
	if err != nil {
		t.Fatal(err)
	}
	host := &lookleap.Host{}
	defer host.Close()
	for d, err := range resumer.Decided(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		resumed, err := lookleap.ParsePlan(d.State)
		if err != nil {
			t.Fatal(err)
		}
		approval, err := host.Decide(t.Context(), resumed, d.Decision)
		if err != nil || !approval.Has("phone") || d.ID != plan.ID() {
			t.Errorf("%+v, %v", d.Decision, err)
		}
		if err := resumer.Forget(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		break
	}
	store, err := lookleap.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if keys, err := store.Keys(t.Context(), ""); err != nil || len(keys) != 0 {
		t.Errorf("left in the store: %q, %v", keys, err)
	}
}

func TestDecided(t *testing.T) {
	t.Run("accept-expired-undecided-is-a-refusal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, err := webconsent.New(webconsent.Options{Poll: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			plan := newPlan(t, request())
			if err := p.Suspend(t.Context(), pending(t, plan)); err != nil {
				t.Fatal(err)
			}
			for d, err := range p.Decided(t.Context()) {
				if err != nil || d.ID != plan.ID() || len(d.Decision.Approved) != 0 || time.Now().Before(plan.Request().Expires) {
					t.Errorf("%+v, %v", d, err)
				}
				break
			}
		})
	})
	t.Run("reject-records-of-others", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		p, err := webconsent.New(webconsent.Options{Store: store, Keys: lookleap.Keys{key()}})
		if err != nil {
			t.Fatal(err)
		}
		plan := newPlan(t, request())
		if err := p.Suspend(t.Context(), pending(t, plan)); err != nil {
			t.Fatal(err)
		}
		sealed, err := store.Get(t.Context(), "webconsent-plan/"+plan.ID())
		if err != nil || strings.Contains(string(sealed), "lamp") {
			t.Fatalf("%q, %v", sealed, err)
		}
		changed := slices.Clone(sealed)
		changed[len(changed)/2] ^= 1
		for name, record := range map[string][]byte{
			"webconsent-plan/moved":            sealed, // another plan's record
			"webconsent-plan/changed":          changed,
			"webconsent-decision/" + plan.ID(): sealed, // a plan in the place of its decision
		} {
			if err := store.Put(t.Context(), name, nil, record, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		faults := 0
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for d, err := range p.Decided(ctx) {
			if err == nil || d.State != nil {
				t.Errorf("%+v", d)
			}
			if faults++; faults == 3 {
				break
			}
		}
		if faults != 3 {
			t.Errorf("%d faults, want 3", faults)
		}
	})
}

func TestNew(t *testing.T) {
	for name, o := range map[string]webconsent.Options{
		"reject-store-without-key": {Store: lookleap.NewMemoryStore()},
		"reject-short-key":         {Keys: lookleap.Keys{[]byte("short")}},
		"reject-plain-http":        {BaseURL: "http://agent.example.com/"},
		"reject-user-in-base":      {BaseURL: "https://user@agent.example.com/"},
		"reject-other-scheme":      {BaseURL: "ftp://agent.example.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := webconsent.New(o); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	}
}
