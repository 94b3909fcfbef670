package lookleaptest

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// broken is one way to break a promise, if name is "" the plainest.
type broken[T any] struct {
	promise, name string
	part          T
}

// rejectsEach checks that a contract finds each of the promises broken, and that each is tried.
func rejectsEach[T, B any](t *testing.T, promises []promise[T], engine func(part B) Engine[T], all []broken[B]) {
	t.Helper()
	tried := map[string]bool{}
	for _, b := range all {
		tried[b.promise] = true
		t.Run(b.promise+"/"+cmp.Or(b.name, "plain"), func(t *testing.T) {
			rejects(t, func() Engine[T] { return engine(b.part) }, promises, b.promise)
		})
	}
	covers(t, promises, tried)
}

func TestOurFetchers(t *testing.T) {
	for name, open := range map[string]openFetcher{
		"guarded":   func(_ testing.TB, n *Internet) lookleap.Fetcher { return lookleap.NewFetcher(n.FetcherOptions()) },
		"host":      func(_ testing.TB, n *Internet) lookleap.Fetcher { return n.Host() },
		"transport": func(_ testing.TB, n *Internet) lookleap.Fetcher { return n.Unguarded() },
	} {
		t.Run(name, func(t *testing.T) {
			accepts(t, func() Engine[openFetcher] { return overInternet(open) }, fetcherPromises)
		})
	}
}

// around is a fetcher with code of its own before that of an internet.
type around func(next http.RoundTripper, req *http.Request) (*http.Response, error)

type aroundNet struct {
	around
	next http.RoundTripper
}

func (a aroundNet) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.around(a.next, req.Clone(req.Context()))
}

// changing changes the responses.
func changing(change func(resp *http.Response)) around {
	return func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil {
			change(resp)
		}
		return resp, err
	}
}

func TestBrokenFetchers(t *testing.T) {
	var mu sync.Mutex
	var cookie, body, path string
	rejectsEach(t, fetcherPromises, func(part around) Engine[openFetcher] {
		return overInternet(func(_ testing.TB, n *Internet) lookleap.Fetcher { return aroundNet{part, n.Unguarded()} })
	}, []broken[around]{
		{"one-exchange", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			req.URL.RawQuery = "" // as if the query were a secret
			return next.RoundTrip(req)
		}},
		{"one-exchange", "drops-repeated-headers", changing(func(resp *http.Response) {
			for key, values := range resp.Header {
				resp.Header[key] = values[:1]
			}
		})},
		{"one-exchange", "cuts-long-bodies", changing(func(resp *http.Response) {
			resp.Body = io.NopCloser(io.LimitReader(resp.Body, 64<<10))
		})},
		{"one-exchange", "errors-for-404", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusNotFound {
				return nil, http.ErrMissingFile
			}
			return resp, err
		}},
		{"exchanges-are-separate", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			if cookie != "" {
				req.Header.Set("Cookie", cookie)
			}
			resp, err := next.RoundTrip(req)
			if err == nil {
				cookie = resp.Header.Get("Set-Cookie")
			}
			return resp, err
		}},
		{"exchanges-are-separate", "reuses-a-body", changing(func(resp *http.Response) {
			if body == "" {
				data, _ := io.ReadAll(resp.Body)
				body = string(data)
			}
			resp.Body = io.NopCloser(strings.NewReader(body))
		})},
		{"no-redirects", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			return (&http.Client{Transport: next}).Do(req)
		}},
		{"no-retries", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
				return next.RoundTrip(req.Clone(context.Background()))
			}
			return resp, err
		}},
		{"failures-are-errors", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			next.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
			return next.RoundTrip(req)
		}},
		{"reports-connections", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithCancel(context.Background())
			context.AfterFunc(req.Context(), cancel)
			return next.RoundTrip(req.Clone(ctx))
		}},
		{"cancellation", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			return next.RoundTrip(req.Clone(context.WithoutCancel(req.Context())))
		}},
		{"concurrent-use", "", func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			mu.Lock()
			path = req.URL.Path
			mu.Unlock()
			ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
				mu.Lock()
				defer mu.Unlock()
				req.URL.Path = path // of whichever request came last
			}})
			return next.RoundTrip(req.WithContext(ctx))
		}},
	})
}

func newResolver(t testing.TB, n *Internet) lookleap.Resolver {
	resolver, err := lookleap.NewResolver(n.ResolverOptions())
	if err != nil {
		t.Fatal(err)
	}
	return resolver
}

func TestOurResolvers(t *testing.T) {
	for name, open := range map[string]openResolver{
		"validating": newResolver,
		"host":       func(_ testing.TB, n *Internet) lookleap.Resolver { return n.Host() },
		"stub":       func(_ testing.TB, n *Internet) lookleap.Resolver { return n.Stub() },
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

type lookup func(
	next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType,
) (*lookleap.DNSAnswer, error)

// wrapped is a resolver with code of its own before another one.
type wrapped struct {
	lookup
	next lookleap.Resolver
}

func (w wrapped) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return w.lookup(w.next, ctx, name, t)
}

// answering changes the answers.
func answering(change func(name string, answer *lookleap.DNSAnswer)) lookup {
	return func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
		answer, err := next.Lookup(ctx, name, t)
		if err == nil {
			change(name, answer)
		}
		return answer, err
	}
}

func TestBrokenResolvers(t *testing.T) {
	var mu sync.Mutex
	var last string
	rejectsEach(t, resolverPromises, func(part lookup) Engine[openResolver] {
		return overInternet(func(t testing.TB, n *Internet) lookleap.Resolver { return wrapped{part, newResolver(t, n)} })
	}, []broken[lookup]{
		{"records", "", answering(func(_ string, a *lookleap.DNSAnswer) { a.Records = a.Records[:min(1, len(a.Records))] })},
		{"aliases", "", answering(func(name string, a *lookleap.DNSAnswer) { a.Name = name })},
		{"aliases", "always-secure", answering(func(_ string, a *lookleap.DNSAnswer) { a.DNSSEC = lookleap.Secure })},
		{"aliases", "final-dot", answering(func(_ string, a *lookleap.DNSAnswer) { a.Name += "." })},
		{"missing-record", "",
			func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
				answer, err := next.Lookup(ctx, name, t)
				if err == nil && len(answer.Records) == 0 {
					return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
				}
				return answer, err
			}},
		{"failures-are-errors", "",
			func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
				answer, err := next.Lookup(ctx, name, t)
				if err != nil && ctx.Err() == nil {
					return &lookleap.DNSAnswer{Name: name}, nil
				}
				return answer, err
			}},
		{"dnssec", "", answering(func(_ string, a *lookleap.DNSAnswer) { a.DNSSEC = lookleap.Secure })},
		{"dnssec", "never-secure", answering(func(_ string, a *lookleap.DNSAnswer) { a.DNSSEC = lookleap.Insecure })},
		{"ttl", "", answering(func(_ string, a *lookleap.DNSAnswer) { a.TTL = 24 * time.Hour })},
		{"cancellation", "",
			func(_ lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
				time.Sleep(time.Minute)
				return &lookleap.DNSAnswer{Name: name}, nil
			}},
		{"concurrent-use", "",
			func(next lookleap.Resolver, ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
				mu.Lock()
				last = name
				mu.Unlock()
				time.Sleep(time.Microsecond)
				mu.Lock()
				defer mu.Unlock()
				return next.Lookup(ctx, last, t)
			}},
	})
}

// dialogue is a prompter that shows requests to a user.
type dialogue func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

type dialogueWith struct {
	dialogue
	user User
}

func (d dialogueWith) PromptConsent(
	ctx context.Context, req *lookleap.ConsentRequest,
) (lookleap.ConsentDecision, error) {
	return d.dialogue(d.user, ctx, req)
}

// honest returns what the user decided in time.
func honest(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	approved := user(ctx, req)
	if err := ctx.Err(); err != nil {
		return lookleap.ConsentDecision{}, err
	}
	return lookleap.ConsentDecision{Digest: req.Digest, Approved: approved}, nil
}

// decidingWith changes the decisions.
func decidingWith(change func(d *lookleap.ConsentDecision)) dialogue {
	return func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		d, err := honest(user, ctx, req)
		change(&d)
		return d, err
	}
}

func prompters(open openPrompter) Engine[openPrompter] {
	return Engine[openPrompter]{Open: func(testing.TB, string) openPrompter { return open }, Private: true}
}

func TestOurPrompters(t *testing.T) {
	for name, open := range map[string]openPrompter{
		"dialogue": func(_ testing.TB, user User) lookleap.ConsentPrompter { return dialogueWith{honest, user} },
		"host": func(_ testing.TB, user User) lookleap.ConsentPrompter {
			return &lookleap.Host{Prompter: dialogueWith{honest, user}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			accepts(t, func() Engine[openPrompter] { return prompters(open) }, prompterPromises)
		})
	}
}

func TestBrokenPrompters(t *testing.T) {
	var mu sync.Mutex
	var last *lookleap.ConsentRequest
	remembered := map[string]lookleap.ConsentDecision{}
	rejectsEach(t, prompterPromises, func(part dialogue) Engine[openPrompter] {
		return prompters(func(_ testing.TB, user User) lookleap.ConsentPrompter { return dialogueWith{part, user} })
	}, []broken[dialogue]{
		{"approval", "", decidingWith(func(d *lookleap.ConsentDecision) {
			if len(d.Approved) > 0 {
				d.Approved = allItems
			}
		})},
		{"approval", "another-digest",
			decidingWith(func(d *lookleap.ConsentDecision) { d.Digest = lookleap.Digest([]byte("another")) })},
		{"approval", "items-not-asked",
			decidingWith(func(d *lookleap.ConsentDecision) { d.Approved = append(d.Approved, "iban") })},
		{"approval", "approves-for-ever", decidingWith(func(d *lookleap.ConsentDecision) { d.Until = distant })},
		{"refusal", "", func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			d, err := honest(user, ctx, req)
			if len(d.Approved) == 0 {
				err = lookleap.ErrConsentPending
			}
			return d, err
		}},
		{"refusal", "refuses-for-ever", decidingWith(func(d *lookleap.ConsentDecision) { d.AllVersions = true })},
		{"whole-request", "",
			func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				short := *req
				short.Items = req.Items[:2]
				return honest(user, ctx, &short)
			}},
		{"no-answer", "",
			func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{Digest: req.Digest, Approved: user(ctx, req)}, nil
			}},
		{"asked-again", "",
			func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				if d, ok := remembered[req.Summary]; ok {
					d.Digest = req.Digest
					return d, nil
				}
				d, err := honest(user, ctx, req)
				remembered[req.Summary] = d
				return d, err
			}},
		{"concurrent-use", "",
			func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				mu.Lock()
				last = req
				mu.Unlock()
				time.Sleep(time.Microsecond)
				mu.Lock()
				defer mu.Unlock()
				return honest(user, ctx, last)
			}},
	})
}
