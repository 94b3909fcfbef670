package lab_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// get performs one exchange and reads the body.
func get(ctx context.Context, f lookleap.Fetcher, url string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := f.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestExchange(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.ForTest(t)
				site := net.Site("shop.example").Body("/hello", "text/plain", "hello")
				if proto == "HTTP/1.1" {
					site.HTTP1()
				}
				for range 3 {
					resp, body, err := get(t.Context(), net.ForeignTransport(), "https://shop.example/hello?x=1")
					if err != nil || body != "hello" || resp.Proto != proto || resp.StatusCode != 200 {
						t.Fatal(resp, body, err)
					}
				}
				if got := net.Journal().Paths("shop.example"); len(got) != 3 || got[0] != "GET /hello?x=1" {
					t.Error(got)
				}
			})
		})
	}
}

// A half-minute's timeout passes at once in a bubble, over real TLS.
func TestTimeoutInBubble(t *testing.T) {
	for _, http1 := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			net := lab.ForTest(t)
			site := net.Site("shop.example").Fault("/stall", lab.Stall())
			if http1 {
				site.HTTP1()
			}
			begin := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, _, err := get(ctx, net.ForeignTransport(), site.URL("/stall"))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 30*time.Second {
				t.Error(err, time.Since(begin))
			}
		})
	}
}
