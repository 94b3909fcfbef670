package aiuri

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
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
	wait time.Duration // longest wait for one call
	// A call that never returns keeps its place. An authority has the places of one bound, so that
	// it cannot take all of them.
	bounds [8]plugin.Bound
}

// newPart returns a part with the longest wait for one call; 0: until the caller's context ends.
func newPart(name string, code lookleap.Code, wait time.Duration) *part {
	p := &part{name: name, code: code, wait: cmp.Or(wait, math.MaxInt64)}
	busy := fail(CodePluginBusy, "too many calls of "+name+" have not returned", "end each call when its context ends")
	for i := range p.bounds {
		b := &p.bounds[i]
		b.Most, b.Busy = 1024, busy
		b.Fail = func(reason string) error { return fail(code, name+" failed: "+reason, "") }
		b.Guard = func(err *error) {
			if recover() != nil { // whose text may be a secret
				*err = fail(code, name+" panicked", "")
			}
		}
	}
	return p
}

// call runs f, which calls a plug-in for an authority (may be empty). It returns when f
// returns, when ctx ends, or after the longest wait. A panic or an error without a known code
// gets the plug-in's code.
func call[T any](ctx context.Context, p *part, authority string, f func(context.Context) (T, error)) (T, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(authority))
	limited, stop := context.WithTimeout(ctx, p.wait)
	defer stop()
	value, err := plugin.Await(limited, &p.bounds[hash.Sum32()%uint32(len(p.bounds))], f)
	switch code := lookleap.CodeOf(err); {
	case err == nil:
		return value, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fail(lookleap.CodeTimeout, p.name+" did not return in time", "end each call with its context, or raise Timeout")
	case code == lookleap.CodeInternal || !code.Known():
		err = failOn(p.code, "", p.name+" failed", "", err)
	}
	var none T
	return none, err
}

// ask calls a function of the options that says yes or no. A panic or a timeout means no.
func ask(ctx context.Context, p *part, f func() bool) bool {
	ok, err := call(ctx, p, "", func(context.Context) (bool, error) { return f(), nil })
	return ok && err == nil
}
