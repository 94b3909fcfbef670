package enginetest

import (
	"strconv"
	"syscall"
	"testing"
)

// FreePort returns a port of 127.0.0.1 that is free until the test ends: this process keeps a
// socket bound to it, so the system chooses it for no other socket. A server can listen on it, and
// again after it was killed.
func FreePort(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	// Two sockets with this option can be bound to one port, while at most one of them listens.
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(address.(*syscall.SockaddrInet4).Port)
}
