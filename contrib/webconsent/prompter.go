package webconsent

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/webpage"
)

// Options configure a [Prompter].
type Options struct {
	// Store keeps suspended plans and the decisions about them; nil: in memory. Records are
	// sealed with Keys.
	Store lookleap.Store
	// Keys are required with a Store, and are the same in each process that uses the Store.
	Keys lookleap.Keys
	// Wait is how long PromptConsent waits for the user before the operation is suspended.
	// Zero: until the plan expires or the operation is cancelled. Negative: not at all.
	Wait time.Duration
	// BaseURL is where browsers reach the handler, such as https://agent.example.com/consent.
	// Empty: the loopback interface only. It must be https unless it is on this machine.
	BaseURL string
	// MaxPending is how many requests may wait at once, live ones and stored ones each;
	// default: 100. Requests that expired or were decided do not count.
	MaxPending int
	// MaxState is the largest state of a suspended plan in bytes; default: 16 MiB.
	MaxState int
	// Poll is how often the Store is read for changes by other processes; default: 2 seconds.
	Poll time.Duration
	// Now returns the time by which plans expire; nil: time.Now. It is the clock of the Host.
	// Links and sessions go by the system's clock.
	Now func() time.Time
}

// Prompter asks one user in a browser. It is a [lookleap.ConsentPrompter] and an
// [http.Handler]. Its methods may be called from several goroutines at once.
type Prompter struct {
	options Options
	vault   *vault
	door    *webpage.Door

	mu      sync.Mutex
	live    []*livePrompt   // in the order in which they were asked
	recent  []recentOutcome // the last decisions, for the page
	changed chan struct{}   // closed at the next change
	streams int
}

// livePrompt is a request that PromptConsent waits for.
type livePrompt struct {
	request  *lookleap.ConsentRequest
	since    time.Time
	decision *lookleap.ConsentDecision
	decided  chan struct{} // closed when there is a decision
}

// New returns a Prompter.
func New(o Options) (*Prompter, error) {
	o.MaxPending = cmp.Or(o.MaxPending, 100)
	o.MaxState = cmp.Or(o.MaxState, 16<<20)
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &Prompter{options: o, changed: make(chan struct{})}
	var err error
	if p.vault, err = newVault(o); err != nil {
		return nil, err
	}
	if p.door, err = webpage.NewDoor(o.BaseURL, time.Now, p.pages()); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Subject: "Options.BaseURL", Message: "webconsent: " + err.Error()}
	}
	return p, nil
}

// PromptConsent shows the request on the page and waits for the user. It returns
// [lookleap.ErrConsentPending] after Options.Wait.
func (p *Prompter) PromptConsent(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	if req == nil {
		return lookleap.ConsentDecision{}, &lookleap.Error{Code: lookleap.CodeUsage, Message: "webconsent: there is no request"}
	}
	wait := p.options.Wait
	if wait < 0 {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}
	left := req.Expires.Sub(p.options.Now())
	l := &livePrompt{request: req, since: p.options.Now(), decided: make(chan struct{})}
	if err := p.add(l); err != nil {
		return lookleap.ConsentDecision{}, err
	}
	timer := time.NewTimer(min(cmp.Or(wait, left), left))
	defer timer.Stop()
	var err error
	select {
	case <-l.decided:
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = lookleap.ErrConsentPending
		if wait == 0 || wait >= left {
			err = &lookleap.Error{Code: lookleap.CodePlanExpired, Message: "the user did not decide before the plan expired"}
		}
	}
	if d := p.remove(l); d != nil {
		return *d, nil
	}
	return lookleap.ConsentDecision{}, err
}

func (p *Prompter) add(l *livePrompt) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := 0
	for _, other := range p.live {
		if other.decision == nil && l.since.Before(other.request.Expires) {
			open++
		}
	}
	if open >= p.options.MaxPending {
		return tooMany(p.options.MaxPending)
	}
	p.live = append(p.live, l)
	p.announce()
	return nil
}

// remove ends a prompt and returns the decision, if there is one.
func (p *Prompter) remove(l *livePrompt) *lookleap.ConsentDecision {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = slices.DeleteFunc(p.live, func(other *livePrompt) bool { return other == l })
	p.announce()
	return l.decision
}

// announce wakes those who wait for a change. The caller holds the lock.
func (p *Prompter) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Prompter) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Suspend stores a suspended plan, sealed, and shows it on the page of each process with
// the same Store until it is decided and forgotten. Suspending a plan twice stores it once.
func (p *Prompter) Suspend(ctx context.Context, pending *lookleap.PendingError) error {
	if pending == nil {
		return &lookleap.Error{Code: lookleap.CodeUsage, Message: "webconsent: there is no suspended plan"}
	}
	if _, err := p.vault.put(ctx, pending.State, p.options.Now()); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announce()
	return nil
}

// Forget removes a suspended plan and the decision about it. Call it after the operation
// was resumed.
func (p *Prompter) Forget(ctx context.Context, id string) error {
	if err := p.vault.forget(ctx, id); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announce()
	return nil
}

// Link returns a URL that opens the page in one browser. It works once, within 15 minutes.
// The address is that of the server, such as http://127.0.0.1:7777; it is not used if
// Options.BaseURL is set.
func (p *Prompter) Link(address string) string { return p.door.Link(address) }

// ServeHTTP serves the page. Mount it at the path of Options.BaseURL with
// [http.StripPrefix], or at "/".
func (p *Prompter) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.door.ServeHTTP(w, r) }

// Serve serves the page on a listener until the context ends. It returns an error if the
// listener is not one of the loopback interface and Options.BaseURL is empty.
func (p *Prompter) Serve(ctx context.Context, l net.Listener) error {
	if p.options.BaseURL == "" && !webpage.IsLoopback(l.Addr()) {
		return &lookleap.Error{Code: lookleap.CodeUsage, Subject: l.Addr().String(),
			Message: "webconsent: the address is not one of the loopback interface",
			Fix:     "listen on 127.0.0.1, or set Options.BaseURL to the https URL of a proxy in front"}
	}
	if err := webpage.Serve(ctx, l, p); err != nil {
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: l.Addr().String(),
			Message: "webconsent: the page cannot be served", Err: err}
	}
	return nil
}
