package lookleaptest

import (
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
	return &memoryConn{in: down, out: up, local: client, remote: server},
		&memoryConn{in: up, out: down, local: server, remote: client}
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
	c.out.closeWriter(io.EOF)
	c.in.closeReader(errPipe)
	return nil
}

// Reset ends both directions at once: the peer loses what it has not read yet.
func (c *memoryConn) Reset() {
	c.out.abort(errReset)
	c.in.abort(errReset)
}

func (c *memoryConn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.local) }
func (c *memoryConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

func (c *memoryConn) SetDeadline(t time.Time) error {
	c.in.readDeadline.set(t)
	c.out.writeDeadline.set(t)
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.in.readDeadline.set(t)
	return nil
}

func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.out.writeDeadline.set(t)
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
	mu      sync.Mutex
	changed sync.Cond
	buf     []byte

	writerGone error // what the reader gets after the buffer is empty
	readerGone error // what the writer gets
	readerDone bool  // the reader closed its own end

	readDeadline, writeDeadline deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	s.readDeadline.stream, s.writeDeadline.stream = s, s
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerDone:
			return 0, net.ErrClosed
		case s.readDeadline.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(s.buf) > 0:
			n := copy(b, s.buf)
			s.buf = append(s.buf[:0], s.buf[n:]...)
			s.changed.Broadcast()
			return n, nil
		case s.writerGone != nil:
			return 0, s.writerGone
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writerGone == io.EOF:
			return n, net.ErrClosed
		case s.readerGone != nil:
			return n, s.readerGone
		case s.writeDeadline.passed():
			return n, os.ErrDeadlineExceeded
		case len(b) == 0:
			return n, nil
		}
		if space := window - len(s.buf); space > 0 {
			part := b[:min(space, len(b))]
			s.buf = append(s.buf, part...)
			n, b = n+len(part), b[len(part):]
			s.changed.Broadcast()
			continue
		}
		s.changed.Wait()
	}
}

func (s *stream) closeWriter(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writerGone == nil {
		s.writerGone = reason
	}
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

func (s *stream) closeReader(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readerGone == nil {
		s.readerGone = reason
	}
	s.readerDone = true
	s.buf = nil
	s.readDeadline.stop()
	s.changed.Broadcast()
}

// abort breaks the stream for both of its ends and drops what is in it.
func (s *stream) abort(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writerGone == nil {
		s.writerGone = reason
	}
	if s.readerGone == nil {
		s.readerGone = reason
	}
	s.buf = nil
	s.changed.Broadcast()
}

// deadline wakes a stream's waiters when it has come.
type deadline struct {
	stream *stream
	at     time.Time
	timer  *time.Timer
}

func (d *deadline) set(t time.Time) {
	d.stream.mu.Lock()
	defer d.stream.mu.Unlock()
	d.stop()
	d.at = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			d.stream.mu.Lock()
			defer d.stream.mu.Unlock()
			d.stream.changed.Broadcast()
		})
	}
	d.stream.changed.Broadcast()
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// drained waits until the reader has taken everything, or one side is gone.
func (s *stream) drained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) > 0 && s.readerGone == nil && s.writerGone == nil {
		s.changed.Wait()
	}
}
