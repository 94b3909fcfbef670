package aiuri_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// newRing returns a key ring with one new key.
func newRing(id string) (*aiuri.KeyRing, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return aiuri.NewKeyRing(aiuri.SigningKey{ID: id, Private: private}, aiuri.KeyRingOptions{})
}

// publishBank publishes everything that others need of an endpoint: the document,
// the keys, and a page that advertises it.
func publishBank(net *lookleaptest.Internet) (*aiuri.KeyRing, error) {
	ring, err := newRing("2026-05")
	if err != nil {
		return nil, err
	}
	endpoint, err := aiuri.Parse("ai://bank.example/payments")
	if err != nil {
		return nil, err
	}
	document, err := aiuri.NewDescriptorHandler("https://bank.example", &aiuri.Descriptor{
		Endpoint: endpoint, JWKS: "https://bank.example/keys", Scopes: []string{"initiate-payment"}, Policy: aiuri.EndpointPolicy{RequireSignedResults: true},
	})
	if err != nil {
		return nil, err
	}
	net.Site("bank.example").Handle("/.well-known/aiip", document).Handle("/keys", aiuri.NewKeyRingHandler(ring))
	net.Site("shop.example").Handle("/", lookleaptest.Status(200, "Link", aiuri.AdvertiseLink(endpoint)))
	return ring, nil
}

// line is a transport to an endpoint. The draft defines none, so here it is a
// function.
type line func(*aiuri.Call) (aiuri.SignedResult, error)

func (l line) Invoke(_ context.Context, c *aiuri.Call) (aiuri.SignedResult, error) { return l(c) }

// allowAll allows every session everything. Only an example may do that.
type allowAll struct{}

func (allowAll) Authorize(_ context.Context, _ *http.Request, c *aiuri.Call) (*aiuri.Grant, error) {
	return &aiuri.Grant{User: "user", Scopes: c.Scopes}, nil
}

// openGateway publishes the bank and serves a gateway in front of it.
func openGateway(net *lookleaptest.Internet) error {
	ring, err := publishBank(net)
	if err != nil {
		return err
	}
	gateway, err := aiuri.NewGateway(net.Host(), aiuri.GatewayOptions{
		Base:       "https://ai.example/gateway",
		Authorizer: allowAll{},
		Invoker: line(func(*aiuri.Call) (aiuri.SignedResult, error) {
			result, err := aiuri.SignResult([]byte(`{"paid":true}`), ring.Current(), aiuri.SignOptions{Detached: true})
			result.MediaType = "application/json"
			return result, err
		}),
	})
	if err != nil {
		return err
	}
	net.Site("ai.example").Handle("/gateway/*", gateway)
	return nil
}

// user is a user who reads and agrees.
type user struct{}

func (user) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	fmt.Println("asked to", r.Summary)
	return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{r.Items[0].ID}}, nil
}

func ExampleClient_Invoke() {
	net := lookleaptest.NewInternet() // an internet in one process; in an agent: host := &lookleap.Host{Prompter: …}
	defer net.Close()
	if err := openGateway(net); err != nil {
		fmt.Println(err)
		return
	}
	host := net.Host()
	host.Prompter = user{}
	client, err := aiuri.NewClient(host, aiuri.ClientOptions{Gateways: []string{"https://ai.example/gateway"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.Invoke(context.Background(), aiuri.Request{
		Page: "https://shop.example/", Body: []byte(`{"amount":"10.00"}`), MediaType: "application/json", Scopes: []string{"initiate-payment"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(receipt.Payload), receipt.KeyID)

	_, err = client.Invoke(context.Background(), aiuri.Request{Page: "https://shop.example/", Scopes: []string{"close-account"}})
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// asked to invoke the endpoint ai://bank.example/…
	// {"paid":true} 2026-05
	// scope
}

// away is a user who will answer later, perhaps to another process.
type away struct{}

func (away) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

func ExampleClient_Resume() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	if err := openGateway(net); err != nil {
		fmt.Println(err)
		return
	}
	host := net.Host()
	host.Prompter = away{}
	client, err := aiuri.NewClient(host, aiuri.ClientOptions{Gateways: []string{"https://ai.example/gateway"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Invoke(context.Background(), aiuri.Request{Page: "https://shop.example/", Body: []byte(`{"amount":"10.00"}`)})
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		fmt.Println(err)
		return
	}
	fmt.Println("nothing was sent yet")

	// Later: pending.State was kept (see lookleap.Keys), and the user decided.
	decision, _ := user{}.PromptConsent(context.Background(), pending.Request)
	receipt, err := client.Resume(context.Background(), pending.State, decision)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(receipt.Payload))
	// Output:
	// nothing was sent yet
	// asked to invoke the endpoint ai://bank.example/…
	// {"paid":true}
}

func ExampleDiscoverer_Resolve() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	if _, err := publishBank(net); err != nil {
		fmt.Println(err)
		return
	}
	u, _ := aiuri.Parse("ai://bank.example/payments/2026?ref=1")
	found, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Resolve(context.Background(), u)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Endpoint, found.Document.JWKS, found.Verifiable())

	u, _ = aiuri.Parse("ai://bank/payments") // a registry name, which the DNS is never asked for
	_, err = aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Resolve(context.Background(), u)
	fmt.Println(err)
	// Output:
	// ai://bank.example/payments https://bank.example/keys true
	// ai://bank/…: the authority is a registry name, but no registry is configured (unknown-authority)
}

func ExampleNewGateway() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	if err := openGateway(net); err != nil { // calls NewGateway
		fmt.Println(err)
		return
	}
	browser := &http.Client{Transport: net.Unguarded()} // anything that speaks HTTPS
	for _, path := range []string{"/gateway/bank.example/payments", "/gateway/bank.example/a%2Fb"} {
		resp, err := browser.Post("https://ai.example"+path, "application/json", strings.NewReader(`{"amount":"10.00"}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode, resp.Header.Get(aiuri.ProvenanceHeader) != "", strings.TrimSpace(string(body)))
	}
	// Output:
	// 200 true {"paid":true}
	// 400 false {"status":400,"title":"servers and clients interpret the path differently","code":"ambiguous"}
}

func ExampleParseDescriptor() {
	d, err := aiuri.ParseDescriptor([]byte(`{"endpoint":"ai://bank/pay","jwks":"https://www.bank.example/keys","policy":{"auth":"oauth2","mtls":true}}`), "https://www.bank.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Endpoint, d.Policy.Auth, d.Policy.MTLS)
	_, err = aiuri.ParseDescriptor([]byte(`{"endpoint":"ai://bank/pay","jwks":"https://keys.example/keys"}`), "https://www.bank.example")
	fmt.Println(err)
	// Output:
	// ai://bank/pay oauth2 true
	// 1:36 /jwks: the keys are at another origin than the document (jwks-origin); publish them at the document's origin
}

func ExampleNewDescriptorHandler() {
	endpoint, _ := aiuri.Parse("ai://bank.example/payments")
	_, err := aiuri.NewDescriptorHandler("https://bank.example", &aiuri.Descriptor{Endpoint: endpoint, JWKS: "https://cdn.example/keys", Policy: aiuri.EndpointPolicy{RequireSignedResults: true}})
	fmt.Println(lookleap.CodeOf(err)) // what no client would accept is not served
	fmt.Println(aiuri.AdvertiseLink(endpoint))
	fmt.Println(aiuri.LinkElement(endpoint))
	for _, record := range aiuri.DNSRecords("bank.example", endpoint, "aiip.bank.example", 443, time.Hour) {
		fmt.Println(record)
	}
	// Output:
	// jwks-origin
	// <ai://bank.example/payments>; rel="aiip"
	// <link rel="aiip" href="ai://bank.example/payments">
	// _aiip._tcp.bank.example. 3600 IN SRV 0 0 443 aiip.bank.example.
	// _aiip.bank.example. 3600 IN TXT "endpoint=ai://bank.example/payments"
}

func ExampleKeyRing_Rotate() {
	clock := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	key := func(id string) aiuri.SigningKey {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return aiuri.SigningKey{ID: id, Private: private}
	}
	ring, err := aiuri.NewKeyRing(key("2026-04"), aiuri.KeyRingOptions{Now: func() time.Time { return clock }})
	if err == nil {
		err = ring.Rotate(key("2026-05"))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, later := range []time.Duration{0, 10 * time.Minute, time.Hour} {
		clock = clock.Add(later)
		set, err := aiuri.ParseKeySet(ring.JWKS())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ring.Current().ID, "signs,", set.Len(), "published")
	}
	// Output:
	// 2026-04 signs, 2 published
	// 2026-05 signs, 2 published
	// 2026-05 signs, 1 published
}
