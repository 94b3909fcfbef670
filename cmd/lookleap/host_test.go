package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// opened returns the way into a lab for other processes.
func opened(t *testing.T, n *lookleaptest.Internet) *lookleaptest.Door {
	t.Helper()
	door, err := n.OpenDoor()
	if err != nil {
		t.Fatal(err)
	}
	return door
}

// hostFor returns the Host of a command line with these flags.
func hostFor(t *testing.T, flags ...string) *lookleap.Host {
	t.Helper()
	line, err := parseLine(append([]string{"code", "ok"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	return sessionFor(t, line.options, nil, nil).host
}

func get(t *testing.T, host *lookleap.Host, url string) (status int, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := host.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	return resp.StatusCode, nil
}

// TestFlagsShapeTheNetwork shows that the flags of a test bed reach it, and that
// the guard decides as it does in production, unless it is told not to.
func TestFlagsShapeTheNetwork(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "welcome")
	n.Site("printer.example").At("192.168.0.9").File("/", "text/plain", "secret")
	n.Name("txt.example").TXT("v=1")

	door := opened(t, n)
	host := hostFor(t, door.Args()...)
	if status, err := get(t, host, "https://shop.example/"); status != http.StatusOK {
		t.Errorf("a public site: %d, %v", status, err)
	}
	if _, err := get(t, host, "https://printer.example/"); lookleap.CodeOf(err) != lookleap.CodeBlockedAddress {
		t.Errorf("a private address: %v", err)
	}
	if _, err := get(t, host, "https://shop.example:8443/"); lookleap.CodeOf(err) != lookleap.CodeBlockedPort {
		t.Errorf("another port: %v", err)
	}
	answer, err := host.Lookup(context.Background(), "txt.example", lookleap.TypeTXT)
	if err != nil || len(answer.Records) != 1 || answer.Records[0].Text != "v=1" {
		t.Errorf("a TXT record: %+v, %v", answer, err)
	}

	free := hostFor(t, append(door.Args(), "--allow-private")...)
	if status, err := get(t, free, "https://printer.example/"); status != http.StatusOK {
		t.Errorf("a private address that is allowed: %d, %v", status, err)
	}

	strangers := hostFor(t, "--dns", "127.0.0.1:9", "--dns", door.DNS, "--connect", door.Addr)
	if _, err := get(t, strangers, "https://shop.example/"); err == nil {
		t.Error("without --ca the lab's certificate is trusted")
	}
}

func TestBadNetworkFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"--dns", "example.com"}, {"--dns", "127.0.0.1:0"}, {"--dns", "127.0.0.1:65536"}, {"--dns", "ftp://127.0.0.1:53"}, {"--dns", ":53"}, {"--dns", "https://"}, {"--dns", "tls://dns.example:0"},
		{"--anchor", "no such file"}, {"--anchor", empty},
		{"--ca", "no such file"}, {"--ca", empty},
		{"--proxy", "proxy.example:3128"}, {"--proxy", "ftp://user:secret@proxy.example"}, {"--proxy", "http://127.0.0.1:3128", "--connect", "127.0.0.1:443"}, {"--proxy-by-name"},
		{"--allow", "10.0.0.0/8"}, {"--allow", "10.0.0.1=a.example"}, {"--allow", "=a.example"},
		{"--connect", "127.0.0.1"}, {"--connect", "127.0.0.1:"}, {"--connect", ":443"},
	} {
		line, err := parseLine(append([]string{"code", "ok"}, flags...))
		if err != nil {
			t.Errorf("%q: %v", flags, err)
			continue
		}
		_, err = line.options.NewHost()
		if lookleap.CodeOf(err) != lookleap.CodeUsage || !strings.HasPrefix(err.Error(), flags[0]) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", flags, err)
		}
	}
}

// TestBadNetworkFlagsAnywhere: a wrong flag is wrong usage even where no network is used.
func TestBadNetworkFlagsAnywhere(t *testing.T) {
	for _, flags := range [][]string{{"--dns", "nonsense"}, {"--dns", ""}, {"--ca", "no such file"}, {"--connect", "x"}, {"--at", "yesterday"}} {
		var stdout, stderr strings.Builder
		if exit := run(context.Background(), append([]string{"url", "https://example.com/"}, flags...), nil, &stdout, &stderr); exit != exitUsage || stdout.String() != "" {
			t.Errorf("%q: exit %d, %s", flags, exit, &stdout)
		}
	}
}
