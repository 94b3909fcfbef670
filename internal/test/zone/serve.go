package zone

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/miekg/dns"
)

// Listener serves a handler on one loopback port, over UDP and TCP.
type Listener struct {
	Addr string // "127.0.0.1:port"

	udp net.PacketConn
	tcp net.Listener
}

// Listen serves a handler on a free loopback port until Close.
func Listen(h Handler) (*Listener, error) {
	for range 10 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil { // the port is taken for UDP: try another
			tcp.Close()
			continue
		}
		go servePackets(udp, h)
		go ServeTCP(tcp, h)
		return &Listener{Addr: tcp.Addr().String(), udp: udp, tcp: tcp}, nil
	}
	return nil, errors.New("no loopback port is free for both UDP and TCP")
}

// Close stops serving.
func (l *Listener) Close() error { return errors.Join(l.udp.Close(), l.tcp.Close()) }

func servePackets(conn net.PacketConn, h Handler) {
	defer conn.Close()
	buf := make([]byte, dns.MaxMsgSize)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		packet := bytes.Clone(buf[:n])
		go func() {
			if out := answer(h, packet, true); out != nil {
				conn.WriteTo(out, from)
			}
		}()
	}
}

// ServeTCP serves a handler on a stream listener until that is closed; a TLS listener makes it
// DNS over TLS.
func ServeTCP(l net.Listener, h Handler) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go serveStream(conn, h)
	}
}

func serveStream(conn net.Conn, h Handler) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		packet := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		out := answer(h, packet, false)
		if out == nil {
			continue
		}
		framed := binary.BigEndian.AppendUint16(nil, uint16(len(out)))
		if _, err := conn.Write(append(framed, out...)); err != nil {
			return
		}
	}
}

// ServeHTTP returns the handler as DNS over HTTPS (RFC 8484, POST and the wire format only).
func ServeHTTP(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		packet, err := io.ReadAll(io.LimitReader(r.Body, dns.MaxMsgSize))
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/dns-message" {
			http.Error(w, "a DNS message must be posted", http.StatusBadRequest)
			return
		}
		out := answer(h, packet, false)
		if out == nil {
			http.Error(w, "dropped", http.StatusGatewayTimeout)
			return
		}
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(out)
	})
}

// Exchange returns the handler as a function from query to reply in wire form, without any
// limit on size. A reply that never comes ends with the context.
func Exchange(h Handler) func(ctx context.Context, query []byte) ([]byte, error) {
	return func(ctx context.Context, query []byte) ([]byte, error) {
		if out := answer(h, query, false); out != nil {
			return out, nil
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

// answer is the wire form of the reply to a packet, nil when there is none. Over datagrams it
// is cut to what the client can take, with TC set.
func answer(h Handler, packet []byte, datagram bool) []byte {
	query := new(dns.Msg)
	if err := query.Unpack(packet); err != nil {
		return nil
	}
	m := h.Handle(query)
	if m == nil {
		return nil
	}
	m.Compress = true
	limit := dns.MaxMsgSize
	if datagram {
		limit = dns.MinMsgSize
		if opt := query.IsEdns0(); opt != nil {
			limit = max(int(opt.UDPSize()), limit)
		}
	}
	out, err := m.Pack()
	if err != nil || len(out) > limit {
		m = m.Copy()
		m.Answer, m.Ns, m.Extra, m.Truncated = nil, nil, nil, true
		out, _ = m.Pack()
	}
	return out
}

// Dial returns a dial function whose connections reach the handler in memory, whatever the
// address: "udp" ones keep datagrams apart, all others carry length-prefixed messages. It works
// in a synctest bubble.
func Dial(h Handler) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		client, server := net.Pipe()
		if strings.HasPrefix(network, "udp") {
			go servePackets(packetConn{server, make(chan struct{}, 1)}, h)
			return packetConn{client, make(chan struct{}, 1)}, nil
		}
		go serveStream(server, h)
		return client, nil
	}
}

// packetConn is one end of a pipe, each of whose writes is a datagram. Clients tell datagrams from
// streams by the methods of [net.PacketConn].
type packetConn struct {
	net.Conn
	turn chan struct{} // of writers: a bubble does not see that those of a pipe wait for one another
}

func (p packetConn) ReadFrom(buf []byte) (int, net.Addr, error) {
	n, err := p.Read(buf)
	return n, p.RemoteAddr(), err
}

func (p packetConn) WriteTo(packet []byte, _ net.Addr) (int, error) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	return p.Write(packet)
}
