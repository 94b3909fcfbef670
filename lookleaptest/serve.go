package lookleaptest

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// keptBody is how much of a request's body the journal and the handler get.
const keptBody = 1 << 20

type connectionKey struct{}

// withConnection lets a handler find the connection that its request came over.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// connectionOf is the connection of a request, nil for one that did not come through the internet.
func connectionOf(r *http.Request) *serverConn {
	c, _ := r.Context().Value(connectionKey{}).(*serverConn)
	return c
}

// serve is the one HTTP handler: it reads the request to its end, writes it down and lets the site
// answer.
func (n *Internet) serve(w http.ResponseWriter, r *http.Request) {
	conn, done := connectionOf(r), make(chan struct{})
	defer close(done)
	if !n.keep(conn, func() { <-done }) {
		panic(http.ErrAbortHandler)
	}
	site := n.siteOf(conn, r)

	var kept bytes.Buffer
	size, _ := io.Copy(&kept, io.LimitReader(r.Body, keptBody))
	rest, _ := io.Copy(io.Discard, r.Body)
	entry := &Request{
		Time: n.clock.Now(), Addr: conn.at, Proto: r.Proto,
		Method: r.Method, Host: r.Host, Target: r.RequestURI, Path: pathOf(r), Header: r.Header.Clone(),
		Body: kept.Bytes(), BodySize: size + rest,
	}
	if site != nil {
		entry.Site = site.name
	}
	if r.TLS != nil {
		entry.ClientCert = len(r.TLS.PeerCertificates) > 0
	}
	n.journal.update(func() { n.journal.requests = append(n.journal.requests, entry) })
	r.Body = io.NopCloser(bytes.NewReader(kept.Bytes()))
	if site == nil {
		Status(http.StatusMisdirectedRequest).ServeHTTP(w, r)
		return
	}
	site.handler(entry.Path).ServeHTTP(w, r)
}

// siteOf finds the site that a request means: by its Host field, among those at the address.
func (n *Internet) siteOf(conn *serverConn, r *http.Request) *Site {
	host := plainName(r.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	n.mu.Lock()
	defer n.mu.Unlock()
	return named(n.place(conn.at).sites, host)
}

// pathOf is the path of the request as it was sent.
func pathOf(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path
}

// pause waits by the internet's clock. When the client leaves or the internet closes meanwhile, the exchange
// is broken off: it must not end like a good one.
func pause(r *http.Request, d time.Duration) {
	n := connectionOf(r).internet
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	defer context.AfterFunc(n.ctx, stop)()
	if n.clock.sleep(ctx, d) != nil {
		panic(http.ErrAbortHandler)
	}
}

// forever waits until the client leaves or the internet closes, and breaks the exchange off.
func forever(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-connectionOf(r).internet.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}
