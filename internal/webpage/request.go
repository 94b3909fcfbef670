package webpage

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

type sessionKey struct{}

func contextWith(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionOf(r *http.Request) *session {
	s, _ := r.Context().Value(sessionKey{}).(*session)
	return s
}

// misdirected returns why a request was not meant for this server, or "". A DNS name of
// an attacker that points at the loopback address arrives with the attacker's name in
// the Host header.
func (d *Door) misdirected(r *http.Request) string {
	if d.base != nil {
		if !strings.EqualFold(r.Host, d.base.Host) {
			return "The Host header is not that of the configured base URL."
		}
		return ""
	}
	host, port := splitHost(r.Host)
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	switch {
	case !isLoopbackName(host):
		return "The Host header is not localhost or a loopback address. To serve other names, configure a base URL."
	case local == nil || !isLoopbackAddr(local.String()) || !isLoopbackAddr(r.RemoteAddr):
		return "The connection is not one of the loopback interface. To serve other machines, configure a base URL with https."
	case port != portOf(local.String()):
		return "The port of the Host header is not that of the server."
	}
	return ""
}

// foreign returns why a request comes from another page than ours, or "". All browsers
// that are maintained send Sec-Fetch-Site, and have sent Origin with POST for longer.
func (d *Door) foreign(r *http.Request) string {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "same-origin", site == "":
	case site == "none" && reading: // typed, or a bookmark
	default:
		return "Another site sent this request."
	}
	origin := r.Header.Get("Origin")
	switch {
	case origin == "" && reading:
	case origin == "":
		return "The request has no Origin header."
	case !strings.EqualFold(origin, d.origin(r)):
		return "Another origin sent this request."
	}
	return ""
}

// origin returns the origin of our pages, as the browser names it.
func (d *Door) origin(r *http.Request) string {
	switch {
	case d.base != nil:
		return d.base.Scheme + "://" + d.base.Host
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// isLoopbackName reports whether a host of a URL can only be this machine.
func isLoopbackName(host string) bool {
	host = strings.ToLower(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, _ := netip.ParseAddr(host) // the zero address of another text is not a loopback one
	return a.IsLoopback() && a.Zone() == ""
}

func isLoopbackAddr(address string) bool {
	a, _ := netip.ParseAddrPort(address)
	return a.Addr().Unmap().IsLoopback()
}

// splitHost splits a Host header. An absent port is that of http.
func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return strings.Trim(host, "[]"), "80"
	}
	return name, port
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
