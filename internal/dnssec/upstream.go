package dnssec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// exchanger sends a query upstream and returns a reply to exactly that query. Every message sent is
// drawn from the budget.
type exchanger interface {
	exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error)
	close()
}

// transport is one way to one server.
type transport interface {
	exchanger
	String() string
}

// ServerError says that no upstream gave a usable reply. It says nothing about the name.
type ServerError struct {
	Server   string // the last one tried
	Question string // the name and type that it was asked for, which may be others than those of the lookup
	Zone     string // the reply was needed to validate names in it; "" if it was needed for its own sake
	Rcode    int    // the code that it answered with, such as SERVFAIL or REFUSED; 0: there was no usable answer
	Reason   string
	Err      error // the network's error, if any
}

func (e *ServerError) Error() string {
	var b strings.Builder
	b.WriteString("DNS")
	if e.Server != "" {
		b.WriteString(" server " + e.Server)
	}
	switch {
	case e.Rcode != 0:
		b.WriteString(" answers " + rcodeText(e.Rcode))
	case e.Reason != "":
		b.WriteString(": " + e.Reason)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Question != "" {
		b.WriteString(" (question " + e.Question)
		if e.Zone != "" {
			b.WriteString(", needed to validate names in " + e.Zone)
		}
		b.WriteString(")")
	}
	b.WriteString("; " + e.fix())
	return b.String()
}

func rcodeText(rcode int) string {
	if text := dns.RcodeToString[rcode]; text != "" {
		return text
	}
	return fmt.Sprintf("RCODE%d", rcode)
}

// fix says what the user can do.
func (e *ServerError) fix() string {
	switch {
	case e.Rcode == dns.RcodeRefused:
		return "use a DNS server that serves this network"
	case e.Zone == "." && (e.Rcode != 0 || e.Reason != ""):
		return "use another DNS server"
	case e.Zone != "" && (e.Rcode != 0 || e.Reason != ""):
		zone := e.Zone
		if strings.HasSuffix(e.Question, " DS") {
			zone = "the zone above " + zone // which has the DS records
		}
		return "use another DNS server; if that fails too, the operator of " + zone + " must fix it"
	case e.Rcode != 0 || e.Reason != "":
		return "try again later, or use another DNS server"
	}
	return "check the network, or use another DNS server"
}

func (e *ServerError) Unwrap() error { return e.Err }

// Timeout says whether the server did not answer in time.
func (e *ServerError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}

// newQuery asks with DO, since we need the signatures, and CD, since we judge them ourselves (RFC
// 4035 section 3.2.2).
func newQuery(n name, rrtype uint16) *dns.Msg {
	m := new(dns.Msg).SetQuestion(n.String(), rrtype)
	m.CheckingDisabled = true
	m.SetEdns0(1232, true)
	return m
}

// checkReply says what is wrong with a message as a reply to the query, nil if it may be read. The
// AD bit is never looked at: an attacker who can change a reply can set it.
func checkReply(query, reply *dns.Msg) error {
	switch {
	case !reply.Response || reply.Opcode != dns.OpcodeQuery:
		return &ServerError{Reason: "the message is not a reply"}
	case !sameQuestion(query, reply):
		return &ServerError{Reason: "the reply is to another question"}
	case reply.Truncated:
		return &ServerError{Reason: "the reply is truncated"}
	case reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError:
		return &ServerError{Rcode: reply.Rcode}
	}
	return nil
}

func sameQuestion(query, reply *dns.Msg) bool {
	if len(reply.Question) != 1 {
		return false
	}
	q, r := query.Question[0], reply.Question[0]
	qn, ok1 := nameOf(q.Name)
	rn, ok2 := nameOf(r.Name)
	return ok1 && ok2 && qn == rn && q.Qtype == r.Qtype && q.Qclass == r.Qclass
}

// upstreams tries its servers in turn, beginning with the one that answered last.
type upstreams struct {
	options *Options

	mu     sync.Mutex
	list   []transport          // of Options.Servers
	udp    map[string]transport // of the system's servers
	system *systemServers
	read   time.Time // when system was read

	good atomic.Int64 // index of the server that answered last
}

// rounds is how often every server is tried.
const rounds = 2

func newExchanger(o *Options) (exchanger, error) {
	if o.Exchange != nil {
		return &hookTransport{exchangeFunc: o.Exchange}, nil
	}
	if o.DialContext == nil {
		o.DialContext = new(net.Dialer).DialContext
	}
	u := &upstreams{options: o, udp: map[string]transport{}}
	for _, s := range o.Servers {
		t, err := newTransport(s, o)
		if err != nil {
			return nil, err
		}
		u.list = append(u.list, t)
	}
	return u, nil
}

func (u *upstreams) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	servers, err := u.servers(query)
	if err != nil {
		return nil, err
	}
	first := int(u.good.Load())
	var last error
	for try := range rounds * len(servers) {
		at := (first + try) % len(servers)
		reply, err := servers[at].exchange(ctx, query, b)
		if err == nil {
			u.good.Store(int64(at))
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var budget *BudgetError
		if errors.As(err, &budget) {
			return nil, err
		}
		last = named(err, servers[at])
	}
	return nil, last
}

func named(err error, t transport) error {
	var s *ServerError
	if errors.As(err, &s) {
		own := *s
		own.Server = t.String()
		return &own
	}
	return &ServerError{Server: t.String(), Err: err}
}

// servers returns the given servers, or those of the system for a question. The settings of the
// system are read again every half minute, because laptops travel.
func (u *upstreams) servers(query *dns.Msg) ([]transport, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.options.Servers) > 0 {
		return u.list, nil
	}
	now := u.options.Now()
	if u.read.IsZero() || now.Sub(u.read) > 30*time.Second || now.Before(u.read) {
		u.read, u.system = now, u.options.systemServers()
	}
	n, ok := nameOf(query.Question[0].Name)
	if !ok {
		n = rootName
	}
	servers := u.system.forQuestion(n, query.Question[0].Qtype == dns.TypeDS)
	if len(servers) == 0 {
		return nil, &NoServerError{Looked: u.system.looked}
	}
	list := make([]transport, len(servers))
	for i, server := range servers {
		if u.udp[server] == nil {
			u.udp[server] = newUDP(server, u.options)
		}
		list[i] = u.udp[server]
	}
	return list, nil
}

// NoServerError says that the system names no DNS server, so that nothing was asked.
type NoServerError struct {
	Looked string // where servers were looked for; "": the system cannot ask DNS servers
}

func (e *NoServerError) Error() string {
	if e.Looked == "" {
		return "programs cannot ask DNS servers on this system; set a resolver that asks over https through a Fetcher of the system"
	}
	return "no DNS server is configured: there is none in " + e.Looked + "; name one in ResolverOptions.Servers (of cmd/lookleap: --dns)"
}

func (u *upstreams) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range u.list {
		t.close()
	}
	for _, t := range u.udp {
		t.close()
	}
}

// newTransport reads one server of [Options]. There is no falling back from one transport to
// another that is not listed, except from udp to tcp.
func newTransport(server string, o *Options) (transport, error) {
	scheme, rest, ok := strings.Cut(server, "://")
	if !ok {
		scheme, rest = "udp", server
	}
	fail := func(format string, args ...any) (transport, error) {
		return nil, fmt.Errorf("DNS server %s: %s", plaintext.Quote(server, 100), fmt.Sprintf(format, args...))
	}
	switch scheme {
	case "udp", "tcp":
		host, port := splitPort(rest, "53")
		if _, err := netip.ParseAddr(host); err != nil {
			return fail("want an address, have %s", plaintext.Quote(host, 100))
		}
		if !isPort(port) {
			return fail("%s is not a port", plaintext.Quote(port, 100))
		}
		if scheme == "tcp" {
			return newTCP(net.JoinHostPort(host, port), o), nil
		}
		return newUDP(net.JoinHostPort(host, port), o), nil
	case "tls":
		host, port := splitPort(rest, "853")
		if host == "" || strings.ContainsAny(host, "/@?#") {
			return fail("want tls://HOST:PORT")
		}
		if !isPort(port) {
			return fail("%s is not a port", plaintext.Quote(port, 100))
		}
		return newTLS(net.JoinHostPort(host, port), host, o), nil
	case "https":
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
			return fail("want https://HOST/PATH")
		}
		if o.RoundTrip == nil {
			return fail("https needs a function that makes HTTP exchanges")
		}
		return &httpsTransport{url: server, roundTrip: o.RoundTrip}, nil
	}
	return fail("the scheme must be udp, tcp, tls or https")
}

func splitPort(hostPort, standard string) (host, port string) {
	if h, p, err := net.SplitHostPort(hostPort); err == nil {
		return h, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]"), standard
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// hookTransport is [Options.Exchange] as a transport.
type hookTransport struct {
	exchangeFunc func(ctx context.Context, query []byte) ([]byte, error)
}

func (t *hookTransport) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	if err := b.query(); err != nil {
		return nil, err
	}
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	raw, err := t.exchangeFunc(ctx, wire)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &ServerError{Reason: "the exchange failed", Err: err}
	}
	return readReply(query, raw)
}

// readReply reads the only reply that a stream or a function returns.
func readReply(query *dns.Msg, raw []byte) (*dns.Msg, error) {
	reply, err := unpack(raw)
	if err != nil {
		return nil, err
	}
	if reply.Id != query.Id {
		return nil, &ServerError{Reason: "the reply has another id"}
	}
	if err := checkReply(query, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

func (t *hookTransport) close()         {}
func (t *hookTransport) String() string { return "function" }
