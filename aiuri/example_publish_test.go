package aiuri_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/lookleap/lookleap/aiuri"
)

func ExampleLinkTargets() {
	fmt.Println(aiuri.LinkTargets([]string{`</style.css>; rel=preload, <ai://bank.example/payments>; rel="aiip"`}))
	// Output: [ai://bank.example/payments]
}

func ExampleElementTargets() {
	page := `<!doctype html><head><title>Shop</title><link rel="aiip" href="ai://bank.example/pay?amount=10&currency=USD"></head>
		<body>What a customer wrote: <link rel="aiip" href="ai://evil.example/">`
	fmt.Println(aiuri.ElementTargets([]byte(page)))
	// Output: [ai://bank.example/pay?amount=10&currency=USD]
}

func ExampleAdvertiseLink() {
	endpoint, err := aiuri.Parse("ai://bank.example/pay?amount=10&currency=USD")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("Link:", aiuri.AdvertiseLink(endpoint))
	fmt.Println(aiuri.LinkElement(endpoint))
	fmt.Println(strings.Join(aiuri.DNSRecords("bank.example", endpoint, "aiip.bank.example", 443, time.Hour), "\n"))
	// Output:
	// Link: <ai://bank.example/pay?amount=10&currency=USD>; rel="aiip"
	// <link rel="aiip" href="ai://bank.example/pay?amount=10&amp;currency=USD">
	// _aiip._tcp.bank.example. 3600 IN SRV 0 0 443 aiip.bank.example.
	// _aiip.bank.example. 3600 IN TXT "endpoint=ai://bank.example/pay?amount=10&currency=USD"
}

func ExampleParseKeySet() {
	keys, err := aiuri.ParseKeySet([]byte(`{"keys":[
		{"kty":"OKP","crv":"Ed25519","kid":"2026-05","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
		{"kty":"oct","kid":"shared","k":"c2VjcmV0"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(keys.Len(), "usable")
	for _, f := range keys.Findings() {
		fmt.Println(f.Position.Path, f.Message)
	}
	// Output:
	// 1 usable
	// /keys/1 a key is symmetric or private
}

func ExampleSignResult() {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	key := aiuri.SigningKey{ID: "2026-05", Private: private}
	claims := &aiuri.Claims{Issuer: "ai://bank.example/payments", Expires: time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)}
	result, err := aiuri.SignResult([]byte(`{"paid":true}`), key, aiuri.SignOptions{Claims: claims, Detached: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	protected, signature, _ := strings.Cut(result.JWS, "..") // detached: the payload is the body
	fmt.Println(protected != "", signature != "", string(result.Body))
	// Output: true true {"paid":true}
}
