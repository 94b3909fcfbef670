package lookleaptest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/lookleap/lookleap/internal/lab"
)

// Door is how other processes reach an internet: a DNS server and one port that leads to all
// sites, both on loopback addresses.
//
// The DNS returns the public addresses of the sites, so that the guard of the other process
// decides as in production. That process then connects to the door instead of the address.
// The door finds the site by the name in the TLS handshake, or by a header of the PROXY
// protocol, version 1, which [Via] sends.
type Door struct {
	DNS    string // HOST:PORT of the DNS server, over UDP and TCP
	Addr   string // HOST:PORT of the door
	CAFile string // the certificate authority of the sites, as a PEM file; Close removes it
	// AnchorFile has the trust anchors of the DNS; Close removes it.
	AnchorFile string

	door *lab.Loopback
}

// OpenDoor opens the internet for other processes. It uses real sockets, so it does not work
// in a bubble of testing/synctest. The door is closed with the internet, or by its Close.
func (n *Internet) OpenDoor() (*Door, error) {
	l, err := n.lab.Loopback()
	if err != nil {
		return nil, err
	}
	anchors := filepath.Join(filepath.Dir(l.CAFile), "anchors")
	if err := os.WriteFile(anchors, []byte(n.Anchors()+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &Door{DNS: l.DNS, Addr: l.Door, CAFile: l.CAFile, AnchorFile: anchors, door: l}, nil
}

// Close closes the door and its DNS server.
func (d *Door) Close() error { return d.door.Close() }

// Args returns the flags with which cmd/lookleap uses the door.
func (d *Door) Args() []string { return append(d.door.Args(), "--anchor", d.AnchorFile) }

// Anchors returns the trust anchors of the internet's DNS, for the field of this name of
// lookleap.ResolverOptions in another process.
func (n *Internet) Anchors() string { return n.zones.anchor() }

// Via returns a function that connects to the sites of another process through its door, for
// the Dial field of lookleap.FetcherOptions.
func Via(door string) func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	return lab.Via(door)
}
