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
// if it is shorter. The whole may also have a time limit. Stop must be called at the end.
type Pace struct {
	io.Reader
	Rate int    // bytes per second; 0: no minimum
	Slow func() // called once when the body is too slow, while it may be read

	mu      sync.Mutex
	timer   *time.Timer // one for the whole, because to set it for each read costs more than the read
	waits   bool        // the timer waits for the next read, or for the time limit
	reading bool
	over    bool          // Slow, late or Stop was called
	since   time.Time     // when the current read began, or the current window if that was later
	waited  time.Duration // in this window, before that
	bytes   int           // in this window

	limit time.Time // when late is called; zero: never
	late  func()
}

// Start begins the time limit. It calls late if Stop was not called until then.
func (p *Pace) Start(limit time.Duration, late func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.late = time.Now().Add(limit), late
	p.timer = time.AfterFunc(min(limit, Window), p.check) // so that the first read need not set it
}

// Stop ends the measurement and the time limit.
func (p *Pace) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *Pace) Read(b []byte) (int, error) {
	if p.Rate <= 0 {
		return p.Reader.Read(b)
	}
	p.begin()
	n, err := p.Reader.Read(b)
	p.finish(n)
	return n, err
}

func (p *Pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.since = true, time.Now()
	switch {
	case p.over:
	case p.timer == nil:
		p.timer = time.AfterFunc(Window, p.check)
	case p.waits:
		p.waits = false
		p.set(p.since)
	}
}

func (p *Pace) finish(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	p.waited += time.Since(p.since)
	p.bytes += n
	p.judge()
}

// check is called when the limit has passed, and when the window may have ended. The timer was
// set when less time had been waited, so that it is early if there were pauses.
func (p *Pace) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	switch {
	case p.over:
		return
	case !p.limit.IsZero() && !now.Before(p.limit):
		p.over = true
		p.late()
		return
	case p.reading:
		p.waited += now.Sub(p.since)
		p.since = now
		p.judge()
	}
	p.waits = !p.reading
	p.set(now)
}

// set sets the timer to what comes first: the end of the window, unless no one reads, and the
// time limit, if there is one.
func (p *Pace) set(now time.Time) {
	next := Window - p.waited
	if left := p.limit.Sub(now); !p.limit.IsZero() && (p.waits || left < next) {
		next = left
	} else if p.waits {
		return
	}
	p.timer.Reset(next)
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
}

func (b *body) Read(p []byte) (n int, err error) {
	n, err = b.exchange.pace.Read(p)
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
