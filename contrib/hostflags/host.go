package hostflags

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Host is a Host that its flags shape. Close closes its connections too.
type Host struct {
	lookleap.Host
	own closers
}

// Close closes the Host and its connections.
func (h *Host) Close() error {
	err := h.Host.Close()
	if closing := h.own.Close(); err == nil {
		err = closing
	}
	return err
}

// NewHost returns the Host that the flags describe. Call it after [Flags.URL], which tells it the
// site of the development mode. A Public Suffix List is used by the whole process from then on. An
// error means wrong usage, and has [lookleap.CodeUsage].
func (f *Flags) NewHost() (*Host, error) {
	h := &Host{Host: lookleap.Host{Now: f.Now}}
	roots, err := f.roots()
	if err != nil {
		return nil, err
	}
	if err := f.useSuffixList(); err != nil {
		return nil, err
	}
	web := lookleap.FetcherOptions{RootCAs: roots, Now: f.Now, InsecureAllowPrivate: f.AllowPrivate}
	if f.Streams {
		web.Time, web.Rate = -1, -1
	}
	if f.Connect != "" {
		if err := checkHostPort(f.Connect); err != nil {
			return nil, usage("--connect: "+err.Error(), "write a host and a port, for instance localhost:8443")
		}
		web.Dial = f.dial
	}
	if err := f.network(&web); err != nil {
		return nil, err
	}
	if h.Resolver, err = f.newResolver(web); err != nil {
		return nil, err
	}
	web.Resolver = h
	switch {
	case f.Dev:
		site, err := f.devSite()
		if err != nil {
			return nil, err
		}
		proxy, err := newDevProxy(site)
		if err != nil {
			return nil, err
		}
		h.own = append(h.own, proxy)
		web.RootCAs = proxy.roots
		web.Dial = proxy.dial
		web.Resolver = oneAddress{"127.0.0.1:443"}
		web.InsecureAllowPrivate = true
		web.Proxy, web.AllowPrefixes = nil, nil
		web.Now = nil // the certificate of the proxy is of today
	case f.Connect != "" && len(f.DNS) == 0:
		web.Resolver, web.InsecureAllowPrivate = oneAddress{f.Connect}, true
	}
	if web.InsecureAllowPrivate {
		web.Ports = allPorts()
	}
	fetcher := lookleap.NewFetcher(web)
	if c, ok := fetcher.(io.Closer); ok {
		h.own = append(h.own, c)
	}
	h.Fetcher = fetcher
	return h, nil
}

// network sets the proxy and the allowed ranges.
func (f *Flags) network(web *lookleap.FetcherOptions) error {
	switch {
	case f.Proxy == "" && f.ProxyByName:
		return usage("--proxy-by-name: there is no proxy", "add --proxy URL or --proxy env")
	case f.Proxy != "" && f.Connect != "":
		return usage("--proxy and --connect exclude each other", "use one of them")
	case f.Proxy == "env":
		web.Proxy = http.ProxyFromEnvironment
	case f.Proxy != "":
		u, err := url.Parse(f.Proxy)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" { // the text may have a password
			return usage("--proxy: this is not the URL of a proxy", "write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
		}
		web.Proxy = http.ProxyURL(u)
	}
	web.ProxyByName = f.ProxyByName
	for _, text := range f.Allow {
		prefix, hosts, _ := strings.Cut(text, "=")
		open, err := netip.ParsePrefix(prefix)
		if err != nil || hosts == "" {
			return usage("--allow: "+strconv.Quote(text)+" is not PREFIX=HOST", "write for instance 10.0.0.0/8=*.corp.example")
		}
		web.AllowPrefixes = append(web.AllowPrefixes, lookleap.AllowPrefix{Prefix: open, Hosts: strings.Split(hosts, ",")})
	}
	return nil
}

// useSuffixList uses the list of --public-suffix-list for the process.
func (f *Flags) useSuffixList() error {
	if f.SuffixList == "" {
		return nil
	}
	text, err := readFile("--public-suffix-list", f.SuffixList)
	if err != nil {
		return err
	}
	list, err := lookleap.ReadPublicSuffixList(bytes.NewReader(text))
	if err != nil {
		return usage("--public-suffix-list: "+err.Error(), "")
	}
	lookleap.UsePublicSuffixList(list)
	return nil
}

// maxFile is the largest file that a flag names, in bytes.
const maxFile = 64 << 20

// readFile returns the content of the file that a flag names.
func readFile(flag, path string) ([]byte, error) {
	text, err := filestore.ReadFile(path, maxFile)
	if err == nil {
		return text, nil
	}
	fix := "make the file readable"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fix = "check the path"
	case errors.Is(err, filestore.ErrNotRegular), errors.Is(err, filestore.ErrTooLarge):
		fix = "name a regular file of at most 64 MiB"
	}
	return nil, usage(flag+": "+err.Error(), fix)
}

// roots returns the certificates of --ca; nil: the system's.
func (f *Flags) roots() (*x509.CertPool, error) {
	if f.CA == "" {
		return nil, nil
	}
	pem, err := readFile("--ca", f.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usage("--ca: "+f.CA+" has no certificate in PEM form", "write a file that begins with -----BEGIN CERTIFICATE-----")
	}
	return roots, nil
}

// dial connects to the server of --connect. With --dns, the address of the name is judged as ever:
// a test bed has public ones, or --allow-private is set too.
func (f *Flags) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", f.Connect)
	if err != nil {
		return nil, err
	}
	return connectConn{meantConn{conn, addr}, f.Connect}, nil
}

// connectConn says that --connect chose its server.
type connectConn struct {
	meantConn
	server string
}

// Route names the server.
func (c connectConn) Route() string { return "connect " + c.server }

func allPorts() []uint16 {
	ports := make([]uint16, 0, 1<<16)
	for port := range 1<<16 - 1 {
		ports = append(ports, uint16(port+1))
	}
	return ports
}

// checkHostPort demands both parts, and a port that is a number.
func checkHostPort(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return usage(strconv.Quote(s)+" is not HOST:PORT", "")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return usage(strconv.Quote(s)+" has no port from 1 to 65535", "")
	}
	return nil
}

// OpenStore opens the store in a directory, which it makes first if the program's user named a new one.
func OpenStore(dir string) (*lookleap.FileStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return lookleap.OpenStore(dir)
}
