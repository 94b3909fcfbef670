package hostflags_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/hostflags"
)

// The development mode rewrites URLs of one's own machine, and no others.
func TestURL(t *testing.T) {
	for arg, want := range map[string]string{
		"localhost:8080":             "https://localhost.example",
		"localhost:8080/a?b":         "https://localhost.example/a?b",
		"http://localhost/":          "https://localhost.example/",
		"https://127.0.0.1:8443/x":   "https://localhost.example/x",
		"[::1]:8080":                 "https://localhost.example",
		"http://shop.example/a":      "https://localhost.example/a",
		"app.localhost:3000":         "https://localhost.example",
		"https://shop.example/a":     "https://shop.example/a",
		"ftp://localhost/":           "ftp://localhost/",
		"shop.example":               "shop.example",
		"-":                          "-",
		"https://localhost.evil.com": "https://localhost.evil.com",
	} {
		f := hostflags.Flags{Dev: true}
		if got, err := f.URL(arg); got != want || err != nil {
			t.Errorf("%s: %s, %v", arg, got, err)
		}
		plain := hostflags.Flags{}
		if got, err := plain.URL(arg); got != arg || err != nil || len(plain.Skipped()) > 0 {
			t.Errorf("without --dev, %s became %s, %v", arg, got, err)
		}
	}
}

func Example() {
	var network hostflags.Flags
	set := flag.NewFlagSet("agent", flag.ContinueOnError)
	network.Declare(set)
	if err := set.Parse([]string{"--dns", "tls://192.0.2.53", "--at", "2026-11-01T00:00:00Z"}); err != nil {
		fmt.Println(err)
		return
	}
	host, err := network.NewHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close()
	fmt.Println(host.Time().Format("2006-01-02"))

	network.Connect = "localhost"
	_, err = network.NewHost()
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// 2026-11-01
	// usage
}
