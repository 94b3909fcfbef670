package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

type answering func(*http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// TestAnswerSize: a server cannot fill the memory with one answer.
func TestAnswerSize(t *testing.T) {
	for kind, bounded := range map[string]bool{"application/json": true, "text/plain": true, "text/event-stream": false} {
		name := map[bool]string{true: "reject-large-", false: "accept-large-"}[bounded] + strings.ReplaceAll(kind, "/", "-")
		t.Run(name, func(t *testing.T) {
			own, err := newOneHost("https://a.example/", nil, answering(func(*http.Request) *http.Response {
				body := io.NopCloser(io.LimitReader(zeros{}, maxBody+1))
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: body}
			}))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := (&http.Client{Transport: own}).Get("https://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); (lookleap.CodeOf(err) == lookleap.CodeTooLarge) != bounded {
				t.Error(err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(data []byte) (int, error) { clear(data); return len(data), nil }
