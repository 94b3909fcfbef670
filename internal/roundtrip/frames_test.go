package roundtrip_test

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/lookleap/lookleap/lookleaptest"
)

// frameServer answers HTTP/2 frame by frame, for what a real server never sends.
type frameServer struct {
	requests atomic.Int64
	answer   func(f *http2.Framer, stream uint32) error
	config   *tls.Config
}

// serveFrames makes shop.example such a server. The function is called once for each connection, with
// stream 0, after the SETTINGS were sent, and then for each request. When it returns an error the
// connection is closed.
func serveFrames(n *lookleaptest.Internet, answer func(f *http2.Framer, stream uint32) error) *frameServer {
	const host, addr = "shop.example", "93.184.217.80"
	s := &frameServer{answer: answer, config: &tls.Config{
		Certificates: []tls.Certificate{n.ClientCertificate(host)}, NextProtos: []string{"h2"}, Time: n.Clock().Now,
	}}
	n.Name(host, addr)
	listener := n.Listen(addr + ":443")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

// count returns how many requests have arrived.
func (s *frameServer) count() int { return int(s.requests.Load()) }

func (s *frameServer) serve(raw net.Conn) {
	conn := tls.Server(raw, s.config)
	defer func() { _ = conn.Close() }()
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	err := f.WriteSettings()
	if err == nil {
		err = s.answer(f, 0)
	}
	for err == nil {
		var frame http2.Frame
		if frame, err = f.ReadFrame(); err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = f.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			s.requests.Add(1)
			err = s.answer(f, frame.StreamID)
		}
	}
}

// hello sends a complete answer.
func hello(f *http2.Framer, stream uint32) error {
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":status", "200"}, {"content-type", "text/plain; charset=utf-8"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a Builder takes everything
	}
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()),
		EndHeaders: true}); err != nil {
		return err
	}
	return f.WriteData(stream, true, []byte("hello"))
}
