package roundtrip

import (
	"io"
	"sync"
	"time"
)

// Window is the time over which [Pace] measures.
const Window = 5 * time.Second

// Pace is a body that must arrive at a minimum rate: Rate bytes per second, measured over each
// Window of time that its reader waits. Time between reads does not count, nor does the last window
// if it is shorter.
type Pace struct {
	io.Reader
	Rate int    // bytes per second
	Slow func() // called once when the body is too slow, while it may be read

	mu      sync.Mutex
	timer   *time.Timer
	reading bool
	over    bool          // Slow was called
	since   time.Time     // when the current read began, or the current window if that was later
	waited  time.Duration // in this window, before that
	bytes   int           // in this window
}

func (p *Pace) Read(b []byte) (int, error) {
	p.begin()
	n, err := p.Reader.Read(b)
	p.finish(n)
	return n, err
}

func (p *Pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.since = true, time.Now()
	if left := Window - p.waited; p.timer == nil {
		p.timer = time.AfterFunc(left, p.check)
	} else {
		p.timer.Reset(left)
	}
}

func (p *Pace) finish(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.reading = false
	p.waited += time.Since(p.since)
	p.bytes += n
	p.judge()
}

// check is called when a read waits at the end of the window.
func (p *Pace) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if !p.reading || p.waited+now.Sub(p.since) < Window {
		return // the timer was late, and another read has begun
	}
	p.waited += now.Sub(p.since)
	p.since = now
	p.judge()
	if !p.over {
		p.timer.Reset(Window)
	}
}

// judge ends the window if it is full.
func (p *Pace) judge() {
	if p.waited < Window || p.over {
		return
	}
	if p.bytes < p.Rate*int(Window/time.Second) {
		p.over = true
		p.Slow()
	}
	p.waited, p.bytes = 0, 0
}

// body is the body of a response. The exchange ends with it.
type body struct {
	io.ReadCloser
	exchange *exchange
	pace     Pace
}

func (x *exchange) watchBody(b io.ReadCloser) io.ReadCloser {
	x.body.ReadCloser, x.body.exchange = b, x
	x.body.pace = Pace{Reader: b, Rate: x.options.Rate, Slow: x.tooSlow}
	return &x.body
}

func (x *exchange) tooSlow() {
	_ = x.fail(CodeTooSlow, "the response arrived more slowly than the minimum rate")
}

func (b *body) Read(p []byte) (n int, err error) {
	if b.exchange.options.Rate > 0 {
		n, err = b.pace.Read(p)
	} else {
		n, err = b.ReadCloser.Read(p)
	}
	switch err {
	case nil:
	case io.EOF:
		b.exchange.end()
	default:
		err = b.exchange.causeOf(err)
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.exchange.end()
	return err
}
