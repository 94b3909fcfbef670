package lookleaptest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// TestMoreBrokenFetchers has fetchers that change what a first test does not look at.
func TestMoreBrokenFetchers(t *testing.T) {
	for name, do := range map[string]func(next http.RoundTripper, req *http.Request) (*http.Response, error){
		"drops-repeated-headers": func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil {
				for key, values := range resp.Header {
					resp.Header[key] = values[:1]
				}
			}
			return resp, err
		},
		"cuts-long-bodies": func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil {
				resp.Body = io.NopCloser(io.LimitReader(resp.Body, 64<<10))
			}
			return resp, err
		},
		"errors-for-404": func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && resp.StatusCode == http.StatusNotFound {
				return nil, http.ErrMissingFile
			}
			return resp, err
		},
	} {
		t.Run(name, func(t *testing.T) { rejectsFetcher(t, do, "one-exchange") })
	}
	body := ""
	t.Run("reuses-a-body", func(t *testing.T) {
		rejectsFetcher(t, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(req)
			if err == nil && body == "" {
				data, _ := io.ReadAll(resp.Body)
				body = string(data)
			}
			if err == nil {
				resp.Body = io.NopCloser(strings.NewReader(body))
			}
			return resp, err
		}, "exchanges-are-separate")
	})
}

func rejectsFetcher(t *testing.T, do func(http.RoundTripper, *http.Request) (*http.Response, error), promise string) {
	t.Helper()
	rejects(t, func() Engine[openFetcher] {
		return overInternet(func(_ testing.TB, n *Internet) lookleap.Fetcher { return around{n, do} })
	}, fetcherPromises, promise)
}

// TestMoreBrokenResolvers has resolvers whose records are right, and what they say of them is not.
func TestMoreBrokenResolvers(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		change  func(*lookleap.DNSAnswer)
	}{
		"always-secure": {"aliases", func(a *lookleap.DNSAnswer) { a.DNSSEC = lookleap.Secure }},
		"final-dot":     {"aliases", func(a *lookleap.DNSAnswer) { a.Name += "." }},
		"never-secure":  {"dnssec", func(a *lookleap.DNSAnswer) { a.DNSSEC = lookleap.Insecure }},
	} {
		t.Run(name, func(t *testing.T) {
			rejects(t, func() Engine[openResolver] {
				return overInternet(func(t testing.TB, n *Internet) lookleap.Resolver {
					return wrapped{newResolver(t, n), func(next lookleap.Resolver, ctx context.Context, name string, rr lookleap.RRType) (*lookleap.DNSAnswer, error) {
						answer, err := next.Lookup(ctx, name, rr)
						if err == nil {
							c.change(answer)
						}
						return answer, err
					}}
				})
			}, resolverPromises, c.promise)
		})
	}
}

// TestMoreBrokenPrompters has prompters that decide more than the user did.
func TestMoreBrokenPrompters(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		change  func(*lookleap.ConsentDecision)
	}{
		"another-digest":    {"approval", func(d *lookleap.ConsentDecision) { d.Digest = lookleap.Digest([]byte("another")) }},
		"items-not-asked":   {"approval", func(d *lookleap.ConsentDecision) { d.Approved = append(d.Approved, "iban") }},
		"approves-for-ever": {"approval", func(d *lookleap.ConsentDecision) { d.Until = distant }},
		"refuses-for-ever":  {"refusal", func(d *lookleap.ConsentDecision) { d.AllVersions = true }},
	} {
		t.Run(name, func(t *testing.T) {
			rejects(t, prompters(func(_ testing.TB, user User) lookleap.ConsentPrompter {
				return dialogue{user, func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					d, err := honest(user, ctx, req)
					c.change(&d)
					return d, err
				}}
			}), prompterPromises, c.promise)
		})
	}
}
