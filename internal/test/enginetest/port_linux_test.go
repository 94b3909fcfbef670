package enginetest

import (
	"net"
	"testing"
)

func TestFreePort(t *testing.T) {
	address := "127.0.0.1:" + FreePort(t)
	for range 3 { // a server that is started again
		server, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := server.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []interface{ Close() error }{server, accepted, client} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		t.Errorf("%s answers without a server", conn.RemoteAddr())
	}
}
