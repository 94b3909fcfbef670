//go:build !linux

package enginetest

import (
	"net"
	"testing"
)

// FreePort returns a port of 127.0.0.1 that is free now. This system has no way to reserve it.
func FreePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	return port
}
