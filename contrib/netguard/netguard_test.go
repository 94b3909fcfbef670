package netguard_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/netguard"
)

// client is the client of the package comment, for a server that has a port of its own.
func client(server *httptest.Server, control bool) *http.Client {
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = nil
	dialer := &net.Dialer{}
	if control {
		port := uint16(server.Listener.Addr().(*net.TCPAddr).Port)
		dialer.Control = netguard.Control(port)
	}
	transport.DialContext = dialer.DialContext
	return &http.Client{Transport: transport, CheckRedirect: netguard.CheckRedirect}
}

func TestClient(t *testing.T) {
	target := ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/end" {
			http.Redirect(w, r, target, http.StatusFound)
		}
	}))
	defer server.Close()
	t.Run("F01/reject-private", func(t *testing.T) {
		_, err := client(server, true).Get(server.URL + "/end")
		if !errors.Is(err, netguard.ErrDenied) || !errors.Is(err, lookleap.ErrDenied) || lookleap.CodeOf(err) != lookleap.CodeBlockedAddress ||
			!strings.Contains(err.Error(), "127.0.0.0/8") {
			t.Errorf("%v", err)
		}
	})
	for name, c := range map[string]struct {
		target string
		ok     bool
	}{
		"accept-https":    {"/end", true},
		"reject-http":     {"http://127.0.0.1/", false},
		"reject-file":     {"file:///etc/passwd", false},
		"reject-userinfo": {"https://user:secret@127.0.0.1/", false},
		"reject-endless":  {"/again", false},
	} {
		t.Run("F10/"+name, func(t *testing.T) {
			target = c.target
			resp, err := client(server, false).Get(server.URL)
			if (err == nil) != c.ok || !c.ok && !errors.Is(err, netguard.ErrDenied) {
				t.Errorf("%v", err)
			}
			if resp != nil {
				_ = resp.Body.Close()
			}
		})
	}
	t.Run("F01/accept-public", func(t *testing.T) {
		for addr, public := range map[string]bool{"93.184.216.34": true, "10.0.0.1": false, "64:ff9b::a00:1": false} {
			if err := netguard.Check(netip.MustParseAddr(addr)); (err == nil) != public {
				t.Errorf("%s: %v", addr, err)
			}
		}
	})
}

func Example() {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // a proxy would connect in the place of the dialer
	transport.DialContext = (&net.Dialer{Control: netguard.Control()}).DialContext
	client := &http.Client{Transport: transport, CheckRedirect: netguard.CheckRedirect}

	_, err := client.Get("https://169.254.169.254/latest/meta-data/")
	fmt.Println(errors.Is(err, netguard.ErrDenied))
	fmt.Println(err)
	// Output:
	// true
	// Get "https://169.254.169.254/latest/meta-data/": dial tcp 169.254.169.254:443: address 169.254.169.254 may not be dialled: it lies in 169.254.169.254/32, cloud metadata
}
