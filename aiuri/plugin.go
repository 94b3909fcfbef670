package aiuri

import (
	"context"
	"slices"
	"sync"

	"github.com/lookleap/lookleap"
)

// DefaultInFlight is the number of calls of one plug-in that may be under way at once.
const DefaultInFlight = 1024

// callLimit bounds the calls of one plug-in that are under way. A call that never
// returns keeps its place, so that it costs no more than that. One authority gets a
// quarter of the places at most, so that it cannot block the others.
type callLimit struct {
	most int

	mu  sync.Mutex
	all int
	of  map[string]int // by authority
}

func newCallLimit(most int) *callLimit {
	if most <= 0 {
		most = DefaultInFlight
	}
	return &callLimit{most: most, of: make(map[string]int)}
}

func (l *callLimit) enter(authority string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.most || authority != "" && l.of[authority] >= max(l.most/4, 1) {
		return false
	}
	l.all++
	l.of[authority]++
	return true
}

func (l *callLimit) leave(authority string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.of[authority]--; l.of[authority] == 0 {
		delete(l.of, authority)
	}
}

// plugin names a plug-in and what an error of it is called.
type plugin struct {
	name  string
	code  lookleap.Code
	limit *callLimit
}

// call runs f, which calls a plug-in for an authority ("" if there is none). It returns
// when f returns or ctx ends. A panic, and an error without a documented code, get the
// plug-in's own code.
func call[T any](ctx context.Context, p plugin, authority string, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if !p.limit.enter(authority) {
		return none, fail(CodePluginBusy, "too many calls of "+p.name+" have not returned", "end each call when its context ends, or raise InFlight")
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: fail(p.code, p.name+" failed", "")} // unless it returns
		defer func() {
			_ = recover()
			p.limit.leave(authority)
			done <- o
		}()
		value, err := f(ctx)
		o = outcome{value, err}
	}()
	select {
	case o := <-done:
		if code := lookleap.CodeOf(o.err); code == lookleap.CodeInternal || !code.Known() {
			return none, &Error{Code: p.code, Reason: p.name + " failed", Err: o.err}
		}
		return o.value, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func tokenOf(ctx context.Context, limits plugin, source TokenSource, to Destination, scopes []string) (string, error) {
	token, err := call(ctx, limits, to.Authority(), func(ctx context.Context) (string, error) {
		return source.Token(ctx, to, slices.Clone(scopes))
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil || token == "":
		code := CodeTokenUnavailable
		if lookleap.CodeOf(err) == CodePluginBusy {
			code = CodePluginBusy
		}
		return "", &Error{Code: code, Subject: to.Endpoint.Redacted(), Reason: "the token source returned no token", Err: err}
	}
	return token, nil
}

// invoke asks a transport, which gets a copy of the call.
func invoke(ctx context.Context, limits plugin, i Invoker, c *Call) (SignedResult, error) {
	own := *c
	return call(ctx, limits, c.URI.Authority(), func(ctx context.Context) (SignedResult, error) { return i.Invoke(ctx, &own) })
}

// plugins are those that clients and gateways both call.
type plugins struct{ transport, tokens, host, audit plugin }

func newPlugins(inFlight int) plugins {
	return plugins{
		transport: plugin{"the transport", CodeTransportFailed, newCallLimit(inFlight)},
		tokens:    plugin{"the token source", CodeTokenUnavailable, newCallLimit(inFlight)},
		host:      plugin{"a function of the options", CodeNotAuthorized, newCallLimit(inFlight)},
		audit:     plugin{"the audit function", CodePluginBusy, newCallLimit(inFlight)},
	}
}
