package dnssec_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// over makes a resolver that reaches servers through handlers, and counts connections.
func (s *small) over(t testing.TB, servers []string, handlers map[string]zone.Handler, dials *dialLog) *dnssec.Resolver {
	return s.resolver(t, nil, func(o *dnssec.Options) {
		o.Exchange = nil
		o.Servers = servers
		o.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.add(network + " " + address)
			h := handlers[address]
			if h == nil {
				return nil, errors.New("connection refused")
			}
			return zone.Dial(h)(ctx, network, address)
		}
	})
}

type dialLog struct {
	mu    sync.Mutex
	dials []string
}

func (d *dialLog) add(s string) { d.mu.Lock(); d.dials = append(d.dials, s); d.mu.Unlock() }
func (d *dialLog) count(prefix string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, s := range d.dials {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// TestReuse: queries that follow one another share a connection.
func TestReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		var dials dialLog
		r := s.over(t, []string{"tcp://192.0.2.53"}, map[string]zone.Handler{"192.0.2.53:53": s}, &dials)
		for _, name := range []string{"www.example.com", "alias.example.com", "nope.example.com"} {
			if _, err := r.Lookup(t.Context(), name, dns.TypeA); err != nil {
				t.Fatal(err)
			}
		}
		if n := dials.count("tcp"); n > 4 || n >= s.Queries() { // as many as questions at the same time
			t.Errorf("%d connections for %d queries", n, s.Queries())
		}
		time.Sleep(time.Minute) // idle connections are closed, and that is not a failure
		s.now = s.now.Add(time.Minute)
		if result, err := r.Lookup(t.Context(), "_anml.example.com", dns.TypeTXT); outcome(result, err) != "secure" {
			t.Error(err)
		}
		r.Close()
	})
}

func TestTruncated(t *testing.T) {
	t.Run("G19", func(t *testing.T) {
		t.Run("accept-over-tcp", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSmall()
				big := zone.New("big.com").Sign(zone.Signing{})
				for i := range 40 {
					big.TXT("@", strings.Repeat("x", 100), string(rune('a'+i)))
				}
				s.Put(big)
				var dials dialLog
				r := s.over(t, []string{"192.0.2.53"}, map[string]zone.Handler{"192.0.2.53:53": s}, &dials)
				result, err := r.Lookup(t.Context(), "big.com", dns.TypeTXT)
				if outcome(result, err) != "secure" || len(result.Records) != 40 || dials.count("tcp") == 0 {
					t.Error(outcome(result, err), err, dials.dials)
				}
				r.Close()
			})
		})
		t.Run("reject-partial-set", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSmall()
				var dials dialLog
				cut := &zone.Mangler{Next: s, Edits: []zone.Edit{zone.On("www.plain.com", 0, zone.Truncate(1))}}
				r := s.over(t, []string{"192.0.2.53"}, map[string]zone.Handler{"192.0.2.53:53": cut}, &dials)
				result, err := r.Lookup(t.Context(), "www.plain.com", dns.TypeA)
				if outcome(result, err) != "server" {
					t.Error(outcome(result, err), err)
				}
				r.Close()
			})
		})
	})
}

// TestFallback: servers are tried in turn, and what one refuses another may answer.
func TestFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		dead := zone.HandlerFunc(func(*dns.Msg) *dns.Msg { return nil })
		refuses := &zone.Mangler{Next: s, Edits: []zone.Edit{zone.Rcode(dns.RcodeRefused)}}
		var dials dialLog
		r := s.over(t, []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"},
			map[string]zone.Handler{"192.0.2.1:53": dead, "192.0.2.2:53": refuses, "192.0.2.4:53": s}, &dials)
		begin := time.Now()
		result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA)
		if outcome(result, err) != "secure" {
			t.Error(outcome(result, err), err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("the dead server was asked more than once: %v", took)
		}
	})
}

func TestAllServersFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		dead := zone.HandlerFunc(func(*dns.Msg) *dns.Msg { return nil })
		var dials dialLog
		r := s.over(t, []string{"192.0.2.1", "tcp://192.0.2.1"}, map[string]zone.Handler{"192.0.2.1:53": dead}, &dials)
		begin := time.Now()
		result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA)
		var server *dnssec.ServerError
		if result != nil || !errors.As(err, &server) || !server.Timeout() || time.Since(begin) > 10*time.Second {
			t.Error(result, err, time.Since(begin))
		}
	})
}

// TestWrongReplies: over a function and over TCP there is one reply only, and it must fit.
func TestWrongReplies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dns.Msg)
		want   string
	}{
		"accept":                {func(*dns.Msg) {}, "insecure"},
		"accept-question-case":  {func(m *dns.Msg) { m.Question[0].Name = strings.ToUpper(m.Question[0].Name) }, "insecure"},
		"reject-wrong-id":       {func(m *dns.Msg) { m.Id++ }, "server"},
		"reject-query":          {func(m *dns.Msg) { m.Response = false }, "server"},
		"reject-opcode":         {func(m *dns.Msg) { m.Opcode = dns.OpcodeStatus }, "server"},
		"reject-truncated":      {func(m *dns.Msg) { m.Truncated = true }, "server"},
		"reject-wrong-name":     {func(m *dns.Msg) { m.Question[0].Name = "www.plain.org." }, "server"},
		"reject-wrong-type":     {func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeTXT }, "server"},
		"reject-wrong-class":    {func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, "server"},
		"reject-no-question":    {func(m *dns.Msg) { m.Question = nil }, "server"},
		"reject-two-questions":  {func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }, "server"},
		"reject-answer-refused": {func(m *dns.Msg) { m.Rcode = dns.RcodeRefused }, "server"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSmall()
				m := &zone.Mangler{Next: s, Edits: []zone.Edit{zone.On("www.plain.com", 0, zone.Header(c.change))}}
				var dials dialLog
				for _, r := range []*dnssec.Resolver{s.resolver(t, m), s.over(t, []string{"tcp://192.0.2.53"}, map[string]zone.Handler{"192.0.2.53:53": m}, &dials)} {
					if result, err := r.Lookup(t.Context(), "www.plain.com", dns.TypeA); outcome(result, err) != c.want {
						t.Error(outcome(result, err), err)
					}
					r.Close()
				}
			})
		})
	}
}

// TestNoDowngrade: a server that was given as tls or tcp is never asked over udp.
func TestNoDowngrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		for _, server := range []string{"tcp://192.0.2.1", "tls://192.0.2.1"} {
			var dials dialLog
			r := s.over(t, []string{server}, map[string]zone.Handler{}, &dials)
			if result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); outcome(result, err) != "server" || dials.count("udp") != 0 {
				t.Error(server, outcome(result, err), err, dials.dials)
			}
		}
	})
}

// noisyConn hands out packets that no one asked for before the real ones.
func noisyUDP(s *small, noise func(query []byte) [][]byte) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := zone.Dial(s)(ctx, network, address)
		if err != nil || network != "udp" {
			return conn, err
		}
		return &noisyConn{Conn: conn, noise: noise}, nil
	}
}

type noisyConn struct {
	net.Conn
	noise   func([]byte) [][]byte
	pending [][]byte
}

func (c *noisyConn) Write(p []byte) (int, error) {
	c.pending = c.noise(p)
	return c.Conn.Write(p)
}

func (c *noisyConn) Read(p []byte) (int, error) {
	if len(c.pending) > 0 {
		n := copy(p, c.pending[0])
		c.pending = c.pending[1:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// forge makes a reply to the query that says 192.0.2.66, changed by change.
func forge(query []byte, change func(*dns.Msg)) []byte {
	q := new(dns.Msg)
	if err := q.Unpack(query); err != nil {
		panic(err)
	}
	m := new(dns.Msg).SetReply(q)
	m.Answer = rrs(q.Question[0].Name + " 60 IN A 192.0.2.66")
	change(m)
	out, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return out
}

func TestWrongDatagrams(t *testing.T) {
	for name, c := range map[string]struct {
		noise func(query []byte) [][]byte
		tcp   bool
	}{
		"accept-after-wrong-id": {func(q []byte) [][]byte {
			return [][]byte{forge(q, func(m *dns.Msg) { m.Id++ }), forge(q, func(m *dns.Msg) { m.Id-- })}
		}, false},
		"accept-after-garbage":        {func([]byte) [][]byte { return [][]byte{{}, {1}, make([]byte, 500)} }, false},
		"accept-after-own-query-back": {func(q []byte) [][]byte { return [][]byte{q} }, false},
		"accept-over-tcp-after-wrong-question": {func(q []byte) [][]byte {
			return [][]byte{forge(q, func(m *dns.Msg) { m.Question[0].Name = "www.attacker.example." })}
		}, true},
		"accept-over-tcp-after-wrong-type": {func(q []byte) [][]byte {
			return [][]byte{forge(q, func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAAAA })}
		}, true},
		"accept-over-tcp-after-missing-question": {func(q []byte) [][]byte {
			return [][]byte{forge(q, func(m *dns.Msg) { m.Question = nil })}
		}, true},
		"accept-over-tcp-after-damage": {func(q []byte) [][]byte {
			m := forge(q, func(*dns.Msg) {})
			return [][]byte{m[:len(m)-3]}
		}, true},
		"accept-over-tcp-after-flood": {func(q []byte) [][]byte {
			var out [][]byte
			for i := range 200 {
				out = append(out, forge(q, func(m *dns.Msg) { m.Id += uint16(i) + 1 }))
			}
			return out
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSmall()
				var tcp atomic.Int32
				r := s.resolver(t, nil, func(o *dnssec.Options) {
					o.Exchange, o.Servers = nil, []string{"192.0.2.53"}
					udp := noisyUDP(s, c.noise)
					o.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
						if network == "tcp" {
							tcp.Add(1)
						}
						return udp(ctx, network, address)
					}
				})
				result, err := r.Lookup(t.Context(), "www.plain.com", dns.TypeA) // nothing but the transport protects this one
				if outcome(result, err) != "insecure" || result.Records[0].Text != "192.0.2.9" {
					t.Fatal(outcome(result, err), err)
				}
				if (tcp.Load() > 0) != c.tcp {
					t.Errorf("%d TCP connections", tcp.Load())
				}
				r.Close()
			})
		})
	}
}

// certificate makes a self-signed server certificate.
func certificate(t *testing.T, host string, now time.Time) (tls.Certificate, *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), DNSNames: []string{host},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func TestTLS(t *testing.T) {
	s := newSmall()
	cert, roots := certificate(t, "dns.example.net", s.now)
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := tls.NewListener(raw, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"dot"}, Time: func() time.Time { return s.now }})
	defer l.Close()
	go zone.ServeTCP(l, s)
	for server, want := range map[string]string{
		"tls://dns.example.net":       "secure",
		"tls://dns.example.net:853":   "secure",
		"tls://other.example.net:853": "server", // a certificate for another name
	} {
		var dials dialLog
		r := s.resolver(t, nil, func(o *dnssec.Options) {
			o.Exchange, o.Servers, o.RootCAs = nil, []string{server}, roots
			o.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.add(network + " " + address)
				return new(net.Dialer).DialContext(ctx, network, raw.Addr().String())
			}
		})
		result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA)
		if outcome(result, err) != want {
			t.Errorf("%s: %s %v", server, outcome(result, err), err)
		}
		if want == "secure" && dials.count("tcp dns.example.net:853") == 6 {
			t.Error("no connection was used twice")
		}
		r.Close()
	}
}

func TestHTTPS(t *testing.T) {
	s := newSmall()
	roundTrip := func(h http.Handler) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Result(), nil
		}
	}
	good := func(code int, mediaType string) http.Handler { // a good answer in the body, whatever the header says
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner := httptest.NewRecorder()
			zone.ServeHTTP(s).ServeHTTP(inner, r)
			w.Header().Set("Content-Type", mediaType)
			w.WriteHeader(code)
			w.Write(inner.Body.Bytes())
		})
	}
	body := func(mediaType string, n int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			io.WriteString(w, strings.Repeat("x", n))
		})
	}
	for name, c := range map[string]struct {
		handler http.Handler
		want    string
	}{
		"accept-post":        {zone.ServeHTTP(s), "secure"},
		"reject-redirect":    {http.RedirectHandler("https://elsewhere.example/", http.StatusFound), "server"},
		"reject-status":      {good(http.StatusBadGateway, "application/dns-message"), "server"},
		"reject-html":        {good(http.StatusOK, "text/html"), "server"},
		"accept-parameters":  {good(http.StatusOK, "application/dns-message; charset=x"), "secure"},
		"reject-garbage":     {body("application/dns-message", 100), "server"},
		"reject-endless":     {body("application/dns-message", 70000), "server"},
		"reject-other-reply": {zone.ServeHTTP(&zone.Mangler{Next: s, Edits: []zone.Edit{zone.Header(func(m *dns.Msg) { m.Question[0].Name = "x.example." })}}), "server"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.resolver(t, nil, func(o *dnssec.Options) {
				o.Exchange, o.Servers, o.RoundTrip = nil, []string{"https://dns.example.net/dns-query"}, roundTrip(c.handler)
			})
			if result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); outcome(result, err) != c.want {
				t.Error(outcome(result, err), err)
			}
		})
	}
}

func TestServerForms(t *testing.T) {
	for _, server := range []string{"", "udp://", "udp://dns.example.net", "dns.example.net:53", "http://dns.example.net/", "https://", "https://u@dns.example.net/", "ftp://x", "tls://", "tls://a/b", "https://dns.example.net/dns-query"} {
		if _, err := dnssec.New(dnssec.Options{Servers: []string{server}}); err == nil {
			t.Errorf("%q was taken", server)
		}
	}
}

func TestResolvConf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		path := filepath.Join(t.TempDir(), "resolv.conf")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("# a comment\nsearch example.net\nnameserver\nnameserver not-an-address\nnameserver 192.0.2.1 # x\nnameserver 2001:db8::1\noptions edns0 trust-ad\n")
		var dials dialLog
		r := s.resolver(t, nil, func(o *dnssec.Options) {
			o.Exchange, o.ResolvConf = nil, path
			o.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.add(address)
				if address == "192.0.2.1:53" {
					return nil, errors.New("refused")
				}
				return zone.Dial(s)(ctx, network, address)
			}
		})
		if result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); outcome(result, err) != "secure" {
			t.Fatal(err)
		}
		if dials.count("192.0.2.1:53") != 1 || dials.count("[2001:db8::1]:53") == 0 {
			t.Error(dials.dials)
		}
		write("nameserver 192.0.2.7\n")
		s.now = s.now.Add(31 * time.Second)
		if result, err := r.Lookup(t.Context(), "nope.example.com", dns.TypeA); outcome(result, err) != "secure nxdomain" {
			t.Fatal(err)
		}
		if dials.count("192.0.2.7:53") == 0 {
			t.Error(dials.dials)
		}
	})
}

// TestSilentServer: the server is silent, and the time of the whole lookup is not over.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(time.Now())
		silent := &zone.Mangler{Next: w.Server, Edits: []zone.Edit{zone.Drop()}}
		r, err := dnssec.New(dnssec.Options{
			Anchors: w.root.Anchor(), Servers: []string{"192.0.2.53"}, Now: time.Now, DialContext: zone.Dial(silent),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		start := time.Now()
		_, err = r.Lookup(t.Context(), "www.nsec.org", dns.TypeA)
		var failed *dnssec.ServerError
		if !errors.As(err, &failed) || failed.Server != "udp://192.0.2.53:53" || !failed.Timeout() || strings.Contains(err.Error(), "10s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
