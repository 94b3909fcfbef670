package aiuri

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plugin"
)

// How long a client waits for one call of a plug-in, and how long a discoverer does.
const (
	defaultWait = 5 * time.Minute
	lookupWait  = 30 * time.Second
)

// part is what the host plugs in: an [Invoker], a [TokenSource], a function of the options.
type part struct {
	name string
	code lookleap.Code // of its failures
	wait time.Duration // longest wait for one call; 0: until the caller's context ends
	// A call that never returns keeps its place. An authority has the places of one bound, so that
	// it cannot take all of them.
	bounds [8]*plugin.Bound
}

// callsOfBound is the number of concurrent calls of each bound.
const callsOfBound = 1024

func newPart(name string, code lookleap.Code, wait time.Duration) *part {
	p := &part{name: name, code: code, wait: wait}
	busy := fail(CodePluginBusy, "too many calls of "+name+" have not returned", "end each call when its context ends")
	for i := range p.bounds {
		p.bounds[i] = &plugin.Bound{Most: callsOfBound, Busy: busy, Fail: func(reason string) error {
			return fail(code, name+" failed: "+reason, "")
		}, Guard: func(err *error) {
			if recover() != nil { // whose text may be a secret
				*err = fail(code, name+" panicked", "")
			}
		}}
	}
	return p
}

// call runs f, which calls a plug-in for an authority (may be empty). It returns when f
// returns, when ctx ends, or after the longest wait. A panic or an error without a known code
// gets the plug-in's code.
func call[T any](ctx context.Context, p *part, authority string, f func(context.Context) (T, error)) (T, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(authority))
	limited, stop := ctx, context.CancelFunc(func() {})
	if p.wait > 0 {
		limited, stop = context.WithTimeout(ctx, p.wait)
	}
	defer stop()
	value, err := plugin.Await(limited, p.bounds[hash.Sum32()%uint32(len(p.bounds))], f)
	switch code := lookleap.CodeOf(err); {
	case err == nil:
		return value, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fail(lookleap.CodeTimeout, fmt.Sprintf("%s did not return within %v", p.name, p.wait),
			"end each call with its context; the Timeout of a client or gateway can be raised")
	case code == lookleap.CodeInternal || !code.Known():
		err = &lookleap.Error{Code: p.code, Message: p.name + " failed", Err: err}
	}
	var none T
	return none, err
}

// invoke calls a transport with a copy of the call.
func invoke(ctx context.Context, p *part, i Invoker, c *Call) (SignedResult, error) {
	shown := *c
	return call(ctx, p, c.URI.Authority(), func(ctx context.Context) (SignedResult, error) { return i.Invoke(ctx, &shown) })
}

// ask calls a function of the options that says yes or no. A panic or a timeout means no.
func ask(ctx context.Context, p *part, f func() bool) bool {
	ok, err := call(ctx, p, "", func(context.Context) (bool, error) { return f(), nil })
	return ok && err == nil
}

// parts are the plug-ins that both clients and gateways call.
type parts struct{ transport, tokens, host, audit *part }

func newParts(wait time.Duration) parts {
	return parts{
		transport: newPart("the transport", CodeTransportFailed, wait),
		tokens:    newPart("the token source", CodeTokenUnavailable, wait),
		host:      newPart("a function of the options", CodeNotAuthorized, wait),
		audit:     newPart("the audit function", CodePluginBusy, wait),
	}
}
