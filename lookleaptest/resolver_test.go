package lookleaptest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurResolvers(t *testing.T) {
	for name, open := range map[string]openResolver{
		"validating": newResolver,
		"host":       func(_ testing.TB, n *Internet) lookleap.Resolver { return n.Host() },
	} {
		t.Run(name, func(t *testing.T) {
			accepts(t, func() Engine[openResolver] { return overInternet(open) }, resolverPromises)
		})
	}
	t.Run("go", func(t *testing.T) { // its time is not that of a bubble
		TestResolver(t, func(_ testing.TB, n *Internet) lookleap.Resolver {
			return lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: n.ResolverOptions().DialContext})
		})
	})
}

func newResolver(t testing.TB, n *Internet) lookleap.Resolver {
	resolver, err := lookleap.NewResolver(n.ResolverOptions())
	if err != nil {
		t.Fatal(err)
	}
	return resolver
}

func TestBrokenResolvers(t *testing.T) {
	var mu sync.Mutex
	var name string
	all := map[string]func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error){
		"records": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err == nil && len(answer.Records) > 1 {
				answer.Records = answer.Records[:1]
			}
			return answer, err
		},
		"aliases": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err == nil {
				answer.Name = name
			}
			return answer, err
		},
		"missing-record": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err == nil && len(answer.Records) == 0 {
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			}
			return answer, err
		},
		"failures-are-errors": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err != nil && ctx.Err() == nil {
				return &lookleap.DNSAnswer{Name: name}, nil
			}
			return answer, err
		},
		"dnssec": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err == nil {
				answer.DNSSEC = lookleap.Secure
			}
			return answer, err
		},
		"ttl": func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			answer, err := next.Lookup(ctx, name, t)
			if err == nil {
				answer.TTL = 24 * time.Hour
			}
			return answer, err
		},
		"cancellation": func(_ lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			time.Sleep(time.Minute)
			return &lookleap.DNSAnswer{Name: name}, nil
		},
		"concurrent-use": func(next lookleap.Resolver, ctx context.Context, asked string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
			mu.Lock()
			name = asked
			mu.Unlock()
			time.Sleep(time.Microsecond)
			mu.Lock()
			defer mu.Unlock()
			return next.Lookup(ctx, name, t)
		},
	}
	covers(t, resolverPromises, all)
	for promise, lookup := range all {
		t.Run(promise, func(t *testing.T) {
			rejects(t, func() Engine[openResolver] {
				return overInternet(func(t testing.TB, n *Internet) lookleap.Resolver {
					return wrapped{newResolver(t, n), lookup}
				})
			}, resolverPromises, promise)
		})
	}
}

// wrapped is a resolver with code of its own before another one.
type wrapped struct {
	next   lookleap.Resolver
	lookup func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error)
}

func (w wrapped) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return w.lookup(w.next, ctx, name, t)
}
