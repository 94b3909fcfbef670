package lookleaptest

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Proxy is a forward proxy into an internet, on a loopback port.
type Proxy struct {
	URL *url.URL

	internet *Internet
	auth     string

	mu    sync.Mutex
	asked []string
}

// Proxy opens a proxy of the scheme http, https or socks5, which demands "USER:PASSWORD" if auth is
// not "". It uses real sockets, as [Internet.OpenDoor] does, and is closed with the internet.
func (n *Internet) Proxy(scheme, auth string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: &url.URL{Scheme: scheme, Host: l.Addr().String()}, internet: n, auth: auth}
	if user, password, ok := strings.Cut(auth, ":"); ok {
		p.URL.User = url.UserPassword(user, password)
	}
	serve := p.connect
	switch scheme {
	case "https":
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{n.ClientCertificate("127.0.0.1")}})
	case "socks5":
		serve = p.socks
	}
	return p, n.serveEach(l, l, func(conn net.Conn) {
		defer conn.Close()
		serve(conn)
	})
}

// Asked are the HOST:PORT for which connections were asked since the last call.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := slices.Clone(p.asked)
	p.asked = nil
	return asked
}

// connect speaks the method CONNECT.
func (p *Proxy) connect(conn net.Conn) {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	credentials := &http.Request{Header: http.Header{"Authorization": req.Header["Proxy-Authorization"]}}
	if user, password, _ := credentials.BasicAuth(); p.auth != "" && user+":"+password != p.auth {
		fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
		return
	}
	p.join(conn, req.Host, "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 502 Bad Gateway\r\n\r\n")
}

// socks speaks as much of RFC 1928 and RFC 1929 as a client needs.
func (p *Proxy) socks(conn net.Conn) {
	in := bufio.NewReader(conn)
	read := func(n byte) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(in, b) // what is missing is zero, which leads nowhere
		return b
	}
	method := byte(0)
	if p.auth != "" {
		method = 2
	}
	read(read(2)[1])
	_, _ = conn.Write([]byte{5, method})
	if method == 2 {
		user := read(read(2)[1])
		password := read(read(1)[0])
		if string(user)+":"+string(password) != p.auth {
			_, _ = conn.Write([]byte{1, 1})
			return
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	host := ""
	switch read(4)[3] {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 3:
		host = string(read(read(1)[0]))
	case 4:
		host = netip.AddrFrom16([16]byte(read(16))).String()
	}
	port := binary.BigEndian.Uint16(read(2))
	const yes, no = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x04\x00\x01\x00\x00\x00\x00\x00\x00"
	p.join(conn, net.JoinHostPort(host, strconv.Itoa(int(port))), yes, no)
}

// join connects a client with its target.
func (p *Proxy) join(client net.Conn, target, yes, no string) {
	p.mu.Lock()
	p.asked = append(p.asked, target)
	p.mu.Unlock()
	server, err := p.internet.Dial(p.internet.ctx, "tcp", target)
	if err != nil {
		_, _ = io.WriteString(client, no)
		return
	}
	defer server.Close()
	if _, err := io.WriteString(client, yes); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
	_ = client.Close()
	<-done
}
