package fetch_test

import (
	"crypto/tls"
	"net/http"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestVerified(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("/", "text/plain", "a")
	u, err := domain.Parse("https://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	careless := net.Unguarded()
	careless.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	for name, c := range map[string]struct {
		f    lookleap.Fetcher
		want lookleap.Code
	}{
		"verified":     {net.Unguarded(), lookleap.CodeOK},
		"not-verified": {careless, lookleap.CodeTLS},
		"not-reported": {canned{}, lookleap.CodeOK},
	} {
		if _, err := fetch.Do(t.Context(), c.f, &fetch.Request{URL: u, Verified: true}); lookleap.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// canned answers by itself and reports no connection.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 2, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
