package lookleaptest_test

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/lookleap/lookleap/lookleaptest"
)

// pair connects through an internet and returns both ends.
func pair(t testing.TB, n *lookleaptest.Internet) (client, server net.Conn, err error) {
	l := n.Listen("93.184.200.1:7")
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	client, err = n.FetcherOptions().Dial(context.Background(), netip.MustParseAddrPort("93.184.200.1:7"))
	if err != nil {
		return nil, nil, err
	}
	return client, <-accepted, nil
}

func TestConnIsAConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		n := lookleaptest.NewInternet()
		c1, c2, err = pair(t, n)
		return c1, c2, n.Close, err
	})
}
