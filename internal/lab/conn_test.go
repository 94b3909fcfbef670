package lab_test

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/lookleap/lookleap/internal/lab"
)

// pair connects through a lab and returns both ends.
func pair(t lab.TB, n *lab.Internet) (client, server net.Conn, err error) {
	l := n.Listen("93.184.200.1:7")
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err = n.Dialer("test")(n.Context(), netip.MustParseAddrPort("93.184.200.1:7"))
	if err != nil {
		return nil, nil, err
	}
	return client, <-accepted, nil
}

func TestConnIsAConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		n := lab.New()
		c1, c2, err = pair(t, n)
		return c1, c2, n.Close, err
	})
}
