package dnssec

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// streamTransport asks over TCP or TLS (RFC 7766, RFC 7858) and keeps idle connections for the next query.
type streamTransport struct {
	scheme, address string
	dial            func(ctx context.Context, address string) (net.Conn, error)

	mu     sync.Mutex
	idle   []*idleConn
	closed bool
}

type idleConn struct {
	net.Conn
	expire *time.Timer
}

const (
	streamTimeout = 4 * time.Second  // one query, connecting included
	idleTimeout   = 10 * time.Second // RFC 7766 section 6.2.3: a few seconds
	maxIdle       = 4
)

func newTCP(address string, o *Options) *streamTransport {
	return &streamTransport{scheme: "tcp", address: address, dial: func(ctx context.Context, address string) (net.Conn, error) {
		return o.DialContext(ctx, "tcp", address)
	}}
}

func newTLS(address, host string, o *Options) *streamTransport {
	config := &tls.Config{
		ServerName: host, RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, NextProtos: []string{"dot"}, Time: o.Now,
	}
	return &streamTransport{scheme: "tls", address: address, dial: func(ctx context.Context, address string) (net.Conn, error) {
		raw, err := o.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		conn := tls.Client(raw, config)
		if err := conn.HandshakeContext(ctx); err != nil {
			raw.Close()
			return nil, err
		}
		return conn, nil
	}}
}

func (t *streamTransport) String() string { return t.scheme + "://" + t.address }

func (t *streamTransport) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	waiting, cancel := context.WithTimeout(ctx, streamTimeout)
	defer cancel()
	reply, err := t.ask(waiting, query, b)
	if err != nil {
		return nil, waitError(waiting, err)
	}
	if err := checkReply(query, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

func (t *streamTransport) ask(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	// A kept connection may have been closed by the server at any moment: that is no failure, only a reason to connect.
	if conn := t.take(); conn != nil {
		reply, err := t.askOn(ctx, conn, query, b)
		if _, over := err.(*BudgetError); err == nil || over || ctx.Err() != nil {
			return reply, err
		}
	}
	conn, err := t.dial(ctx, t.address)
	if err != nil {
		return nil, err
	}
	return t.askOn(ctx, conn, query, b)
}

// askOn sends one query on a connection of its own and keeps the connection if it served well.
func (t *streamTransport) askOn(ctx context.Context, conn net.Conn, query *dns.Msg, b *budget) (*dns.Msg, error) {
	if err := b.query(); err != nil {
		conn.Close()
		return nil, err
	}
	stop := closeOn(ctx, conn)
	reply, err := roundTripStream(conn, query)
	if !stop() || err != nil {
		conn.Close()
		return reply, err
	}
	t.keep(conn)
	return reply, nil
}

func roundTripStream(conn net.Conn, query *dns.Msg) (*dns.Msg, error) {
	query = query.Copy()
	query.Id = dns.Id()
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	framed := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(wire)), uint16(len(wire)))
	if _, err := conn.Write(append(framed, wire...)); err != nil {
		return nil, err
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	raw := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, raw); err != nil {
		return nil, err
	}
	reply, err := unpack(raw)
	if err != nil {
		return nil, err
	}
	if reply.Id != query.Id {
		return nil, &ServerError{Reason: "the reply has another id"}
	}
	return reply, nil
}

func (t *streamTransport) take() net.Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.idle) > 0 {
		c := t.idle[len(t.idle)-1]
		t.idle = t.idle[:len(t.idle)-1]
		if c.expire.Stop() {
			return c.Conn
		}
	}
	return nil
}

func (t *streamTransport) keep(conn net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.idle) >= maxIdle {
		conn.Close()
		return
	}
	t.idle = append(t.idle, &idleConn{conn, time.AfterFunc(idleTimeout, func() { conn.Close() })})
}

func (t *streamTransport) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, c := range t.idle {
		if c.expire.Stop() {
			c.Close()
		}
	}
	t.idle = nil
	return nil
}
