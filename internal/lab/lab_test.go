package lab_test

import (
	"context"
	"io"
	"net/http"

	"github.com/lookleap/lookleap"
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
