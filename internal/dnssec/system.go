package dnssec

import (
	"bufio"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
)

// systemServers are the DNS servers that the machine uses.
type systemServers struct {
	all    []string          // HOST:PORT
	scoped map[name][]string // for names at or below a domain, on macOS
	looked string            // where they were looked for, for the error if there are none
}

// forQuestion returns the servers for a question: those of the closest domain, or those for all
// names. The DS records of a domain are in the zone above it.
func (s *systemServers) forQuestion(n name, ds bool) []string {
	if len(s.scoped) > 0 {
		if ds && n != rootName {
			n = n.parent()
		}
		for ; n != rootName; n = n.parent() {
			if servers := s.scoped[n]; len(servers) > 0 {
				return servers
			}
		}
	}
	return s.all
}

// resolvConf is the file that names the servers on most systems.
const resolvConf = "/etc/resolv.conf"

// systemServers returns the servers of the system, or of the file that the options name.
func (o *Options) systemServers() *systemServers {
	if o.ResolvConf == "" {
		return findServers()
	}
	s := &systemServers{looked: o.ResolvConf}
	if f, err := os.Open(o.ResolvConf); err == nil {
		s.readResolvConf(f)
		_ = f.Close()
	}
	return s
}

// findIn returns the servers of an operating system whose files are below root. prefix is the
// directory of Termux on Android.
func findIn(goos, prefix string, root fs.FS) *systemServers {
	s := &systemServers{looked: resolvConf}
	read := s.readResolvConf
	switch goos {
	case "js", "wasip1": // programs cannot open sockets
		return &systemServers{}
	case "plan9":
		s.looked, read = "/net/ndb", s.readNDB
	case "android":
		// Android has no such file: a program asks its Java API for the servers. Termux has one.
		if prefix != "" {
			s.looked = path.Join(prefix, "etc/resolv.conf")
		}
	}
	if f, err := root.Open(strings.TrimPrefix(s.looked, "/")); err == nil {
		read(f)
		_ = f.Close()
	}
	if goos == "darwin" || goos == "ios" {
		if scoped, err := fs.Sub(root, "etc/resolver"); err == nil {
			s.readScoped(scoped)
		}
	}
	return s
}

// maxServers is how many servers of the system are used, as in libc.
const maxServers = 3

// add appends the address of a server, unless it is there already.
func (s *systemServers) add(addr netip.Addr) {
	server := net.JoinHostPort(addr.String(), "53")
	if usable(addr) && len(s.all) < maxServers && !slices.Contains(s.all, server) {
		s.all = append(s.all, server)
	}
}

// usable reports whether an address can be that of a server. Windows lists addresses of fec0::/10
// where no server is configured.
func usable(addr netip.Addr) bool {
	return addr.IsValid() && !addr.IsUnspecified() && !addr.IsMulticast() && !siteLocal.Contains(addr.WithZone(""))
}

var siteLocal = netip.MustParsePrefix("fec0::/10")

// readResolvConf reads the servers of resolv.conf.
func (s *systemServers) readResolvConf(conf io.Reader) {
	for _, addr := range nameservers(conf) {
		s.add(addr)
	}
}

// nameservers reads the nameserver lines of a file in the form of resolv.conf.
func nameservers(conf io.Reader) (servers []netip.Addr) {
	for line := range confLines(conf) {
		if line[0] == "nameserver" {
			if addr, err := netip.ParseAddr(line[1]); err == nil {
				servers = append(servers, addr)
			}
		}
	}
	return servers
}

// confLines returns the words of each line that has at least two.
func confLines(conf io.Reader) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		lines := bufio.NewScanner(io.LimitReader(conf, 1<<20))
		for lines.Scan() {
			if words := strings.Fields(lines.Text()); len(words) >= 2 && !yield(words) {
				return
			}
		}
	}
}

// readScoped reads the directory /etc/resolver of macOS. Each file has the form of resolv.conf, and
// its name is the domain that its servers are for, unless it says "domain" itself.
func (s *systemServers) readScoped(dir fs.FS) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return // most machines have none
	}
	for _, e := range entries {
		f, err := dir.Open(e.Name())
		if err != nil {
			continue
		}
		domain, port := e.Name(), "53"
		var servers []string
		for line := range confLines(f) {
			switch line[0] {
			case "domain":
				domain = line[1]
			case "port":
				port = line[1]
			case "nameserver":
				if addr, err := netip.ParseAddr(line[1]); err == nil && usable(addr) && len(servers) < maxServers {
					servers = append(servers, addr.String())
				}
			}
		}
		_ = f.Close()
		n, err := parseName(path.Base(domain))
		if err != nil || n == rootName || !isPort(port) {
			continue
		}
		if s.scoped == nil {
			s.scoped = map[name][]string{}
		}
		for _, server := range servers { // "port" may come after them
			s.scoped[n] = append(s.scoped[n], net.JoinHostPort(server, port))
		}
	}
}

// readNDB reads the servers of /net/ndb on Plan 9: words of the form dns=ADDRESS.
func (s *systemServers) readNDB(ndb io.Reader) {
	words := bufio.NewScanner(io.LimitReader(ndb, 1<<20))
	words.Split(bufio.ScanWords)
	for words.Scan() {
		if text, ok := strings.CutPrefix(words.Text(), "dns="); ok {
			if addr, err := netip.ParseAddr(text); err == nil {
				s.add(addr)
			}
		}
	}
}
