package fetch_test

import (
	"net/http"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestMediaType(t *testing.T) {
	tests := []struct {
		name   string
		values []string
		ok     bool
	}{
		{"F16/accept-exact", []string{"application/anml+json"}, true},
		{"F16/accept-parameters", []string{"application/anml+json; charset=utf-8"}, true},
		{"F16/accept-letter-case", []string{"Application/ANML+JSON"}, true},
		{"F16/accept-among-several", []string{"application/anml+xml"}, true},
		{"F16/reject-html", []string{"text/html"}, false},
		{"F16/reject-missing", nil, false},
		{"F16/reject-empty", []string{""}, false},
		{"F16/reject-list", []string{"application/anml+json, text/html"}, false},
		{"F16/reject-two-headers", []string{"application/anml+json", "text/html"}, false},
		{"F16/reject-two-equal-headers", []string{"application/anml+json", "application/anml+json"}, false},
		{"F16/reject-doubled-charset", []string{"application/anml+json; charset=utf-8; charset=utf-16"}, false},
		{"F16/reject-bad-parameter", []string{"application/anml+json; charset"}, false},
		{"F16/reject-suffix", []string{"application/anml+jsonx"}, false},
		{"F16/reject-related", []string{"application/json"}, false},
		{"F16/reject-wildcard", []string{"*/*"}, false},
		{"F16/reject-no-subtype", []string{"application"}, false},
	}
	n := lookleaptest.ForTest(t)
	site := n.Site("shop.example").File("/anml", "text/plain", `{"anml":"1.0"}`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			site.Fault("/anml", lookleaptest.Header("Content-Type", test.values...))
			resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{
				URL: parse(t, "https://shop.example/anml"), Accept: []string{"application/anml+json", "application/anml+xml"},
			})
			if test.ok {
				if err != nil || resp.MediaType != "application/anml+json" && resp.MediaType != "application/anml+xml" {
					t.Errorf("%+v, %v", resp, err)
				}
				return
			}
			e := failure(t, resp, err, lookleap.CodeMediaType)
			if e.Transient || e.Status != http.StatusOK {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("accept-is-sent", func(t *testing.T) {
		if got := n.Journal().Requests()[0].Header.Get("Accept"); got != "application/anml+json, application/anml+xml" {
			t.Errorf("Accept %q", got)
		}
	})
	t.Run("any-type-where-none-is-asked-for", func(t *testing.T) {
		site.Fault("/anml", lookleaptest.Header("Content-Type"))
		resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{URL: parse(t, "https://shop.example/anml")})
		if err != nil || resp.MediaType != "" {
			t.Errorf("%+v, %v", resp, err)
		}
	})
	t.Run("type-of-a-refused-answer-is-told", func(t *testing.T) {
		site.Fault("/anml", lookleaptest.Header("Content-Type", "text/html; charset=utf-8"))
		resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{URL: parse(t, "https://shop.example/anml"), Accept: []string{"text/plain"}})
		if e := failure(t, resp, err, lookleap.CodeMediaType); e.MediaType != "text/html" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("error-answers-have-their-own", func(t *testing.T) {
		site.Status("/gone", http.StatusGone, "Content-Type", "text/html")
		resp, err := fetch.Do(t.Context(), n.Fetcher(lookleap.FetcherOptions{}), &fetch.Request{URL: parse(t, "https://shop.example/gone"), Accept: []string{"text/plain"}})
		if err != nil || resp.Status != http.StatusGone || resp.Body != nil {
			t.Errorf("%+v, %v", resp, err)
		}
	})
}

func TestText(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		code                    lookleap.Code
	}{
		{"F17/accept-undeclared", "text/plain", "grüezi", lookleap.CodeOK},
		{"F17/accept-utf-8", `text/plain; charset="UTF-8"`, "grüezi", lookleap.CodeOK},
		{"F17/accept-ascii", "text/plain; charset=us-ascii", "hello", lookleap.CodeOK},
		{"F17/reject-utf-16-with-utf-8-bytes", "text/plain; charset=utf-16", "hello", lookleap.CodeCharset},
		{"F17/reject-utf-7", "text/plain; charset=utf-7", "+ADw-script+AD4-", lookleap.CodeCharset},
		{"F17/reject-latin-1", "text/plain; charset=iso-8859-1", "hello", lookleap.CodeCharset},
		{"F17/reject-empty-charset", `text/plain; charset=""`, "hello", lookleap.CodeCharset},
		{"F17/reject-ascii-with-utf-8-bytes", "text/plain; charset=us-ascii", "grüezi", lookleap.CodeCharset},
		{"F17/reject-ascii-with-the-first-byte-above", "text/plain; charset=us-ascii", "\x80", lookleap.CodeCharset},
		{"F17/reject-latin-1-bytes", "text/plain", "gr\xfcezi", lookleap.CodeNotUTF8},
		{"F17/reject-surrogates", "text/plain; charset=utf-8", "\xed\xa0\x80", lookleap.CodeNotUTF8},
		{"F17/reject-utf-16-bytes", "text/plain", "\xff\xfeh\x00", lookleap.CodeNotUTF8},
	}
	n := lookleaptest.ForTest(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n.Site("shop.example").File("/", test.contentType, test.body)
			text, err := must(t, n.Fetcher(lookleap.FetcherOptions{}), new(fetch.Request), "https://shop.example/").Text()
			if lookleap.CodeOf(err) != test.code || (err == nil) != (text == test.body) {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
