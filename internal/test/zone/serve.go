package zone

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

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
		go serveUDP(udp, h)
		go ServeTCP(tcp, h)
		return &Listener{Addr: tcp.Addr().String(), udp: udp, tcp: tcp}, nil
	}
	return nil, errors.New("no loopback port is free for both UDP and TCP")
}

// Close stops serving.
func (l *Listener) Close() error { return errors.Join(l.udp.Close(), l.tcp.Close()) }

func serveUDP(conn net.PacketConn, h Handler) {
	buf := make([]byte, dns.MaxMsgSize)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		packet := append([]byte(nil), buf[:n]...)
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
		limit = datagramSize(query)
	}
	if out, err := m.Pack(); err == nil && len(out) <= limit {
		return out
	}
	m = m.Copy()
	m.Answer = nil
	m.Ns = nil
	m.Extra = nil
	m.Truncated = true
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func datagramSize(query *dns.Msg) int {
	if opt := query.IsEdns0(); opt != nil {
		return max(int(opt.UDPSize()), dns.MinMsgSize)
	}
	return dns.MinMsgSize
}

// Dial returns a dial function whose connections reach the handler in memory, whatever the
// address: "udp" ones keep datagrams apart, all others carry length-prefixed messages. It works
// in a synctest bubble.
func Dial(h Handler) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(network) >= 3 && network[:3] == "udp" {
			return newPacketPipe(h), nil
		}
		client, server := net.Pipe()
		go serveStream(server, h)
		return client, nil
	}
}

// packetPipe is the client's end of an in-memory datagram exchange.
type packetPipe struct {
	handler Handler
	inbox   chan []byte
	done    chan struct{}
	once    sync.Once

	mu       sync.Mutex
	deadline time.Time
	changed  chan struct{}
}

func newPacketPipe(h Handler) *packetPipe {
	return &packetPipe{handler: h, inbox: make(chan []byte, 64), done: make(chan struct{}), changed: make(chan struct{})}
}

func (p *packetPipe) Write(packet []byte) (int, error) {
	packet = append([]byte(nil), packet...)
	go func() {
		if out := answer(p.handler, packet, true); out != nil {
			select {
			case p.inbox <- out:
			case <-p.done:
			}
		}
	}()
	return len(packet), nil
}

func (p *packetPipe) Read(buf []byte) (int, error) {
	for {
		p.mu.Lock()
		deadline, changed := p.deadline, p.changed
		p.mu.Unlock()
		var expired <-chan time.Time
		if !deadline.IsZero() {
			wait := time.Until(deadline)
			if wait <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			timer := time.NewTimer(wait)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case packet := <-p.inbox:
			return copy(buf, packet), nil
		case <-p.done:
			return 0, net.ErrClosed
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		case <-changed:
		}
	}
}

// ReadFrom and WriteTo make it a [net.PacketConn], which is how clients tell datagrams from
// streams.
func (p *packetPipe) ReadFrom(buf []byte) (int, net.Addr, error) {
	n, err := p.Read(buf)
	return n, memoryAddr{}, err
}

// WriteTo sends a datagram to the handler.
func (p *packetPipe) WriteTo(packet []byte, _ net.Addr) (int, error) { return p.Write(packet) }

func (p *packetPipe) SetDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	close(p.changed)
	p.changed = make(chan struct{})
	return nil
}

func (p *packetPipe) SetReadDeadline(t time.Time) error { return p.SetDeadline(t) }
func (p *packetPipe) SetWriteDeadline(time.Time) error  { return nil }
func (p *packetPipe) Close() error                      { p.once.Do(func() { close(p.done) }); return nil }
func (p *packetPipe) LocalAddr() net.Addr               { return memoryAddr{} }
func (p *packetPipe) RemoteAddr() net.Addr              { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "udp" }
func (memoryAddr) String() string  { return "memory" }
