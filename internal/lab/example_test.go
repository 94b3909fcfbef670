package lab_test

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

func Example() {
	net := lab.New()
	defer net.Close()
	net.Clock().Set(time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC))

	shop := net.Site("shop.example").Body("/agents.txt", "text/plain", "a policy\n")
	net.Name("rebind.example", "127.0.0.1")

	client := &http.Client{Transport: net.Host()} // the real guarded fetcher
	resp, err := client.Get(shop.URL("/agents.txt"))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp.Body.Close()
	fmt.Println(resp.StatusCode, resp.TLS.PeerCertificates[0].NotBefore.Year())

	_, err = client.Get("https://rebind.example/")
	fmt.Println(errors.Is(err, lookleap.ErrDenied))

	shop.Fault("/agents.txt", lab.Truncated())
	fmt.Println(net.Journal().Paths("shop.example"), len(net.Journal().Dials("127.0.0.1")))
	// Output:
	// 200 2031
	// true
	// [GET /agents.txt] 0
}
