package bench

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The benchmarks of this file measure whole jobs over TLS connections in memory.
// "bare" is what a program does that checks nothing, on the same server.

// get reads a page whole.
func get(b *testing.B, client *http.Client, url string) {
	resp, err := client.Get(url)
	read(b, resp, err)
}

func read(b *testing.B, resp *http.Response, err error) {
	if err != nil {
		b.Error(err)
		return
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("status %d, %v", resp.StatusCode, err)
	}
}

func shop(net *lookleaptest.Internet) *lookleaptest.Site {
	directives := "/admin DISALLOW"
	sum := sha256.Sum256([]byte(directives))
	return net.Site("shop.example").File("/page", "text/html", strings.Repeat("x", 4<<10)).
		File("/agents.txt", "text/plain", "*"+hex.EncodeToString(sum[:])+"\n"+directives)
}

// BenchmarkGuardedGET gets a page through the agents.txt guard: the first of an
// origin, over a new connection, and further ones over the same connection.
func BenchmarkGuardedGET(b *testing.B) {
	b.Run("first/lookleap", func(b *testing.B) {
		net := lookleaptest.ForTest(b)
		shop(net)
		b.ReportAllocs()
		for b.Loop() {
			get(b, &http.Client{Transport: agentstxt.Guard(net.StubHost())}, "https://shop.example/page")
		}
	})
	b.Run("first/bare=two-GETs", func(b *testing.B) {
		net := lookleaptest.ForTest(b)
		shop(net)
		b.ReportAllocs()
		for b.Loop() {
			transport := net.Unguarded()
			client := &http.Client{Transport: transport}
			var both sync.WaitGroup
			both.Go(func() { get(b, client, "https://shop.example/agents.txt") })
			get(b, client, "https://shop.example/page")
			both.Wait()
			transport.CloseIdleConnections()
		}
	})
	for protocol, set := range map[string]func(*lookleaptest.Site){"http2": func(*lookleaptest.Site) {}, "http1": func(s *lookleaptest.Site) { s.HTTP1() }} {
		net := lookleaptest.ForTest(b)
		set(shop(net))
		for name, transport := range map[string]http.RoundTripper{"lookleap": agentstxt.Guard(net.StubHost()), "bare=http.Client": net.Unguarded()} {
			client := &http.Client{Transport: transport}
			b.Run("known/"+protocol+"/"+name, func(b *testing.B) {
				get(b, client, "https://shop.example/page")
				b.ReportAllocs()
				for b.Loop() {
					get(b, client, "https://shop.example/page")
				}
			})
			b.Run("known-16-at-once/"+protocol+"/"+name, func(b *testing.B) {
				var work sync.WaitGroup
				gets := make(chan struct{})
				for range 16 {
					work.Go(func() {
						for range gets {
							get(b, client, "https://shop.example/page")
						}
					})
				}
				b.ReportAllocs()
				for b.Loop() {
					gets <- struct{}{}
				}
				close(gets)
				work.Wait()
			})
		}
	}
}

// BenchmarkLoadSkill loads skills of 8 KiB by the URLs that their code host shows: another one
// each time, or the same one again while the copy is fresh.
func BenchmarkLoadSkill(b *testing.B) {
	net := lookleaptest.ForTest(b)
	body := strings.Repeat("Refund what was paid.\n", 8<<10/22)
	requests := 0
	net.Site("raw.githubusercontent.com").HandleFunc("*", func(w http.ResponseWriter, r *http.Request) {
		requests++
		text := "---\nname: " + path.Base(path.Dir(r.URL.Path)) + "\ndescription: Refunds an order.\n---\n" + body
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(w, text)
	})
	for name, many := range map[string]bool{"lookleap": true, "again/lookleap": false} {
		b.Run(name, func(b *testing.B) {
			requests = 0
			host := net.StubHost()
			host.Resolver = &remembering{Resolver: host.Resolver} // as the default one
			loader := dvs.NewLoader(host, dvs.Options{})
			if _, err := loader.Roots().Register("https://github.com/example-org/", dvs.ByUser); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n, want := 0, 1
			for b.Loop() {
				if many {
					n++
					want = n
				}
				skill, err := loader.Load(b.Context(), "https://github.com/example-org/skills/blob/main/s"+strconv.Itoa(n)+"/SKILL.md")
				if err != nil || skill == nil {
					b.Fatal(err)
				}
			}
			if requests != want {
				b.Fatalf("%d loads made %d requests instead of %d", b.N, requests, want)
			}
		})
	}
	b.Run("bare=GET", func(b *testing.B) {
		client := &http.Client{Transport: net.Unguarded()}
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n++
			get(b, client, "https://raw.githubusercontent.com/example-org/skills/main/s"+strconv.Itoa(n)+"/SKILL.md")
		}
	})
}

// remembering keeps answers, as the default resolver does and the one of the internet does not.
type remembering struct {
	lookleap.Resolver
	answers sync.Map
}

func (r *remembering) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	key := name + " " + t.String()
	if kept, ok := r.answers.Load(key); ok {
		answer := *kept.(*lookleap.DNSAnswer)
		return &answer, nil
	}
	answer, err := r.Resolver.Lookup(ctx, name, t)
	if err == nil {
		r.answers.Store(key, answer)
	}
	return answer, err
}

// endpoint is an AI endpoint that answers each call with one signed result.
type endpoint struct {
	net     *lookleaptest.Internet
	private *ecdsa.PrivateKey
	result  aiuri.SignedResult
}

func newEndpoint(b *testing.B, size int) *endpoint {
	e := &endpoint{net: lookleaptest.ForTest(b)}
	var err error
	if e.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		b.Fatal(err)
	}
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: e.private}, aiuri.KeyRingOptions{Now: e.net.Clock().Now})
	if err != nil {
		b.Fatal(err)
	}
	uri, err := aiuri.Parse("ai://bank.example/pay")
	if err != nil {
		b.Fatal(err)
	}
	document, err := aiuri.NewDescriptorHandler("https://bank.example", &aiuri.Descriptor{
		Endpoint: uri, JWKS: "https://bank.example/keys", Policy: aiuri.EndpointPolicy{RequireSignedResults: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	if e.result, err = aiuri.SignResult(receipt(size, ""), ring.Current(), aiuri.SignOptions{Detached: true}); err != nil {
		b.Fatal(err)
	}
	e.net.Site("bank.example").Handle("/.well-known/aiip", document).Handle("/keys", aiuri.NewKeyRingHandler(ring)).HandleFunc("/pay", e.serve)
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(aiuri.ProvenanceHeader, e.result.JWS)
	_, _ = w.Write(e.result.Body)
}

// BenchmarkSignedResult asks an endpoint and verifies its result of 10 KiB.
func BenchmarkSignedResult(b *testing.B) {
	e := newEndpoint(b, 10<<10)
	e.net.Site("ai.example").HandleFunc("/gateway/*", e.serve)
	body := []byte(`{"amount":"10.00"}`)
	b.Run("lookleap", func(b *testing.B) {
		client, err := aiuri.NewClient(e.net.StubHost(), aiuri.ClientOptions{
			Gateways: []string{"https://ai.example/gateway"}, Harmless: func(*aiuri.Request) bool { return true },
		})
		if err != nil {
			b.Fatal(err)
		}
		uri, _ := aiuri.Parse("ai://bank.example/pay")
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.Invoke(b.Context(), aiuri.Request{URI: uri, Body: body, MediaType: "application/json"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare=POST+ecdsa", func(b *testing.B) {
		client := &http.Client{Transport: e.net.Unguarded()}
		sum := sha256.Sum256(e.result.Body)
		r, s, err := ecdsa.Sign(rand.Reader, e.private, sum[:])
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Post("https://ai.example/gateway/bank.example/pay", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			answer, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if sum := sha256.Sum256(answer); err != nil || !ecdsa.Verify(&e.private.PublicKey, sum[:], r, s) {
				b.Fatal(err)
			}
		}
	})
}

// poster reaches the endpoint by a POST over https.
type poster struct {
	client *http.Client
}

func (p poster) Invoke(ctx context.Context, call *aiuri.Call) (aiuri.SignedResult, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+call.URI.Authority()+call.URI.Path(), bytes.NewReader(call.Body))
	if err != nil {
		return aiuri.SignedResult{}, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return aiuri.SignedResult{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return aiuri.SignedResult{JWS: resp.Header.Get(aiuri.ProvenanceHeader), Body: body, MediaType: resp.Header.Get("Content-Type")}, err
}

// Authorize lets every session make any call.
func (poster) Authorize(context.Context, *http.Request, *aiuri.Call) (*aiuri.Grant, error) {
	return &aiuri.Grant{User: "ada"}, nil
}

// BenchmarkGateway posts to an endpoint through a gateway, from 32 connections. One proxy verifies
// nothing, as proxies do; the other one reads each result and checks a signature of it.
func BenchmarkGateway(b *testing.B) {
	e := newEndpoint(b, 1<<10)
	forward := poster{&http.Client{Transport: e.net.Unguarded()}}
	gateway, err := aiuri.NewGateway(e.net.StubHost(), aiuri.GatewayOptions{Base: "https://ai.example/gateway", Authorizer: forward, Invoker: forward})
	if err != nil {
		b.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: e.net.Unguarded(), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "https", Host: "bank.example"})
		r.Out.URL.Path = "/pay"
	}}
	sum := sha256.Sum256(e.result.Body)
	signature, err := ecdsa.SignASN1(rand.Reader, e.private, sum[:])
	if err != nil {
		b.Fatal(err)
	}
	verifying := *proxy
	verifying.ModifyResponse = func(resp *http.Response) error {
		result, err := io.ReadAll(resp.Body)
		sum := sha256.Sum256(result)
		if err != nil || !ecdsa.VerifyASN1(&e.private.PublicKey, sum[:], signature) {
			return errors.New("the result was not signed")
		}
		resp.Body = io.NopCloser(bytes.NewReader(result))
		return nil
	}
	for name, handler := range map[string]http.Handler{
		"lookleap": gateway, "bare=httputil.ReverseProxy": proxy, "bare=ReverseProxy+ecdsa": &verifying,
	} {
		b.Run(name, func(b *testing.B) {
			e.net.Site("ai.example").Handle("*", handler)
			var work sync.WaitGroup
			calls := make(chan struct{})
			for range 32 {
				work.Go(func() {
					client := &http.Client{Transport: e.net.Unguarded()}
					for range calls {
						resp, err := client.Post("https://ai.example/gateway/bank.example/pay", "application/json", strings.NewReader(`{"amount":"10.00"}`))
						read(b, resp, err)
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				calls <- struct{}{}
			}
			close(calls)
			work.Wait()
		})
	}
}
