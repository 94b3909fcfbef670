package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections stay in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

// TestEnd: a call that is under way when the program is told to end has time to end.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name, method string
		duration     time.Duration // 0: until the context of the request ends
		answered     bool
		within       time.Duration // until the program ends
	}{
		{"accept-slow-call", "POST", endTime - time.Second, true, endTime},
		{"accept-stream", "GET", 0, true, time.Second},
		{"reject-call-without-end", "POST", time.Hour, false, endTime + time.Second},
	} {
		t.Run("O29/"+c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := make(chan struct{})
				handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					close(started)
					if c.duration == 0 {
						<-r.Context().Done()
					}
					time.Sleep(c.duration)
				})
				ctx, terminate := context.WithCancel(t.Context())
				l, ended := pipes{make(chan net.Conn), make(chan struct{})}, make(chan error, 1)
				go func() { ended <- listen(ctx, l, handler) }()
				transport := &http.Transport{DialContext: l.dial, DisableKeepAlives: true}
				answered := make(chan error, 1)
				go func() {
					req, err := http.NewRequestWithContext(context.Background(), c.method, "http://localhost/", strings.NewReader(""))
					if err != nil {
						t.Error(err)
					}
					resp, err := transport.RoundTrip(req)
					if err == nil {
						_ = resp.Body.Close()
					}
					answered <- err
				}()
				<-started
				begin := time.Now()
				terminate()
				if err := <-ended; (err == nil) != c.answered || time.Since(begin) > c.within {
					t.Errorf("the program ends with %v after %v", err, time.Since(begin))
				}
				if err := <-answered; (err == nil) != c.answered {
					t.Errorf("the call ends with %v", err)
				}
				time.Sleep(2 * time.Hour) // the handler ends too
			})
		})
	}
}
