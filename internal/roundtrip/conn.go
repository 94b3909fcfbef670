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

// belongsToOther reports whether the connection leads to another server than the
// host's, by the certificate that the transport verified: then a plug-in sent a
// request of its own, for a token perhaps, before it sent this one.
func (c connection) belongsToOther(host string, plain bool) bool {
	state, ok := c.tls()
	if plain {
		return ok
	}
	return ok && len(state.VerifiedChains) > 0 && state.PeerCertificates[0].VerifyHostname(host) != nil
}

// isShared reports whether other requests use the connection at the same time.
// The HTTP/2 transport looks at the context before it writes a request, that of
// HTTP/1 does not.
func (c connection) isShared() bool {
	state, ok := c.tls()
	return ok && state.NegotiatedProtocol == "h2"
}

// Close closes a connection, the one below its TLS first, so that nothing is
// written and nothing waits to be written. It may be nil.
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

// tracedBefore is kept in a context under its own zero value: what was traced
// before the outermost exchange began.
type tracedBefore struct{ trace *httptrace.ClientTrace }

// mark remembers what is traced before the outermost exchange begins.
func mark(ctx context.Context) context.Context {
	if _, ok := ctx.Value(tracedBefore{}).(tracedBefore); ok {
		return ctx
	}
	return context.WithValue(ctx, tracedBefore{}, tracedBefore{httptrace.ContextClientTrace(ctx)})
}

// Apart returns a context for an exchange that is made while another one is being
// served, such as reading a policy or asking a resolver: its connections are not
// reported to the watchers of the other.
func Apart(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(tracedBefore{}).(tracedBefore); ok {
		return withTrace{ctx, outer.trace}
	}
	return ctx
}

// Watched returns a context for an exchange of its own, as [Apart] does, whose
// connections are reported to trace.
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
		if c.trace == nil {
			return nil
		}
		return c.trace
	}
	return v
}
