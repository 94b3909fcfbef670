package roundtrip

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
)

// connection is a connection that a transport reported. It may be nil.
type connection struct{ net.Conn }

func (c connection) tls() (state tls.ConnectionState, ok bool) {
	secured, ok := c.Conn.(interface{ ConnectionState() tls.ConnectionState })
	if ok {
		state = secured.ConnectionState()
	}
	return state, ok
}

// belongsToOther reports whether the verified certificate of the connection is for another host.
// Then a plug-in sent a request of its own, perhaps for a token, before it sent this one.
func (c connection) belongsToOther(host string, plain bool) bool {
	state, ok := c.tls()
	if plain {
		return ok
	}
	return len(state.VerifiedChains) > 0 && state.PeerCertificates[0].VerifyHostname(host) != nil
}

// isShared reports whether other requests use the connection at the same time.
// The HTTP/2 transport checks the context before it writes a request; the HTTP/1 transport does not.
func (c connection) isShared() bool {
	state, _ := c.tls()
	return state.NegotiatedProtocol == "h2"
}

// Close closes a connection, which may be nil. It closes the connection below TLS first, so that
// TLS writes nothing when it is closed and does not wait to write.
func Close(conn net.Conn) {
	if conn == nil {
		return
	}
	if below := Below(conn); below != nil {
		_ = below.Close()
	}
	_ = conn.Close()
}

// Below returns the connection below the TLS of conn, or nil.
func Below(conn net.Conn) net.Conn {
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return c.NetConn()
	}
	return nil
}

// tracedBefore is the trace from before the outermost exchange. The context holds it under its
// zero value as the key.
type tracedBefore struct{ trace *httptrace.ClientTrace }

// mark stores the trace of a context, unless it is the context of an inner exchange.
func mark(ctx context.Context) context.Context {
	if _, ok := ctx.Value(tracedBefore{}).(tracedBefore); ok {
		return ctx
	}
	return context.WithValue(ctx, tracedBefore{}, tracedBefore{httptrace.ContextClientTrace(ctx)})
}

// Apart returns a context for an exchange that is made during another one, such as reading a policy
// or asking a resolver. The trace of the other exchange does not see its connections.
func Apart(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(tracedBefore{}).(tracedBefore); ok {
		return withTrace{ctx, outer.trace}
	}
	return ctx
}

// Watched is [Apart] for an exchange whose connections are reported to trace.
func Watched(ctx context.Context, trace *httptrace.ClientTrace) context.Context {
	return httptrace.WithClientTrace(mark(Apart(ctx)), trace)
}

// withTrace replaces the trace of a context.
type withTrace struct {
	context.Context
	trace *httptrace.ClientTrace
}

func (c withTrace) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return c.trace // may be nil, which httptrace.ContextClientTrace returns as it is
	}
	return v
}
