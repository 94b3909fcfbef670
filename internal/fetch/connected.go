package fetch

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// TraceConnection returns a context for one exchange, and a function that reports whether
// a connection was made, so that the server may have received a request. A Fetcher that
// does not report connections may have sent the request.
func TraceConnection(ctx context.Context) (context.Context, func() bool) {
	var asked, got atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	return ctx, func() bool { return got.Load() || !asked.Load() }
}
