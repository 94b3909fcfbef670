package agent

import (
	"context"
	"encoding/json"
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

// Discover finds the ANML document of an origin, "https://shop.example", and
// opens it (section 6.5): at its well-known URI, or where that once moved to for
// good; then where the web pages say that the host has seen there; then, with
// [Options.DNS], where the DNS says. [Page.Trace] and [DiscoveryTrace] list what was
// tried. The page speaks for the domain that served it, whoever pointed there.
//
// Its *lookleap.Error has the code no-anml when there is none, which is remembered for the
// session; gone when the origin has given it up, which is remembered in the
// user's [Store]; inconclusive when it could not be found out; and the code of the
// document or connection that cannot be used otherwise.
func (s *Session) Discover(ctx context.Context, origin string, seen ...WebPage) (*Page, error) {
	return s.discover(ctx, origin, seen)
}

// ForgetDiscovery forgets where an origin's document was found to be and not to
// be, also that it is gone for good, and the pages kept of it. It is for the user
// who knows better: nothing else takes back a 410 (section 6.5.1).
func (s *Session) ForgetDiscovery(ctx context.Context, origin string) error {
	u, err := s.parseURL(origin)
	if err != nil {
		return err
	}
	s.pages.forget(u.Origin())
	if err := s.memory.forget(ctx, u.Origin()); err != nil {
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: u.Origin(), Message: "the user's store did not forget", Err: err}
	}
	return nil
}

// Open retrieves the ANML document at a URL, or takes it from memory where HTTP
// and the document allow that (sections 6.3 and 8.1.1). Where a web page is there
// instead, the first document that it advertises is opened (section 15.1). Every
// error is an *lookleap.Error.
func (s *Session) Open(ctx context.Context, url string) (*Page, error) {
	return s.open(ctx, url)
}

// Resume commits a call that ended with a *lookleap.PendingError: state is that
// error's State, decision what the user decided about its Request. The page is
// not loaded again; trust is verified afresh. A plan commits once, ever.
func (s *Session) Resume(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*CallResult, error) {
	return s.resume(ctx, state, d)
}
