package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// A guarded fetcher is a transport for any http.Client. What it must not dial,
// it does not dial, whatever the name resolves to.
func ExampleNewFetcher() {
	internet := lookleaptest.NewInternet()
	defer internet.Close()
	internet.Site("shop.example").File("/", "text/plain", "welcome")
	internet.Name("rebound.example", "169.254.169.254")

	fetcher := lookleap.NewFetcher(internet.FetcherOptions()) // in production, FetcherOptions{}
	defer fetcher.(io.Closer).Close()
	client := &http.Client{Transport: fetcher}
	for _, url := range []string{"https://shop.example/", "https://rebound.example/", "http://shop.example/"} {
		resp, err := client.Get(url)
		if err != nil {
			fmt.Println(lookleap.CodeOf(err), errors.Is(err, lookleap.ErrDenied))
			continue
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	// Output:
	// 200 OK
	// blocked-address true
	// not-https false
}

// Go's own resolver serves if DNSSEC is not needed: it never says more than
// indeterminate.
func ExampleNetResolver() {
	internet := lookleaptest.NewInternet()
	defer internet.Close()
	internet.Name("shop.example", "93.184.216.34")

	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: internet.ResolverOptions().DialContext}) // in production: NetResolver(nil)
	answer, err := resolver.Lookup(context.Background(), "shop.example", lookleap.TypeA)
	fmt.Println(answer.Records[0].Addr, answer.DNSSEC, err)
	// Output: 93.184.216.34 indeterminate <nil>
}
