package main

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"strconv"

	"github.com/lookleap/lookleap"
)

// newHost builds the network that the flags describe. Its error is wrong usage.
func (o *options) newHost() (*lookleap.Host, error) {
	roots, err := o.roots()
	if err != nil {
		return nil, err
	}
	dial, err := o.dialer()
	if err != nil {
		return nil, err
	}
	fetcher := lookleap.FetcherOptions{RootCAs: roots, Dial: dial, Now: o.now, InsecureAllowPrivate: o.allowPrivate}
	if o.allowPrivate {
		fetcher.Ports = allPorts()
	}
	host := &lookleap.Host{Now: o.now}
	if host.Resolver, err = o.newResolver(fetcher); err != nil {
		return nil, err
	}
	fetcher.Resolver = host
	host.Fetcher = lookleap.NewFetcher(fetcher)
	return host, nil
}

// roots are the certificates of --ca; nil: the system's.
func (o *options) roots() (*x509.CertPool, error) {
	if o.ca == "" {
		return nil, nil
	}
	pem, err := readFile(o.ca)
	if err != nil {
		return nil, usagef("--ca: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca: %s holds no certificate in PEM form", o.ca)
	}
	return roots, nil
}

// dialer goes through --connect; nil: to the address itself. The address that
// the name has is judged as ever: a test bed assigns public ones, or --allow-private
// is set too.
func (o *options) dialer() (func(context.Context, netip.AddrPort) (net.Conn, error), error) {
	if o.connect == "" {
		return nil, nil
	}
	if _, _, err := splitHostPort(o.connect); err != nil {
		return nil, usagef("--connect: %v", err)
	}
	return func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", o.connect)
		if err != nil {
			return nil, err
		}
		return redirectedConn{conn, addr}, nil
	}, nil
}

// redirectedConn says that it leads where it was meant to lead.
type redirectedConn struct {
	net.Conn
	meant netip.AddrPort
}

func (c redirectedConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.meant) }

func allPorts() []uint16 {
	ports := make([]uint16, 0, 1<<16)
	for port := range 1<<16 - 1 {
		ports = append(ports, uint16(port+1))
	}
	return ports
}

// splitHostPort is net.SplitHostPort that wants both parts, the port a number.
func splitHostPort(s string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(s)
	if err != nil || host == "" {
		return "", "", usagef("%q is not HOST:PORT", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", usagef("%q has no port from 1 to 65535", s)
	}
	return host, port, nil
}
