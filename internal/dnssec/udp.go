package dnssec

import (
	"context"
	"net"
	"time"

	"github.com/miekg/dns"
)

// udpTransport asks over UDP, and over TCP when the reply does not fit or somebody meddles.
type udpTransport struct {
	address string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	tcp     *streamTransport
}

// udpTimeout is how long one datagram is waited for.
const udpTimeout = 2 * time.Second

func newUDP(address string, o *Options) *udpTransport {
	return &udpTransport{address: address, dial: o.DialContext, tcp: newTCP(address, o)}
}

func (t *udpTransport) String() string { return "udp://" + t.address }
func (t *udpTransport) close() error   { return t.tcp.close() }

// exchange uses a fresh socket, and so a fresh source port, and a fresh id for every query (RFC 5452 section 9.2).
func (t *udpTransport) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	if err := b.query(); err != nil {
		return nil, err
	}
	query = query.Copy()
	query.Id = dns.Id()
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, udpTimeout)
	defer cancel()
	conn, err := t.dial(waiting, "udp", t.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := closeOn(waiting, conn)
	defer stop()
	if _, err := conn.Write(wire); err != nil {
		return nil, waitError(waiting, err)
	}
	reply, err := t.await(conn, query, b)
	if err != nil {
		return nil, waitError(waiting, err)
	}
	if reply == nil {
		return t.tcp.exchange(ctx, query, b)
	}
	if err := checkReply(query, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

// await reads datagrams until one is the reply. What cannot be read or has another id is somebody else's and ignored.
// nil without an error means that TCP is needed: the reply is truncated, is to another question under our id, or too
// many strangers call.
func (t *udpTransport) await(conn net.Conn, query *dns.Msg, b *budget) (*dns.Msg, error) {
	buf := make([]byte, 4096)
	for range b.limits.StrayPackets {
		n, err := conn.Read(buf)
		if err != nil {
			return nil, err
		}
		reply, err := unpack(buf[:n])
		switch {
		case err != nil && n >= 12 && buf[0] == byte(query.Id>>8) && buf[1] == byte(query.Id):
			return nil, nil // ours, and damaged: a stream will show what was meant
		case err != nil || reply.Id != query.Id || !reply.Response:
			continue
		case reply.Truncated || !sameQuestion(query, reply):
			return nil, nil
		}
		return reply, nil
	}
	return nil, nil
}

// closeOn makes blocked reads and writes end when the context does.
func closeOn(ctx context.Context, conn net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
}

// waitError prefers the context's reason to the deadline error that it caused.
func waitError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
