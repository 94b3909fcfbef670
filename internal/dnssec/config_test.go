package dnssec

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/miekg/dns"
)

// FuzzTrustAnchors reads files of trust anchors: each zone that is returned has a usable anchor.
func FuzzTrustAnchors(f *testing.F) {
	f.Add(RootAnchors)
	f.Add(". IN DNSKEY 257 3 8 AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3")
	f.Add("example. 3600 IN DS 1 13 2 00")
	f.Add("$ORIGIN example.\n@ IN TXT x")
	f.Add("$INCLUDE /etc/hostname\n")
	f.Add("$GENERATE 1-65535 a$ IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D")
	f.Fuzz(func(t *testing.T, text string) {
		anchors, err := parseAnchors(text)
		if (err == nil) != (len(anchors) > 0) {
			t.Fatalf("%d anchors, %v", len(anchors), err)
		}
		for zone, usable := range anchors {
			if len(usable) == 0 {
				t.Errorf("%s has no usable anchor", zone)
			}
		}
	})
}

// FuzzResolvConf reads resolv.conf and the forms of other systems: there are at most three servers,
// each one that newTransport accepts.
func FuzzResolvConf(f *testing.F) {
	f.Add("nameserver 192.0.2.1\nnameserver 2001:db8::1\n")
	f.Add("nameserver fe80::1%eth0\nsearch example.net\n; comment")
	f.Add("nameserver 1\nnameserver\n\x00")
	f.Add("domain corp.example\nport 5353\nnameserver 192.0.2.1")
	f.Add("ip=192.0.2.7 dns=192.0.2.1")
	f.Fuzz(func(t *testing.T, text string) {
		file := &fstest.MapFile{Data: []byte(text)}
		for _, goos := range []string{"linux", "darwin", "android", "plan9"} {
			s := findIn(goos, "/data/usr", fstest.MapFS{
				"etc/resolv.conf": file, "etc/resolver/corp": file, "data/usr/etc/resolv.conf": file, "net/ndb": file,
			})
			lists := append(slices.Collect(maps.Values(s.scoped)), s.all)
			for _, servers := range lists {
				if len(servers) > maxServers {
					t.Fatalf("%d servers", len(servers))
				}
				for _, server := range servers {
					if _, err := newTransport(server, &Options{}); err != nil {
						t.Errorf("%q: %v", server, err)
					}
				}
			}
		}
	})
}

// Each system names its servers in its own way.
func TestFindServers(t *testing.T) {
	conf := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name, goos, prefix string
		files              fstest.MapFS
		all, looked        string
	}{
		{"linux", "linux", "", fstest.MapFS{"etc/resolv.conf": conf("search example.net\nnameserver 192.0.2.1\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n")}, "192.0.2.1:53 [2001:db8::1]:53", "/etc/resolv.conf"},
		{"at-most-three", "linux", "", fstest.MapFS{"etc/resolv.conf": conf("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n")}, "192.0.2.1:53 192.0.2.2:53 192.0.2.3:53", "/etc/resolv.conf"},
		{"docker", "linux", "", fstest.MapFS{"etc/resolv.conf": conf("nameserver 127.0.0.11\noptions ndots:0\n")}, "127.0.0.11:53", "/etc/resolv.conf"},
		{"none", "linux", "", fstest.MapFS{}, "", "/etc/resolv.conf"},
		{"without-server", "linux", "", fstest.MapFS{"etc/resolv.conf": conf("search example.net\nnameserver 0.0.0.0\nnameserver fec0:0:0:ffff::1\n")}, "", "/etc/resolv.conf"},
		{"android", "android", "", fstest.MapFS{}, "", "/etc/resolv.conf"},
		{"termux", "android", "/data/usr", fstest.MapFS{"data/usr/etc/resolv.conf": conf("nameserver 192.0.2.8\n")}, "192.0.2.8:53", "/data/usr/etc/resolv.conf"},
		{"plan9", "plan9", "", fstest.MapFS{"net/ndb": conf("ip=192.0.2.7 ipmask=/120\n\tdns=192.0.2.1\n\tdns=192.0.2.2\n")}, "192.0.2.1:53 192.0.2.2:53", "/net/ndb"},
		{"js", "js", "", fstest.MapFS{"etc/resolv.conf": conf("nameserver 192.0.2.1\n")}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := findIn(c.goos, c.prefix, c.files)
			if got := strings.Join(s.all, " "); got != c.all || s.looked != c.looked {
				t.Errorf("%q in %q", got, s.looked)
			}
		})
	}
	t.Run("macos-scoped", func(t *testing.T) {
		s := findIn("darwin", "", fstest.MapFS{
			"etc/resolv.conf":           conf("nameserver 192.0.2.1\n"),
			"etc/resolver/corp.example": conf("nameserver 192.0.2.2\nport 5353\n"),
			"etc/resolver/second":       conf("domain lab.corp.example\nnameserver 192.0.2.3\n"),
			"etc/resolver/empty":        conf("timeout 5\n"),
		})
		wire := func(text string) name {
			n, err := parseName(text)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		for question, want := range map[string]string{
			"www.example.": "192.0.2.1:53", "corp.example.": "192.0.2.2:5353", "a.b.corp.example.": "192.0.2.2:5353",
			"notcorp.example.": "192.0.2.1:53", "x.lab.corp.example.": "192.0.2.3:53", "x.empty.": "192.0.2.1:53",
		} {
			if got := strings.Join(s.forQuestion(wire(question), false), " "); got != want {
				t.Errorf("%s: %s", question, got)
			}
		}
		if got := s.forQuestion(wire("corp.example."), true); got[0] != "192.0.2.1:53" {
			t.Error("the DS records of a domain are above it:", got)
		}
	})
}

// Without a server nothing is asked, and the error names the option.
func TestNoServer(t *testing.T) {
	for looked, want := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "ResolverOptions.Servers",
		os.DevNull:                         "--dns",
	} {
		dialled := false
		r, err := New(Options{ResolvConf: looked, DialContext: func(context.Context, string, string) (net.Conn, error) {
			dialled = true
			return nil, errors.New("dialled")
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Lookup(t.Context(), "example.com", dns.TypeA)
		var none *NoServerError
		if !errors.As(err, &none) || dialled || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), looked) {
			t.Error(err, dialled)
		}
	}
}
