package agent

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/zero"
)

// Session is one user's run of an agent. What a session learns or remembers is
// that user's and reaches no other session, except through the [Store] and the
// [DisclosureLedger] that the host gave it. All its methods may be called from several
// goroutines at once; no lock is held while a user is asked.
type Session struct {
	agent *Agent
	user  User
	trust *anmltrust.Interaction
	life  *life
	clock *flight.Clock
	// consentClock is the clock of consents. It tolerates corrections of the host's
	// clock, which are no reason to ask the user again.
	consentClock *flight.Clock

	notices  *notices  // what the user was told
	memory   *memory   // where ANML is and is not: 404, 410, moved
	pages    *pages    // opened pages that may be used again
	context  *Context  // what services told
	consents *consents // what the user agreed to for longer
	gate     *gate     // when which action may be sent
}

// User is whom a session acts for, as the host knows them. The zero User has no
// data and agrees to nothing.
type User struct {
	// ID names the user among all users of the host: an account number, say. It is
	// never sent or recorded. A plan that was suspended in one user's session is
	// refused in a session with another ID or LedgerKey. Set it wherever one host
	// serves several users; without both, plans of all users look alike.
	ID string
	// Profile is the user's data; nil: none.
	Profile Profile
	// Policy is the user's standing will; nil: ask about everything.
	Policy *UserPolicy
	// Ledger records every disclosure and refusal; nil: one in memory.
	Ledger DisclosureLedger
	// LedgerKey is a secret of the user's: with it, entries of the ledger carry a
	// keyed hash of the value that was told. Nil: nothing of a value is recorded.
	LedgerKey []byte
	// Store keeps what outlives the session: tombstones, moved URIs, refused
	// domains, consents, informs that may be stored; nil: nothing does.
	Store Store
	// Notify is told what the user should know, besides [Session.Notices]. What it
	// is told about waits for it, for 2 seconds at most, so it returns soon and calls
	// nothing of the session.
	Notify func(context.Context, Notice)
	// Authenticate shows that the user is present and is who they are, for fields
	// whose rule demands it (section 16.6); nil: nobody can.
	Authenticate func(ctx context.Context, reason string) error
	// Language is the user's preferred language as a BCP 47 tag; it is never sent
	// by itself (section 8.8.2).
	Language string
	// Persona is what ranks above the personas of services (section 8.8).
	Persona PersonaPolicy
}

// NewSession starts a session. It returns an error if the agent has no host, or if the
// user's store fails.
func (a *Agent) NewSession(u User) (*Session, error) {
	if a == nil || a.host == nil {
		return nil, missing("the agent has no host", "make it with New")
	}
	if u.Profile == nil {
		u.Profile = NoProfile{}
	}
	if u.Policy == nil {
		u.Policy = &UserPolicy{}
	}
	if u.Ledger == nil {
		u.Ledger = NewMemoryDisclosureLedger()
	}
	s := &Session{agent: a, user: u, trust: a.verifier.Begin(), life: newLife()}
	s.notices = newNotices(s)
	s.gate = newGate(s)
	var err error
	if s.memory, err = newMemory(s); err != nil {
		return nil, err
	}
	s.clock = flight.NewClock(a.host.Time, s.clockStepped)
	s.consentClock = flight.NewTolerantClock(flight.CorrectionTolerance, a.host.Time, nil)
	s.pages = newPages(s)
	if s.context, err = newContext(s); err != nil {
		return nil, err
	}
	if s.consents, err = newConsents(s); err != nil {
		return nil, err
	}
	return s, nil
}

// ready returns an error unless [Agent.NewSession] made the session. Every method that
// does something calls it first.
func (s *Session) ready() error {
	if s == nil || s.agent == nil {
		return missing("there is no session", "make it with Agent.NewSession")
	}
	return nil
}

// during is [life.during] for a session that is ready.
func (s *Session) during(ctx context.Context) (_ context.Context, done func(), err error) {
	if err := s.ready(); err != nil {
		return nil, nil, err
	}
	return s.life.during(ctx)
}

// now returns the host's time, or the zero time if the session is not ready.
func (s *Session) now() time.Time {
	if s.ready() != nil {
		return time.Time{}
	}
	s.consentClock.Now() // sees each step that the session sees
	return s.clock.Now()
}

// clockStepped moves what the session waits for back with the clock: a wait
// neither begins again nor becomes longer. Kept pages and consents look for steps
// of the clock themselves.
func (s *Session) clockStepped(back time.Duration) {
	s.gate.moveBack(back)
	s.memory.moveBack(back)
}

// Close ends the session: calls that are running end with the code closed, and
// what may only be used while it lasts is forgotten. What was sent stays sent; the
// ledger tells.
func (s *Session) Close() error {
	if err := s.ready(); err != nil {
		return err
	}
	s.life.end()
	s.pages.close()
	return s.context.close()
}

// Ledger is the user's ledger.
func (s *Session) Ledger() DisclosureLedger { return zero.Or(s).user.Ledger }

// Context is what services told in this session, and before as far as they
// allow it.
func (s *Session) Context() *Context { return zero.Or(s).context }

// life is how long a session lasts. When end returns, the context of everything
// that the session does has ended: a [context.AfterFunc] would end it a moment
// later, when what the user agreed to meanwhile is already sent.
type life struct {
	mu      sync.Mutex
	over    bool
	running map[*context.CancelCauseFunc]bool // how each thing that the session does is ended
}

func newLife() *life { return &life{running: make(map[*context.CancelCauseFunc]bool)} }

// during gives a context that ends with the life too; done frees it. Nothing begins
// when the life is over.
func (l *life) during(ctx context.Context) (_ context.Context, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, nil, closedError("")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l.running[&cancel] = true
	return ctx, func() { l.forget(&cancel); cancel(nil) }, nil
}

func (l *life) forget(cancel *context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, cancel)
}

// end ends it. A second time does nothing.
func (l *life) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for cancel := range l.running {
		(*cancel)(errClosed)
	}
	clear(l.running)
}

func (l *life) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// ownerMark is the mark of a session's user in the effect of a plan: a keyed digest
// of [User.ID] that differs from plan to plan. It is "" for a user of whom the host
// gives neither an ID nor a LedgerKey.
func (s *Session) ownerMark() string {
	return s.ownerMarkWith(rand.Text())
}

func (s *Session) ownerMarkWith(nonce string) string {
	if s.user.ID == "" && len(s.user.LedgerKey) == 0 {
		return ""
	}
	key := hmac.New(sha256.New, s.user.LedgerKey)
	key.Write([]byte("lookleap plan owner\x00" + s.user.ID))
	mac := hmac.New(sha256.New, key.Sum(nil))
	mac.Write([]byte(nonce))
	return nonce + "." + hex.EncodeToString(mac.Sum(nil))
}

// owns returns an error unless a plan with this mark belongs to the session's user.
// It is asked before anything else is done with the plan.
func (s *Session) owns(mark string) error {
	nonce, _, _ := strings.Cut(mark, ".")
	if hmac.Equal([]byte(mark), []byte(s.ownerMarkWith(nonce))) {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the plan was prepared in the session of another user; resume it in a session with that user's ID and LedgerKey"}
}

// asUser names the session's user for the host's dialogues, of which each user
// has one at a time. A session without [User.ID] and LedgerKey leaves the name
// that the caller gave.
func (s *Session) asUser(ctx context.Context) context.Context {
	if user := s.ownerMarkWith("dialogue"); user != "" {
		return lookleap.WithUser(ctx, user)
	}
	return ctx
}
