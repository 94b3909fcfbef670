package lookleap

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/internal/netguard"
)

// endedConn is a connection to an address. It notes that it was closed.
type endedConn struct {
	net.Conn
	remote netip.AddrPort
	closed bool
}

func (c *endedConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }
func (c *endedConn) Close() error         { c.closed = true; return nil }

var (
	publicEnd  = netip.MustParseAddrPort("93.184.216.34:443")
	otherEnd   = netip.MustParseAddrPort("93.184.216.35:443")
	privateEnd = netip.MustParseAddrPort("10.0.0.1:443")
)

var errNoService = errors.New("connection refused")

// TestAttempt: an address and port are checked before they are dialled, and the address again
// afterwards.
func TestAttempt(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		dst    netip.AddrPort
		guard  netguard.Guard
		remote netip.AddrPort // invalid: the dial hook returns no connection
		err    error          // of the dial hook
		want   Code
		dials  int
	}{
		{"F01/accept-public", publicEnd, netguard.Guard{}, publicEnd, nil, CodeOK, 1},
		{"F01/reject-private", privateEnd, netguard.Guard{}, publicEnd, nil, CodeBlockedAddress, 0},
		{"F01/accept-private-in-a-test-bed", privateEnd, netguard.Guard{AllowPrivate: true}, privateEnd, nil, CodeOK, 1},
		{"F01/reject-port", netip.MustParseAddrPort("93.184.216.34:22"), netguard.Guard{}, publicEnd, nil, CodeBlockedPort, 0},
		{"F04/reject-private-end", publicEnd, netguard.Guard{}, privateEnd, nil, CodeBlockedAddress, 1},
		{"reject-error", publicEnd, netguard.Guard{}, netip.AddrPort{}, broken, CodeInternal, 1},
		{"reject-no-connection", publicEnd, netguard.Guard{}, netip.AddrPort{}, nil, CodeInternal, 1},
		{"reject-no-connection-in-a-test-bed", privateEnd, netguard.Guard{AllowPrivate: true}, netip.AddrPort{}, nil, CodeInternal, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, dials := &endedConn{remote: c.remote}, 0
			d := guardedDialer{guard: c.guard, dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
				if dials++; !c.remote.IsValid() {
					return nil, c.err
				}
				return made, nil
			}}
			conn, err := d.attempt(t.Context(), c.dst, route{dial: d.dial})
			if CodeOf(err) != c.want || (conn == nil) != (err != nil) || dials != c.dials || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v, %v after %d dials", conn, err, dials)
			}
			if refused := c.want != CodeOK && dials > 0 && c.remote.IsValid(); made.closed != refused {
				t.Errorf("closed: %t", made.closed)
			}
		})
	}
}

// TestConnect: the next address is tried at once when one fails, and after a delay when one is
// slow. A connection that comes too late is closed.
func TestConnect(t *testing.T) {
	addrs := []netip.Addr{publicEnd.Addr(), otherEnd.Addr()}
	for _, c := range []struct {
		name  string
		first func() error // of the first address; the second one is there at once
		took  time.Duration
		late  bool // the first address has a connection, too late
	}{
		{"accept-after-failure", func() error { return errNoService }, 0, false},
		{"accept-after-delay", func() error { time.Sleep(time.Second); return nil }, attemptDelay, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := &endedConn{remote: publicEnd}
				d := guardedDialer{dial: func(_ context.Context, dst netip.AddrPort) (net.Conn, error) {
					if dst == publicEnd {
						return slow, c.first()
					}
					return &endedConn{remote: otherEnd}, nil
				}}
				begin := time.Now()
				conn, err := d.connect(t.Context(), addrs, 443, route{dial: d.dial})
				if err != nil || conn.RemoteAddr().String() != otherEnd.String() || time.Since(begin) != c.took {
					t.Fatalf("%v, %v after %v", conn, err, time.Since(begin))
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if slow.closed != c.late {
					t.Errorf("the late connection is closed: %t", slow.closed)
				}
			})
		})
	}
	t.Run("reject-no-attempt-after-the-caller-left", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		dials := 0
		d := guardedDialer{dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			dials++
			cancel()
			return nil, errNoService
		}}
		if conn, err := d.connect(ctx, addrs, 443, route{dial: d.dial}); conn != nil || !errors.Is(err, errNoService) || dials != 1 {
			t.Errorf("%v, %v after %d dials", conn, err, dials)
		}
	})
}

// TestDialTLS: a host and port that cannot be used are an error before anything is looked up, and a
// connection whose handshake fails is closed.
func TestDialTLS(t *testing.T) {
	for _, c := range []struct {
		hostport string
		want     Code
	}{
		{"shop.example", CodeBadHost},
		{"shop.example:0", CodeBadPort},
		{"shop.example:x", CodeBadPort},
		{"shop.example:22", CodeBlockedPort},
	} {
		t.Run("reject-"+c.hostport, func(t *testing.T) {
			conn, err := new(guardedDialer).dialTLS(t.Context(), c.hostport, new(tls.Config))
			if conn != nil || CodeOf(err) != c.want {
				t.Errorf("%v, %v", conn, err)
			}
		})
	}
	t.Run("reject-long-port", func(t *testing.T) {
		_, err := new(guardedDialer).dialTLS(t.Context(), "shop.example:"+strings.Repeat("5", 99), new(tls.Config))
		if CodeOf(err) != CodeBadPort || strings.Count(err.Error(), "5") != 20 {
			t.Error(err)
		}
	})
	t.Run("reject-resolver-without-answer", func(t *testing.T) {
		d := guardedDialer{resolver: nothingResolver{}}
		if addrs, err := d.lookup(t.Context(), "shop.example", TypeA); addrs != nil || CodeOf(err) != CodeResolverFailed || !strings.Contains(err.Error(), "neither an answer") {
			t.Errorf("%v, %v", addrs, err)
		}
	})
	t.Run("reject-failed-handshake", func(t *testing.T) {
		client, server := net.Pipe()
		_ = server.Close()
		ended := &endedConn{Conn: client}
		conn := &guardedConn{Conn: ended}
		if secured, err := conn.handshake(t.Context(), "shop.example", new(tls.Config)); secured != nil || err == nil {
			t.Errorf("%v, %v", secured, err)
		}
		if !ended.closed {
			t.Error("the connection is open")
		}
	})
}

// TestDialTCP: an address is dialled in its own family.
func TestDialTCP(t *testing.T) {
	stop := errors.New("no packet is sent")
	for address, want := range map[string]string{"127.0.0.1:9": "tcp4", "[::1]:9": "tcp6"} {
		t.Run(want, func(t *testing.T) {
			got := ""
			dial := dialTCP(&net.Dialer{ControlContext: func(_ context.Context, network, _ string, _ syscall.RawConn) error {
				got = network
				return stop
			}})
			conn, err := dial(t.Context(), netip.MustParseAddrPort(address))
			if socket := (*os.SyscallError)(nil); got == "" && errors.As(err, &socket) {
				t.Skip("this machine has no such sockets: ", err)
			}
			if conn != nil || !errors.Is(err, stop) || got != want {
				t.Errorf("%v, %v over %q", conn, err, got)
			}
		})
	}
}

// nothingResolver breaks its contract.
type nothingResolver struct{}

func (nothingResolver) Lookup(context.Context, string, RRType) (*DNSAnswer, error) { return nil, nil }
