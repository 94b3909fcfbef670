package lab_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

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

func TestConnBuffersAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, err := pair(t, lab.ForTest(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := client.RemoteAddr().String(); got != "93.184.200.1:7" {
			t.Error(got)
		}
		client.Write([]byte("hello"))
		client.Close()
		if data, err := io.ReadAll(server); err != nil || string(data) != "hello" {
			t.Error(data, err)
		}
		if _, err := server.Write([]byte("late")); !errors.Is(err, lab.ErrPipe) {
			t.Error(err)
		}
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestConnBackpressureAndDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, err := pair(t, lab.ForTest(t))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		client.SetWriteDeadline(begin.Add(time.Minute))
		n, err := client.Write(make([]byte, 1<<20))
		if !errors.Is(err, os.ErrDeadlineExceeded) || n != 64<<10 || time.Since(begin) != time.Minute {
			t.Error(n, err, time.Since(begin))
		}
		server.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := io.ReadAll(server); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Hour+time.Minute {
			t.Error(err, time.Since(begin))
		}
	})
}
