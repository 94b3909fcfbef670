package wellknown

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/lookleaptest"
)

// TestOneBadMinute: a server that fails once neither takes a good document away nor keeps the
// next one out for long.
func TestOneBadMinute(t *testing.T) {
	const at = "/.well-known/security.txt"
	good := lookleaptest.Body("text/plain", "good")
	for _, c := range []struct {
		name string
		bad  []string // header of the 503
	}{{"500", nil}, {"503-with-a-day", []string{"Retry-After", "86400"}}} {
		setUp := func(t *testing.T) (*lookleaptest.Internet, *lookleaptest.Site, func() State) {
			net := lookleaptest.ForTest(t)
			net.Clock().Freeze()
			site := net.Site("site.example")
			client := NewClient(net.StubHost(), Options{})
			return net, site, func() State {
				t.Helper()
				r, err := client.Fetch(t.Context(), "https://site.example", "security.txt")
				if err != nil {
					t.Fatal(err)
				}
				return r.State
			}
		}
		t.Run("O14", func(t *testing.T) {
			t.Run("accept-good-copy-beside-"+c.name, func(t *testing.T) {
				net, site, state := setUp(t)
				site.Handle(at, good)
				state()
				net.Clock().Advance(defaultKeptFor + time.Second)
				site.Handle(at, lookleaptest.Status(503, c.bad...))
				if got := state(); got != Present {
					t.Errorf("%s within the bound", got)
				}
				net.Clock().Advance(staleFor)
				if got := state(); got != Unavailable {
					t.Errorf("%s beyond the bound", got)
				}
			})
			t.Run("accept-healed-after-"+c.name, func(t *testing.T) {
				net, site, state := setUp(t)
				site.Handle(at, lookleaptest.Sequence(lookleaptest.Status(503, c.bad...), good))
				if got := state(); got != Unavailable {
					t.Errorf("%s", got)
				}
				net.Clock().Advance(maxOutage)
				if got := state(); got != Present {
					t.Errorf("%s after the longest wait", got)
				}
			})
			t.Run("reject-good-copy-that-was-removed-after-"+c.name, func(t *testing.T) {
				net, site, state := setUp(t)
				site.Handle(at, good)
				state()
				net.Clock().Advance(defaultKeptFor + time.Second)
				site.Handle(at, lookleaptest.Status(404))
				if got := state(); got != Absent {
					t.Errorf("%s", got)
				}
			})
		})
	}
}

// TestStaleAfterRedirect: any response of the chain can forbid the use of an expired document.
func TestStaleAfterRedirect(t *testing.T) {
	const at = "/.well-known/security.txt"
	for name, c := range map[string]struct {
		redirect, file string // Cache-Control
		want           State
	}{
		"accept-silent":                           {"", "max-age=600", Present},
		"accept-redirect-stale-if-error":          {"stale-if-error=600", "max-age=600", Present},
		"reject-no-store-redirect":                {"no-store", "max-age=600", Unavailable},
		"reject-no-cache-redirect":                {"no-cache", "max-age=600", Unavailable},
		"reject-must-revalidate-redirect":         {"must-revalidate", "max-age=600", Unavailable},
		"reject-must-revalidate":                  {"", "max-age=600, must-revalidate", Unavailable},
		"reject-redirect-stale-if-error-of-0":     {"stale-if-error=0", "max-age=600, stale-if-error=3600", Unavailable},
		"reject-file-stale-if-error-of-0":         {"stale-if-error=3600", "max-age=600, stale-if-error=0", Unavailable},
		"reject-redirect-stale-if-error-in-words": {"stale-if-error=long", "max-age=600", Unavailable},
	} {
		t.Run("O34/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Clock().Freeze()
			site := net.Site("site.example").Handle(at, lookleaptest.Status(302, "Location", "/file", "Cache-Control", c.redirect)).
				Handle("/file", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					w.Header().Set("Cache-Control", c.file)
					_, _ = w.Write([]byte("good"))
				}))
			client := NewClient(net.StubHost(), Options{})
			for _, want := range []State{Present, c.want} {
				if r, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil || r.State != want {
					t.Errorf("got %v, %v, want %s", r, err, want)
				}
				net.Clock().Advance(601 * time.Second)
				site.Handle(at, lookleaptest.Status(503))
			}
		})
	}
}

// TestClientMemory: many large documents leave room for others.
func TestClientMemory(t *testing.T) {
	t.Run("O61", func(t *testing.T) {
		t.Run("accept-documents-of-1-MiB-within-the-limit", func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			client := NewClient(net.StubHost(), Options{Limits: Limits{Memory: 4 << 20}})
			body := strings.Repeat("x", 1<<20)
			for i := range 12 {
				host := fmt.Sprintf("site-%d.example", i)
				net.Site(host).File("/.well-known/security.txt", "text/plain", body)
				if r, err := client.Fetch(t.Context(), "https://"+host, "security.txt"); err != nil || r.State != Present {
					t.Fatal(r, err)
				}
			}
			if got := client.documents.Bytes(); got > 4<<20 || got < 2<<20 {
				t.Errorf("%d bytes in %d results", got, client.documents.Len())
			}
		})
	})
}
