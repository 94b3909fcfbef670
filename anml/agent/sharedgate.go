package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/lookleap/lookleap"
)

// What the sessions of all processes that share a [lookleap.Host.Limiter] respect
// together. The rate of actions counts for each user and origin. A wait that a service
// asked for counts for all users, since the service did not learn who the user is; a
// wait about one action (section 8.13) counts for its user.

// sharedRates are the rates of a user's actions at one origin across all sessions. One
// session alone always keeps them: it sends at most Burst actions in an Interval, and
// fewer than 11 times Burst in the time of 10 times Burst. The second one limits
// sessions that take turns.
func (l Limits) sharedRates() [2]lookleap.Rate {
	const most = 30 * 24 * time.Hour
	burst := min(l.Burst, 1<<20)
	long := most
	if l.Interval < most/time.Duration(10*burst) {
		long = l.Interval * time.Duration(10*burst)
	}
	return [2]lookleap.Rate{{Limit: burst, Window: l.Interval}, {Limit: 11*burst - 1, Window: long}}
}

// The keys of the Limiter. What may hold data of the user is a digest.
const (
	limitHold     = "anml retry "          // and an origin
	limitDocument = "anml document retry " // and the digest of a URL
	limitAction   = "anml action retry "   // and the digest of a user and an action
	limitShort    = "anml actions "        // and a user and an origin
	limitLong     = "anml pace "
)

// userKey is what Limiter keys hold of a user; sessions without ID and LedgerKey are
// those of one user.
func (s *Session) userKey() string { return s.ownerMarkWith("limits") }

func digestKey(prefix string, parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part + "\x00"))
	}
	return prefix + hex.EncodeToString(h.Sum(nil))
}

func (s *Session) actionKey(action string) string { return digestKey(limitAction, s.userKey(), action) }

// sharedWait returns an error if an action must not be sent now because of what any
// session sent or was told, or if the Limiter fails. It does not count.
func (s *Session) sharedWait(ctx context.Context, p gateKey) error {
	return s.shared(ctx, p, s.agent.host.Wait)
}

// sharedTake is sharedWait, and counts the execution if there is no error. If only the
// second rate refuses, the first one has counted a use that ends with the Interval.
func (s *Session) sharedTake(ctx context.Context, p gateKey) error {
	return s.shared(ctx, p, s.agent.host.Take)
}

func (s *Session) shared(ctx context.Context, p gateKey, use func(context.Context, string, lookleap.Rate) (time.Duration, error)) error {
	for _, key := range []string{limitHold + p.origin, s.actionKey(p.action)} {
		if wait, err := s.agent.host.Wait(ctx, key, lookleap.Rate{}); err != nil || wait > 0 {
			return tooSoon(p.origin, wait, err)
		}
	}
	for i, rate := range s.agent.options.Limits.sharedRates() {
		key := [2]string{limitShort, limitLong}[i] + s.userKey() + " " + p.origin
		switch wait, err := use(ctx, key, rate); {
		case err != nil:
			return tooSoon(p.origin, 0, err)
		case wait > 0:
			return tooOften(p.origin, wait)
		}
	}
	return nil
}

// tooSoon returns the error of a wait that a service asked for, or of a Limiter that
// could not say whether there is one.
func tooSoon(origin string, wait time.Duration, err error) error {
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: origin,
			Message: "whether the action may be sent now is not known", Err: err}
	}
	return &lookleap.Error{Code: CodeTooSoon, Subject: origin, Message: "the service asked to come back later",
		Err: &lookleap.ResponseError{RetryAfter: wait}}
}

func tooOften(origin string, wait time.Duration) error {
	return &lookleap.Error{Code: CodeTooManyActions, Subject: origin, Message: "too many actions in a row",
		Err: &lookleap.ResponseError{RetryAfter: wait}}
}

// hold keeps a wait that a service asked for. If the Limiter fails, the host is told; while
// it fails, no action is sent.
func (s *Session) hold(ctx context.Context, key, subject string, wait time.Duration) {
	if wait <= 0 {
		return
	}
	if err := s.agent.host.Hold(ctx, key, wait); err != nil {
		s.limiterFailed(ctx, subject, err)
	}
}

func (s *Session) limiterFailed(ctx context.Context, subject string, err error) {
	s.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: subject, Err: err})
}
