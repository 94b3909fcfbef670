// Package netguard keeps an HTTP client out of private networks: it is a guard against server-side
// request forgery (SSRF) for programs that fetch URLs that others chose. It needs nothing else of
// this module:
//
//	transport := http.DefaultTransport.(*http.Transport).Clone()
//	transport.Proxy = nil // a proxy would connect in the place of the dialer
//	transport.DialContext = (&net.Dialer{Control: netguard.Control()}).DialContext
//	client := &http.Client{Transport: transport, CheckRedirect: netguard.CheckRedirect}
//	resp, err := client.Get(url)
//
// The address of each socket is checked when it connects, after the name was looked up, so a name
// that has another address a second later does not help. Addresses are judged by the registries of
// IANA, addresses of cloud metadata, and the IPv4 addresses inside IPv6 ones.
//
// NewFetcher of package lookleap has this guard and more: one lookup whose DNSSEC is validated, limits for time
// and size, and no request that is sent twice.
package netguard

import (
	"fmt"
	"net/http"
	"net/netip"
	"syscall"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/netguard"
)

// ErrDenied is the error of what the guard refuses, for errors.Is. It is that of package lookleap.
var ErrDenied = coded.Denied

// Control returns a function for [net.Dialer.Control]. It allows TCP connections over IPv4 and IPv6
// to public addresses at these ports (default: 443), and refuses all others with an [ErrDenied]
// that names the address and what it is.
func Control(ports ...uint16) func(network, address string, c syscall.RawConn) error {
	return netguard.Control(ports...)
}

// Check returns an [ErrDenied] unless an address is a public unicast address.
func Check(addr netip.Addr) error { return netguard.Check(addr) }

// maxRedirects is what net/http follows.
const maxRedirects = 10

// CheckRedirect is for [http.Client.CheckRedirect]. It allows up to ten redirects to https URLs
// without user information, and refuses all others with an [ErrDenied]. Where a redirect leads is
// checked by [Control].
func CheckRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", ErrDenied, maxRedirects)
	case req.URL.Scheme != "https":
		return fmt.Errorf("%w: the redirect does not lead to https", ErrDenied)
	case req.URL.User != nil:
		return fmt.Errorf("%w: the redirect has user information", ErrDenied)
	}
	return nil
}
