package aiuri_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

func ExampleParse() {
	u, err := aiuri.Parse("AI://factory.example/%7epay?amount=10&currency=USD")
	fmt.Println(u.Normalize(), err)
	_, err = aiuri.Parse("ai://user@bank/x")
	fmt.Println(err)
	// Output:
	// ai://factory.example/~pay?amount=10&currency=USD <nil>
	// 1:6: the authority has user information (userinfo); remove everything up to the @
}

func ExampleFromIRI() {
	u, err := aiuri.FromIRI("ai://bücher.example/é")
	fmt.Println(u, err)
	// Output: ai://xn--bcher-kva.example/%C3%A9 <nil>
}

func ExampleMapping() {
	gateway, err := aiuri.NewMapping("https://ai.example/gateway")
	if err != nil {
		fmt.Println(err)
		return
	}
	u, _ := aiuri.Parse("ai://bank/service/payments?amount=10")
	url, err := gateway.URL(u)
	fmt.Println(url, err)
	back, err := gateway.Split(url)
	fmt.Println(back, err)
	// Output:
	// https://ai.example/gateway/bank/service/payments?amount=10 <nil>
	// ai://bank/service/payments?amount=10 <nil>
}

func ExampleDiscoverer_Discover() {
	net := lookleaptest.NewInternet() // an internet in one process; in an agent: host := &lookleap.Host{}
	defer net.Close()
	net.Site("bank.example").File("/.well-known/aiip", "application/json",
		`{"endpoint":"ai://bank.example/pay","jwks":"https://bank.example/keys","scopes":["initiate-payment"]}`)
	net.Site("shop.example").Handle("/", lookleaptest.Status(200, "Link", `<ai://bank.example/pay>; rel="aiip"`))
	found, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Discover(context.Background(), "https://shop.example/")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Endpoint, found.Source, found.Confirmed, found.DocumentOrigin)
	// Output: ai://bank.example/pay link-header true https://bank.example
}

func ExampleVerifyResult() {
	ring, err := newRing("2026-05")
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := aiuri.SignResult([]byte(`{"paid":true}`), ring.Current(), aiuri.SignOptions{Detached: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := aiuri.ParseKeySet(ring.JWKS())
	if err != nil {
		fmt.Println(err)
		return
	}
	verified, err := aiuri.VerifyResult(receipt, keys, time.Now(), aiuri.Expectation{})
	fmt.Println(string(verified.Payload), verified.KeyID, err)
	receipt.Body = []byte(`{"paid":false}`)
	_, err = aiuri.VerifyResult(receipt, keys, time.Now(), aiuri.Expectation{})
	fmt.Println(err)
	// Output:
	// {"paid":true} 2026-05 <nil>
	// a result: the signature does not match the result (rejected-bad-signature)
}
