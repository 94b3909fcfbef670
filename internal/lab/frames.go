package lab

import (
	"crypto/tls"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Frames makes the site answer HTTP/2 frame by frame, for what a real server never sends. The
// function is called once for each connection, with stream 0, after the SETTINGS were sent, and
// then for each request. When it returns an error the connection is closed. The journal has the
// requests, without bodies. HTTP/1.1 connections are served as usual.
func (s *Site) Frames(answer func(f *http2.Framer, stream uint32) error) *Site {
	return s.set(func() { s.frames = answer })
}

// Answer sends a complete answer with a text as its body.
func Answer(f *http2.Framer, stream uint32, text string) error {
	var block strings.Builder
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":status", "200"}, {"content-type", "text/plain; charset=utf-8"}} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a Builder takes everything
	}
	if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(block.String()),
		EndHeaders: true}); err != nil {
		return err
	}
	return f.WriteData(stream, true, []byte(text))
}

// serveFrames is the server's side of an HTTP/2 connection to a site with Frames.
func (n *Internet) serveFrames(conn *tls.Conn, c *serverConn, site *Site, answer func(*http2.Framer, uint32) error) {
	defer conn.Close()
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	err := f.WriteSettings()
	if err == nil {
		err = answer(f, 0)
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
			target, host := frame.PseudoValue("path"), frame.PseudoValue("authority")
			path, _, _ := strings.Cut(target, "?")
			n.journal.request(&Request{
				Time: n.clock.Now(), Site: site.name, Addr: c.at, SNI: conn.ConnectionState().ServerName, Proto: "HTTP/2.0",
				Method: frame.PseudoValue("method"), Host: host, Target: target, Path: path,
			})
			err = answer(f, frame.StreamID)
		}
	}
}
