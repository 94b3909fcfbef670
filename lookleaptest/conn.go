package lookleaptest

import (
	"cmp"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// window is how many bytes one direction of a connection holds before its writer waits, so that an
// endless body costs no memory.
const window = 64 << 10

// memoryConn is one end of a connection in memory. It behaves like a TCP connection: buffered, with
// deadlines, with the system's errors. Waiting is done on condition variables alone, which a
// synctest bubble sees as durable.
type memoryConn struct {
	in, out       *stream
	local, remote netip.AddrPort
}

// newConns connects a client with a server.
func newConns(client, server netip.AddrPort) (clientEnd, serverEnd *memoryConn) {
	up, down := newStream(), newStream()
	return &memoryConn{down, up, client, server}, &memoryConn{up, down, server, client}
}

func (c *memoryConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.explain("read", err)
}

func (c *memoryConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.explain("write", err)
}

// Close ends both directions. The peer still reads what was written; its own writes fail.
func (c *memoryConn) Close() error {
	c.out.change(func(s *stream) { s.readErr, s.writeErr = cmp.Or(s.readErr, io.EOF), net.ErrClosed })
	c.in.change(func(s *stream) { s.buf, s.readErr, s.writeErr = nil, net.ErrClosed, cmp.Or[error](s.writeErr, errPipe) })
	return nil
}

// Reset ends both directions at once: the peer loses what it has not read yet.
func (c *memoryConn) Reset() {
	for _, s := range []*stream{c.in, c.out} {
		s.change(func(s *stream) {
			s.buf, s.readErr, s.writeErr = nil, cmp.Or[error](s.readErr, errReset), cmp.Or[error](s.writeErr, errReset)
		})
	}
}

func (c *memoryConn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *memoryConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *memoryConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.in.wake(t, func(s *stream) { s.readBy = t })
	return nil
}

func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.out.wake(t, func(s *stream) { s.writeBy = t })
	return nil
}

// explain dresses an error as the net package does.
func (c *memoryConn) explain(op string, err error) error {
	switch err {
	case nil, io.EOF:
		return err
	case errPipe, errReset:
		err = os.NewSyscallError(op, err)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// stream is one direction of a connection.
type stream struct {
	mu              sync.Mutex
	changed         sync.Cond
	buf             []byte
	readErr         error // what the reader gets after the buffer is empty
	writeErr        error // what the writer gets
	readBy, writeBy time.Time
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) change(do func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s)
	s.changed.Broadcast()
}

// wake changes a deadline, and lets those who wait look when it has come.
func (s *stream) wake(at time.Time, change func(*stream)) {
	s.change(change)
	if wait := time.Until(at); wait > 0 {
		time.AfterFunc(wait, func() { s.change(func(*stream) {}) })
	}
}

func passed(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readErr == net.ErrClosed:
			return 0, net.ErrClosed
		case passed(s.readBy):
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(s.buf) > 0:
			n := copy(b, s.buf)
			s.buf = append(s.buf[:0], s.buf[n:]...)
			s.changed.Broadcast()
			return n, nil
		case s.readErr != nil:
			return 0, s.readErr
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writeErr != nil:
			return n, s.writeErr
		case passed(s.writeBy):
			return n, os.ErrDeadlineExceeded
		case len(b) == 0:
			return n, nil
		case len(s.buf) == window:
			s.changed.Wait()
			continue
		}
		part := b[:min(window-len(s.buf), len(b))]
		s.buf = append(s.buf, part...)
		n, b = n+len(part), b[len(part):]
		s.changed.Broadcast()
	}
}

// drained waits until the reader has taken everything, or one side is gone.
func (s *stream) drained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) > 0 && s.readErr == nil && s.writeErr == nil {
		s.changed.Wait()
	}
}
