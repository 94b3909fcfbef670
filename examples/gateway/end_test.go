package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections stay in memory, so that its time can be the
// test's own.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() pipes { return pipes{make(chan net.Conn), make(chan struct{})} }

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// TestEndInFlight holds that a call which is under way when the gateway is told to end
// ends within its own timeout.
func TestEndInFlight(t *testing.T) {
	for _, c := range []struct {
		name     string
		duration time.Duration
		ended    bool
	}{
		{"accept-call-as-long-as-its-timeout", callTimeout, true},
		{"accept-call-with-a-slow-body", readTimeout + callTimeout, true},
		{"reject-call-without-end", endTimeout + time.Second, false},
	} {
		t.Run("O29/"+c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				certificate, _, err := selfSigned("localhost")
				if err != nil {
					t.Fatal(err)
				}
				started := make(chan struct{})
				server := &http.Server{
					TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
					Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						close(started)
						time.Sleep(c.duration)
					}),
				}
				ctx, terminate := context.WithCancel(t.Context())
				listener, ended := newPipes(), make(chan error, 1)
				go func() { ended <- serve(ctx, listener, server) }()
				transport := &http.Transport{DialContext: listener.dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the test's own server
				defer transport.CloseIdleConnections()
				answered := make(chan error, 1)
				go func() {
					resp, err := (&http.Client{Transport: transport}).Get("https://localhost/")
					if err == nil {
						_ = resp.Body.Close()
					}
					answered <- err
				}()
				<-started
				terminate()
				if err := <-answered; (err == nil) != c.ended {
					t.Errorf("the call ends with %v", err)
				}
				if err := <-ended; (err == nil) != c.ended || err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the gateway ends with %v", err)
				}
				synctest.Wait()
				time.Sleep(time.Minute) // the handler without end ends too
			})
		})
	}
}
