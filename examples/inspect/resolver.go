package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"sync/atomic"

	"github.com/lookleap/lookleap"
)

// newResolver asks the servers of --dns; nil: the Host's own resolver. Its error
// is wrong usage.
func newResolver(servers []string, roots *x509.CertPool) (lookleap.Resolver, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	var dials []dialFunc
	for _, server := range servers {
		dial, err := dialServer(server, roots)
		if err != nil {
			return nil, err
		}
		dials = append(dials, dial)
	}
	var next atomic.Uint32 // a server that fails is followed by the one after it
	return lookleap.NetResolver(&net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dials[(next.Add(1)-1)%uint32(len(dials))](ctx, network)
		},
	}), nil
}

type dialFunc func(ctx context.Context, network string) (net.Conn, error)

// dialServer reads one --dns: HOST:PORT is udp://HOST:PORT.
func dialServer(server string, roots *x509.CertPool) (dialFunc, error) {
	scheme, addr, ok := strings.Cut(server, "://")
	if !ok {
		scheme, addr = "udp", server
	}
	if scheme == "https" {
		return nil, usagef("--dns: DNS over HTTPS comes with the validating resolver; use udp:// or tls:// until then")
	}
	if scheme != "udp" && scheme != "tls" {
		return nil, usagef("--dns: %q is neither HOST:PORT nor udp://HOST:PORT nor tls://HOST:PORT", server)
	}
	host, _, err := splitHostPort(addr)
	if err != nil {
		return nil, usagef("--dns: %v", err)
	}
	if scheme == "tls" {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}}
		return func(ctx context.Context, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", addr) }, nil
	}
	return func(ctx context.Context, network string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr) // network is tcp after a truncated answer
	}, nil
}
