package agentstxt

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// fileKind says how one of the two files of an origin is read: /agents.txt as a *Policy, and
// /robots.txt as a *RobotsFile.
type fileKind[T comparable] struct {
	source
	prefix string // of the keys in the shared cache

	judge     func(c *Client, r *readResult) judgement[T]
	stale     func(copy T, f lookleap.Finding) T // the earlier copy, with a finding that says why it is in force
	malformed func(T) *lookleap.Error            // why the file is malformed, or nil
	restrict  func(*lookleap.Error) T            // what a malformed file means
	findings  func(T) []lookleap.Finding         // that the host is told
	memory    func(T) int                        // an estimate, in bytes
}

// source is where a file is and how it is requested.
type source struct {
	path  string // at the root of an origin
	retry string // of the keys of the time after which the file may be requested again
	cut   bool   // a file that is too large is read as far as the limit
	wait  int    // the status of an answer that asks to come back later, in addition to 5xx
}

// judgement is what an attempt to read a file means.
type judgement[T any] struct {
	value  T
	whole  bool              // a later attempt without a usable answer does not replace it
	failed bool              // there was no usable answer
	wait   time.Duration     // until the server is asked again; 0: as it says, or longer after each failure
	keep   *lookleap.Finding // an earlier copy stays in force, for this reason; nil: it does not
}

// knownFile is what a client knows about a file of one origin. It never changes.
type knownFile[T any] struct {
	value      T // in force
	evidence   lookleap.Evidence
	generation uint64
	recheck    time.Time    // when the shared cache or the server is asked again
	good       *goodCopy[T] // may stay in force or be revalidated; nil if there is none
	stale      bool         // the good copy is in force because no newer answer is usable
	failures   int          // attempts in a row without a usable answer
	private    bool         // the server forbids shared caches to store it
	asked      time.Time    // when the exchange began that led to it
	checked    time.Time    // when the server last confirmed it
	fresh      time.Time    // until when the server need not be asked
}

// goodCopy is a whole file with the last time at which the server served it.
type goodCopy[T any] struct {
	value     T
	response  Response
	url       string // of the response, after redirects
	private   bool
	validator fetch.Validator
	asked     time.Time
	checked   time.Time
}

// siteFiles are the files of one kind that a client knows, by origin.
type siteFiles[T comparable] struct {
	client      *Client
	kind        fileKind[T]
	known       *flight.Memo[string, *knownFile[T]]
	generations atomic.Uint64
}

func newSiteFiles[T comparable](c *Client, kind fileKind[T]) *siteFiles[T] {
	size := func(_ string, e *knownFile[T]) int {
		value := e.value
		if e.good != nil {
			value = e.good.value // the one in force is the same file
		}
		return min(kind.memory(value), c.limits.Memory) // a larger one is kept alone, so that it is not read for each request
	}
	return &siteFiles[T]{client: c, kind: kind, known: flight.NewSizedMemo(c.limits.Origins, c.limits.Memory, size, c.host.Time)}
}

// knows reports whether get needs no request.
func (s *siteFiles[T]) knows(o origin) bool {
	_, fresh := s.known.Fresh(o.name)
	return fresh
}

// get returns what is known about the file of an origin. It asks again if that is outdated.
func (s *siteFiles[T]) get(ctx context.Context, o origin) (*knownFile[T], error) {
	if e, fresh := s.known.Fresh(o.name); fresh {
		return e, nil
	}
	return s.known.Get(ctx, o.name, func(ctx context.Context) (flight.Loaded[*knownFile[T]], error) {
		e, err := s.ask(ctx, o)
		if err != nil {
			return flight.Loaded[*knownFile[T]]{}, err
		}
		return flight.Loaded[*knownFile[T]]{Value: e, Until: e.recheck}, nil
	})
}

// ask asks the shared cache, then the server.
func (s *siteFiles[T]) ask(ctx context.Context, o origin) (e *knownFile[T], err error) {
	c := s.client
	held, _ := s.known.Peek(o.name)
	known, usable := held.Value, false
	if e = known; c.host.Cache != nil {
		e, usable = s.recall(ctx, o, known)
	}
	if !usable {
		before := e
		if before == nil {
			before = &knownFile[T]{}
		}
		var validator fetch.Validator
		if before.good != nil {
			validator = before.good.validator
		}
		result, err := c.read(ctx, o, s.kind.source, validator)
		if err != nil {
			return nil, err
		}
		e = s.after(before, result)
		if c.host.Cache != nil {
			if malformed := s.share(ctx, o, e, result); malformed != nil {
				e = malformed
			}
		}
		for _, f := range s.kind.findings(e.value) {
			c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: o.name + s.kind.path, Finding: &f})
		}
	}
	if known != nil && (e.value == known.value || e.good != nil && known.good != nil && e.good.value == known.good.value) { // apart from findings
		e.generation = known.generation
	} else {
		e.generation = s.generations.Add(1)
	}
	return e, nil
}

// How long files are used if the server does not say (RFC 9111, RFC 9309).
const (
	minFresh       = 5 * time.Minute
	maxFresh       = 24 * time.Hour
	defaultFresh   = time.Hour
	staleFor       = 24 * time.Hour // how long a good copy replaces a file that cannot be fetched
	malformedFor   = 10 * time.Minute
	deniedFor      = time.Hour
	rateLimitedFor = 10 * time.Minute
	minBackoff     = 30 * time.Second
	maxBackoff     = time.Hour
	maxRetryAfter  = 2 * time.Hour // of a server that failed
)

// after returns what is known after an attempt to read a file. It contains all rules
// of caching and does no I/O.
func (s *siteFiles[T]) after(before *knownFile[T], r *readResult) *knownFile[T] {
	now, good := r.received, before.good
	e := &knownFile[T]{evidence: r.evidence, asked: r.asked, checked: now, private: r.private, fresh: r.fresh}
	if r.confirmed && good != nil {
		renewed := *good // the server confirms it, however old it is
		renewed.asked, renewed.checked, renewed.private = r.asked, now, renewed.private || r.private
		e.value, e.good, e.private = renewed.value, &renewed, renewed.private
		return s.setRecheck(e)
	}
	j := s.kind.judge(s.client, r)
	e.value = j.value
	switch {
	case j.failed:
		e.failures = before.failures + 1
		e.fresh = now.Add(max(min(r.retryAfter, maxRetryAfter), backoff(e.failures)))
	case s.kind.malformed(j.value) != nil:
		e.fresh = now.Add(malformedFor) // without the good copy: it is never used again
	case j.wait > 0:
		e.fresh = now.Add(j.wait)
	}
	if j.whole {
		e.good = &goodCopy[T]{value: j.value, response: r.response, url: r.evidence.URL, private: r.private, validator: r.validator,
			asked: r.asked, checked: now}
	}
	if j.keep != nil && good != nil && now.Sub(good.checked) < staleFor && !now.Before(good.checked) { // and the clock was not set back
		e.value, e.good, e.stale, e.private = s.kind.stale(good.value, *j.keep), good, true, good.private
	}
	return s.setRecheck(e)
}

// setRecheck sets when to ask again: before the copy in force is too old, and within a
// minute if other processes may have seen something else meanwhile.
func (s *siteFiles[T]) setRecheck(e *knownFile[T]) *knownFile[T] {
	e.recheck = e.fresh
	if e.good != nil {
		e.recheck = fetch.Earlier(e.recheck, e.good.checked.Add(staleFor))
	}
	if host := s.client.host; host.Cache != nil && !e.private {
		e.recheck = fetch.Earlier(e.recheck, host.Time().Add(sharedFor))
	}
	return e
}

// backoff returns how long to wait after a number of failures in a row: twice as long
// each time, less up to half at random, so that clients do not return together.
func backoff(failures int) time.Duration {
	wait := maxBackoff
	if failures < 8 {
		wait = min(wait, minBackoff<<(failures-1))
	}
	return wait/2 + rand.N(wait/2+1)
}
