package dnssec

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// streamTransport asks over TCP or TLS (RFC 7766, RFC 7858) and keeps idle connections for the next
// query.
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
	// A kept connection may have been closed by the server at any moment: that is not a failure, only
	// a reason to connect.
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

func (t *streamTransport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, c := range t.idle {
		if c.expire.Stop() {
			c.Close()
		}
	}
	t.idle = nil
}

// udpTransport asks over UDP, and over TCP when the reply does not fit or another party interferes.
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
func (t *udpTransport) close()         { t.tcp.close() }

// exchange uses a fresh socket, and so a fresh source port, and a fresh id for every query (RFC
// 5452 section 9.2).
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

// await reads datagrams until one is the reply. A datagram that cannot be read or has another id is
// ignored. nil without an error means that TCP is needed: the reply is truncated, is to another
// question under our id, or too many strangers call.
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

// httpsTransport asks over HTTPS (RFC 8484), by POST so that no cache on the way answers.
type httpsTransport struct {
	url       string
	roundTrip func(*http.Request) (*http.Response, error)
}

const (
	httpsTimeout   = 5 * time.Second
	dnsMessageType = "application/dns-message"
)

func (t *httpsTransport) String() string { return t.url }
func (t *httpsTransport) close()         {}

func (t *httpsTransport) exchange(ctx context.Context, query *dns.Msg, b *budget) (*dns.Msg, error) {
	if err := b.query(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, httpsTimeout)
	defer cancel()
	query = query.Copy()
	query.Id = 0 // RFC 8484 section 4.1
	wire, err := query.Pack()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(waiting, http.MethodPost, t.url, bytes.NewReader(wire))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", dnsMessageType)
	request.Header.Set("Accept", dnsMessageType)
	response, err := t.roundTrip(request)
	if err != nil {
		return nil, waitError(waiting, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &ServerError{Reason: fmt.Sprintf("the server answers with HTTP status %d", response.StatusCode)}
	}
	if mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || mediaType != dnsMessageType {
		return nil, &ServerError{Reason: "the server's answer is not a DNS message"}
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, dns.MaxMsgSize+1))
	if err != nil {
		return nil, waitError(waiting, err)
	}
	if len(raw) > dns.MaxMsgSize {
		return nil, &ServerError{Reason: "the server's answer is longer than a DNS message can be"}
	}
	return readReply(query, raw)
}
