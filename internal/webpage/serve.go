package webpage

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// IsLoopback reports whether a listener's address is one of the loopback interface.
func IsLoopback(a net.Addr) bool { return isLoopbackAddr(a.String()) }

// Serve serves pages on a listener until the context ends. A response that began before
// has two seconds to arrive: it may say that a decision was taken.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		last, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer done()
		if server.Shutdown(last) != nil {
			_ = server.Close()
		}
	})
	err := server.Serve(l)
	cancel()
	<-closed
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
