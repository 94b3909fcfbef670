package lookleaptest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// A test of an agent asserts that one request succeeds and that another one, which leads to
// a private address, is refused before anything is sent.
func Example() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	shop := net.Site("shop.example").File("/menu", "text/plain", "Tea 2.50\n")
	printer := net.Site("printer.attacker.example").At("192.168.0.9")

	client := &http.Client{Transport: net.Host()} // or the agent that is tested
	resp, err := client.Get(shop.URL("/menu"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	_, err = client.Get(printer.URL("/"))
	fmt.Println(resp.StatusCode, errors.Is(err, lookleap.ErrDenied))

	fmt.Println(net.Journal().Paths("shop.example"), len(net.Journal().Dials("192.168.0.9")))
	// Output:
	// 200 true
	// [GET /menu] 0
}

// The host validates DNSSEC: records of a signed zone are secure, and records whose
// signatures have expired are an error.
func ExampleInternet_Sign() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Sign("bank.example").Name("_anml.bank.example").TXT("v=anml1")
	net.Sign("lapsed.example", lookleaptest.SignaturesExpired).Name("_anml.lapsed.example").TXT("v=anml1")
	net.Name("_anml.village.example").TXT("v=anml1")

	host := net.Host()
	for _, name := range []string{"bank.example", "village.example", "lapsed.example"} {
		answer, err := host.Lookup(context.Background(), "_anml."+name, lookleap.TypeTXT)
		if err != nil {
			fmt.Println(name, lookleap.CodeOf(err))
			continue
		}
		fmt.Println(name, answer.DNSSEC, answer.Records[0].Text)
	}
	// Output:
	// bank.example secure v=anml1
	// village.example insecure v=anml1
	// lapsed.example dnssec-bogus
}

// A fault lets a test see what an agent does when a policy file arrives incomplete.
func ExampleSite_Fault() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	shop := net.Site("shop.example").
		File("/", "text/plain", "welcome").
		File("/agents.txt", "text/plain", "/ ALLOW\n").
		Fault("/agents.txt", lookleaptest.Truncated())

	client := &http.Client{Transport: agentstxt.Guard(net.Host())}
	_, err := client.Get(shop.URL("/"))
	fmt.Println(lookleap.CodeOf(err))
	fmt.Println(net.Journal().Paths("shop.example"))
	// Output:
	// connection-reset
	// [GET /agents.txt]
}

// The clock moves all that depends on time: caches, certificates and signatures.
func ExampleClock() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Clock().Freeze()
	net.Clock().Set(time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC))

	host := net.Host()
	net.Clock().Advance(90 * time.Minute)
	fmt.Println(host.Time().Format(time.RFC3339))
	// Output:
	// 2031-05-01T10:30:00Z
}
