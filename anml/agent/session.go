package agent

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/zero"
)

// Session is the agent of one user. What it learns and remembers stays in it, except
// for what it writes to the user's stores. Its methods are
// safe for concurrent use; no lock is held while the user is asked.
type Session struct {
	agent  *Agent
	user   User
	store  lookleap.Store // of the user, with calls that end; without one, in memory
	ledger *Ledger
	trust  *anmltrust.Interaction
	life   *life
	clock  *flight.Clock // corrections of the host's clock by less than a minute stop it, and end nothing

	notices  *notices        // what the user was told
	memory   *documentMemory // where ANML is and is not: 404, 410, moved
	pages    *pageCache      // opened pages that may be used again
	context  *Context        // what services told
	consents *consents       // what the user agreed to for longer
	gate     *gate           // when which action may be sent
	doubts   doubts          // what was sent with an unknown outcome
}

// User is the user of a session, as the host knows them. The zero User has no data
// and has agreed to nothing.
type User struct {
	// ID identifies the user among all users of the host, for example an account
	// number. It is never sent or recorded. A plan that was suspended in one user's
	// session is refused in a session with another ID or LedgerKey. Set it if one host
	// serves several users: without ID and LedgerKey, any session resumes any plan, and all
	// sessions share one rate of actions.
	ID string
	// Profile is the user's data. Nil means no data.
	Profile Profile
	// Policy holds the user's standing rules. Nil asks about everything.
	Policy *UserPolicy
	// Ledger keeps the record of every disclosure and refusal; see [Ledger]. Nil: Store does;
	// without both, it is in memory.
	Ledger lookleap.Store
	// LedgerKey is a secret of the user. With it, ledger entries hold a keyed hash of
	// the disclosed value. Nil records nothing about values.
	LedgerKey []byte
	// Store keeps what outlives the session: documents that are gone or moved, refused
	// domains, consents, and informs that may be stored. Nil keeps nothing.
	Store lookleap.Store
	// Notify receives what the user should know; [Session.Notices] lists the same. The
	// operation waits up to 2 seconds for it. It must not call the session.
	Notify func(context.Context, Notice)
	// Authenticate verifies that the user is present and who they are, for fields
	// whose rule requires it (section 16.6). Nil refuses these fields.
	Authenticate func(ctx context.Context, reason string) error
	// Language is the user's preferred language as a BCP 47 tag. It is not sent
	// (section 8.8.2).
	Language string
	// Persona overrides the personas of services (section 8.8).
	Persona PersonaPolicy
}

// NewSession returns a session for a user. It returns an error if the agent has no
// host or the user's store fails. Close the session after use.
func (a *Agent) NewSession(u User) (*Session, error) {
	if a == nil || a.host == nil {
		return nil, missing("the agent has no host", "make it with New")
	}
	if u.Profile == nil {
		u.Profile = Fields{}
	}
	if u.Policy == nil {
		u.Policy = &UserPolicy{}
	}
	store := lookleap.NewMemoryStore()
	ledger := NewLedger(plugin.Store{Store: cmp.Or(u.Ledger, u.Store, store), Bound: a.plugins.ledger})
	if u.Store != nil {
		store = plugin.Store{Store: u.Store, Bound: a.plugins.store}
	}
	s := &Session{agent: a, user: u, store: store, ledger: ledger, trust: a.verifier.Begin(), life: &life{running: make(map[*context.CancelCauseFunc]bool)}}
	s.notices, s.gate, s.memory = newNotices(s), newGate(s), newDocumentMemory(s)
	s.clock = flight.NewTolerantClock(flight.CorrectionTolerance, a.host.Time, func(back time.Duration) { // no wait restarts
		s.gate.adjustClock(back)
		s.memory.adjustClock(back)
	})
	s.pages = newPageCache(s)
	s.consents = &consents{store: s.store, clock: s.clock, tainted: make(map[string]string)}
	var err error
	if s.context, err = newContext(s); err != nil {
		return nil, err
	}
	if err := s.consents.refresh(context.Background()); err != nil {
		return nil, err
	}
	return s, nil
}

// ready returns an error unless [Agent.NewSession] made the session.
func (s *Session) ready() error {
	if s == nil || s.agent == nil {
		return missing("there is no session", "make it with Agent.NewSession")
	}
	return nil
}

// during returns a context that ends with ctx or the session; done releases it. It returns an error
// if the session has ended.
func (s *Session) during(ctx context.Context) (_ context.Context, done func(), err error) {
	if err := s.ready(); err != nil {
		return nil, nil, err
	}
	l := s.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil, nil, closedError("")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l.running[&cancel] = true
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.running, &cancel)
		cancel(nil)
	}, nil
}

// now returns the host's time, or the zero time if the session is not ready.
func (s *Session) now() time.Time {
	if s.ready() != nil {
		return time.Time{}
	}
	return s.clock.Now()
}

// Close ends the session. Running calls end with the code closed, and data that may
// only be used during the session is deleted. A request that was sent stays sent; the
// ledger records it.
func (s *Session) Close() error {
	if err := s.ready(); err != nil {
		return err
	}
	s.life.end()
	s.pages.close()
	return s.context.close()
}

// Ledger returns the user's ledger.
func (s *Session) Ledger() *Ledger { return zero.Or(s).ledger }

// Context returns what services told in this session, and in earlier ones as far as
// the services allow that.
func (s *Session) Context() *Context { return zero.Or(s).context }

// life ends the running operations of a session. When end returns, the context of
// each of them has ended. A [context.AfterFunc] would end it a moment later, after a
// request may have been sent.
type life struct {
	mu      sync.Mutex
	over    bool
	running map[*context.CancelCauseFunc]bool // of each running operation
}

// end cancels all running operations. Calling it again does nothing.
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

// owner names the session's user to this process: [User.ID], or with a LedgerKey a digest that only it makes. It is ""
// for a user with neither.
func (s *Session) owner() string {
	if len(s.user.LedgerKey) == 0 {
		return s.user.ID
	}
	mac := hmac.New(sha256.New, s.user.LedgerKey)
	mac.Write([]byte("lookleap plan owner\x00" + s.user.ID))
	return hex.EncodeToString(mac.Sum(nil))
}

// owns returns an error unless a plan with this mark belongs to the session's user.
// Call it before doing anything else with the plan.
func (s *Session) owns(mark string) error {
	return planowner.Check(mark, s.owner(), "resume it in a session with that user's ID and LedgerKey")
}

// decided returns the approval of a plan that was suspended, by the user's decision. Parse reads its
// effect, and returns the mark of its user.
func (s *Session) decided(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision,
	parse func(*lookleap.Plan) (mark string, err error)) (*lookleap.Plan, *lookleap.Approval, error) {
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, nil, err
	}
	mark, err := parse(plan)
	if err == nil {
		err = s.owns(mark)
	}
	if err != nil {
		return nil, nil, err
	}
	approval, err := s.agent.host.Decide(s.asUser(ctx), plan, d)
	return plan, approval, err
}

// asUser returns a context that names the session's user to the host: by [User.ID], which other
// packages use too, or by a digest of LedgerKey. Without both, the caller's name stays.
func (s *Session) asUser(ctx context.Context) context.Context {
	return planowner.Context(ctx, cmp.Or(s.user.ID, s.owner()))
}

// putJSON writes a value as a record, whatever is there.
func putJSON(ctx context.Context, s lookleap.Store, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return put(ctx, s, key, data)
}

// put writes a record, whatever is there.
func put(ctx context.Context, s lookleap.Store, key string, value []byte) error {
	return lookleap.UpdateRecord(ctx, s, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
}

// record is a record of the user's store.
type record struct {
	key  string
	data []byte
}

// records yields the records whose keys begin with a prefix, without those that disappear
// meanwhile. After an error others may follow.
func records(ctx context.Context, s lookleap.Store, prefix string) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		keys, err := s.Keys(ctx, prefix)
		if err != nil && !yield(record{}, err) {
			return
		}
		for _, key := range keys {
			data, err := s.Get(ctx, key)
			if !errors.Is(err, fs.ErrNotExist) && !yield(record{key, data}, err) {
				return
			}
		}
	}
}

// storeFailed returns the error of the user's store, nil if there is none.
func storeFailed(err error) error {
	if err == nil {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodeIO, Message: "what is remembered of the user could not be read or written", Err: err}
}
