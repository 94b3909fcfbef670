package lookleap

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	socks "golang.org/x/net/proxy"
)

// proxies chooses the proxy of a host.
type proxies struct {
	choose func(*http.Request) (*url.URL, error)
	byName bool
	tls    *tls.Config // for proxies that are reached by https
}

// proxy is a forward proxy.
type proxy struct {
	url *url.URL
	tls *tls.Config
}

// of returns the proxy for a host, nil to connect directly.
func (p *proxies) of(host string, port uint16) (_ *proxy, err error) {
	if p.choose == nil {
		return nil, nil
	}
	defer partProxy.guard(&err)
	address := &url.URL{Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port)))}
	u, err := p.choose(&http.Request{Method: http.MethodConnect, URL: address, Host: address.Host, Header: http.Header{}})
	switch {
	case err != nil: // its text may have the user and password
		return nil, &Error{Code: CodeProxy, Message: "the proxy for " + quote(host, 253) + " cannot be chosen", Fix: "check the URL of the proxy"}
	case u == nil:
		return nil, nil
	case u.Hostname() == "":
		return nil, &Error{Code: CodeProxy, Message: "the URL of the proxy has no host", Fix: "write http://HOST:PORT or socks5://HOST:PORT"}
	}
	return &proxy{u, p.tls}, nil
}

// unused adds to the error of a direct connection that a proxy of the environment was not asked.
func (p *proxies) unused(err error) error {
	var known *Error
	if p.choose != nil || errors.Is(err, ErrDenied) || errors.As(err, &known) && known.Fix != "" {
		return err
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(name) != "" {
			return &Error{Code: CodeOf(err), Message: name + " is set, and its proxy was not asked", Err: err,
				Fix: "set FetcherOptions.Proxy to http.ProxyFromEnvironment"}
		}
	}
	return err
}

// dialAddress opens a tunnel to an address, which becomes the remote address of the connection.
func (p *proxy) dialAddress(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	conn, err := p.tunnel(ctx, addr.String())
	if err != nil {
		return nil, err
	}
	return tunnelConn{conn, addr}, nil
}

type tunnelConn struct {
	net.Conn
	remote netip.AddrPort
}

func (c tunnelConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// String returns the URL of the proxy without user and password.
func (p *proxy) String() string { return p.url.Scheme + "://" + p.url.Host }

// fail returns the error of a tunnel.
func (p *proxy) fail(message, fix string, err error) error {
	return &Error{Code: CodeProxy, Subject: quote(p.String(), 253), Message: message, Fix: fix, Err: err}
}

// tunnel opens a connection to HOST:PORT through the proxy.
func (p *proxy) tunnel(ctx context.Context, target string) (net.Conn, error) {
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	if ports[p.url.Scheme] == "" {
		return nil, p.fail("the scheme of the proxy is not known", "use http, https or socks5", nil)
	}
	address := p.url.Host
	if p.url.Port() == "" {
		address = net.JoinHostPort(p.url.Hostname(), ports[p.url.Scheme])
	}
	if ports[p.url.Scheme] == "1080" {
		return p.socks(ctx, address, target)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, p.fail("the proxy cannot be reached", "check the address of the proxy", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	tunnel, err := p.connect(conn, target)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return tunnel, nil
}

// socks opens a tunnel by SOCKS 5 (RFC 1928).
func (p *proxy) socks(ctx context.Context, address, target string) (net.Conn, error) {
	var auth *socks.Auth
	if u := p.url.User; u != nil {
		password, _ := u.Password()
		auth = &socks.Auth{User: u.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5("tcp", address, auth, new(net.Dialer))
	if err != nil {
		return nil, p.fail("the proxy cannot be used", "", err)
	}
	conn, err := dialer.(socks.ContextDialer).DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, p.fail("the proxy opens no connection to "+quote(target, 253), "", err)
	}
	return conn, nil
}

// connect opens a tunnel by the method CONNECT (RFC 9110 section 9.3.6).
func (p *proxy) connect(conn net.Conn, target string) (net.Conn, error) {
	if p.url.Scheme == "https" {
		config := p.tls.Clone()
		config.ServerName = p.url.Hostname()
		conn = tls.Client(conn, config)
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if u := p.url.User; u != nil {
		password, _ := u.Password()
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := ask.Write(conn); err != nil {
		return nil, p.fail("the proxy ended the connection", "", err)
	}
	header := bufio.NewReader(io.LimitReader(conn, maxHeaderBytes))
	resp, err := http.ReadResponse(header, ask)
	switch {
	case err != nil:
		return nil, p.fail("the proxy does not answer as an HTTP proxy", "check the scheme of the proxy", err)
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return nil, p.fail("the proxy demands a user and password", "write them into the URL of the proxy", nil)
	case resp.StatusCode/100 != 2:
		return nil, p.fail("the proxy opens no connection to "+quote(target, 253), "ask who runs the proxy",
			&ResponseError{Status: resp.StatusCode})
	case header.Buffered() > 0:
		return nil, p.fail("the proxy sent more than its answer", "", nil)
	}
	return conn, nil
}
