package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/webconsent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// browser is where a user decides on a page.
type browser struct {
	*webconsent.Prompter
	ctx     context.Context
	address string
	clock   atomic.Pointer[lookleaptest.Clock] // of the scene that is played
	out     io.Writer                          // where the link is printed, before the first question
	invite  sync.Once
	stop    context.CancelFunc
	stopped chan error
}

// newBrowser serves the page on the loopback interface.
func newBrowser(ctx context.Context, out io.Writer) (*browser, error) {
	b := &browser{stopped: make(chan error, 1), out: out}
	var err error
	if b.Prompter, err = webconsent.New(webconsent.Options{Now: b.now}); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b.address = "http://" + l.Addr().String()
	b.ctx, b.stop = context.WithCancel(ctx)
	go func() { b.stopped <- b.Serve(b.ctx, l) }()
	return b, nil
}

// now returns the time of the scene, by which its plans expire.
func (b *browser) now() time.Time {
	if c := b.clock.Load(); c != nil {
		return c.Now()
	}
	return time.Now()
}

func (b *browser) close() {
	b.stop()
	<-b.stopped
}

// open prints the link once, where it is needed.
func (b *browser) open() {
	b.invite.Do(func() {
		fmt.Fprintf(b.out, "\n   Decide in your browser. The link works once:\n\n   %s\n\n", b.Link(b.address))
	})
}

// decide waits for the user. Without a decision the answer is no.
func (b *browser) decide(r *lookleap.ConsentRequest) lookleap.ConsentDecision {
	b.open()
	d, err := b.PromptConsent(b.ctx, r)
	if err != nil {
		return lookleap.ConsentDecision{Digest: r.Digest}
	}
	return d
}

// decideSuspended shows a plan whose operation has ended, and waits for the user.
func (b *browser) decideSuspended(pending *lookleap.PendingError) (lookleap.ConsentDecision, error) {
	if err := b.Suspend(b.ctx, pending); err != nil {
		return lookleap.ConsentDecision{}, err
	}
	b.open()
	for d, err := range b.Decided(b.ctx) {
		if err != nil {
			return lookleap.ConsentDecision{}, err
		}
		return d.Decision, b.Forget(b.ctx, d.ID)
	}
	return lookleap.ConsentDecision{}, b.ctx.Err()
}
