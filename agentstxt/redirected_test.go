package agentstxt

import (
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestRedirectedPolicy: what a redirect on the way to a policy says about caches.
func TestRedirectedPolicy(t *testing.T) {
	redirect := func(w *world, header ...string) {
		w.serves(lab.Status(302, append([]string{"Location", "/file"}, header...)...))
		w.site.Handle("/file", served(vectorFile, "Cache-Control", "max-age=86400"))
	}
	for name, header := range map[string][]string{
		"no-store":       {"Cache-Control", "no-store"},
		"private":        {"Cache-Control", "private"},
		"private-fields": {"Cache-Control", `private="x-user"`},
		"set-cookie":     {"Set-Cookie", "user=1"},
		"vary":           {"Vary", "Cookie"},
	} {
		inWorld(t, "O34/reject-shared-"+name, Options{}, func(w *world) {
			other := w.two(lookleap.NewMemoryCache(10), Options{})
			redirect(w, header...)
			w.want(Valid, lookleap.CodeOK)
			w.asked(2)
			w.wantOf(other, Valid, lookleap.CodeOK)
			w.asked(4)
		})
	}
	inWorld(t, "O34/accept-shared", Options{}, func(w *world) {
		other := w.two(lookleap.NewMemoryCache(10), Options{})
		redirect(w)
		w.want(Valid, lookleap.CodeOK)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.asked(2)
	})
	inWorld(t, "O34/reject-304-that-hides-it", Options{}, func(w *world) {
		other := w.two(lookleap.NewMemoryCache(10), Options{})
		w.servesFile(vectorFile, "ETag", `"1"`, "Cache-Control", "private")
		w.want(Valid, lookleap.CodeOK)
		w.pass(time.Hour)
		w.servesFile(vectorFile, "ETag", `"1"`) // whose 304 says nothing of it
		w.want(Valid, lookleap.CodeOK)
		w.asked(2)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.asked(3)
	})
	for name, header := range map[string][]string{
		"max-age":  {"Cache-Control", "max-age=600"},
		"age":      {"Cache-Control", "max-age=3600", "Age", "3000"},
		"no-cache": {"Cache-Control", "no-cache"},
		"expires":  {"Expires", "0"},
	} {
		inWorld(t, "O34/reject-fresh-"+name, Options{}, func(w *world) {
			redirect(w, header...)
			w.want(Valid, lookleap.CodeOK)
			w.pass(10 * time.Minute)
			w.want(Valid, lookleap.CodeOK)
			w.asked(4)
		})
	}
}

// TestConfirmedPolicy: what a 304 is about.
func TestConfirmedPolicy(t *testing.T) {
	const newer = "/status DISALLOW"
	refuses := func(w *world) {
		w.Helper()
		w.pass(time.Hour)
		if p := w.want(Valid, lookleap.CodeOK); p.Decide("/status").Allowed {
			w.Error("the policy that was withdrawn is in force")
		}
	}
	unchanged := func(h http.Handler, header ...string) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" && r.Header.Get("If-Modified-Since") == "" {
				h.ServeHTTP(rw, r)
				return
			}
			lab.Status(304, header...).ServeHTTP(rw, r)
		})
	}
	for name, validator := range map[string][]string{
		"etag": {"ETag", `"1"`}, "weak-etag": {"ETag", `W/"1"`}, "last-modified": {"Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT"},
	} {
		inWorld(t, "O21/reject-other-url-"+name, Options{}, func(w *world) {
			w.servesFile(vectorFile, validator...)
			w.want(Valid, lookleap.CodeOK)
			w.serves(lab.Status(302, "Location", "/file"))
			w.site.Handle("/file", unchanged(served(signed(newer)), validator...))
			refuses(w)
		})
		inWorld(t, "O21/reject-url-that-led-there-"+name, Options{}, func(w *world) {
			w.serves(lab.Status(302, "Location", "/file"))
			w.site.Handle("/file", served(vectorFile, validator...))
			w.want(Valid, lookleap.CodeOK)
			w.serves(unchanged(served(signed(newer)), validator...))
			refuses(w)
		})
	}
	inWorld(t, "O21/reject-other-etag", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, lookleap.CodeOK)
		w.serves(unchanged(served(signed(newer)), "ETag", `"2"`))
		refuses(w)
	})
	inWorld(t, "O21/reject-star-as-etag", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", "*")
		w.want(Valid, lookleap.CodeOK)
		w.serves(unchanged(served(signed(newer)), "ETag", "*"))
		refuses(w)
	})
	inWorld(t, "O21/reject-304-unasked", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.serves(lab.Status(304))
		w.pass(time.Hour)
		w.want(Restricted, lookleap.CodeUnreachable)
	})
	inWorld(t, "O21/accept-confirmed-after-redirect", Options{}, func(w *world) {
		w.serves(lab.Status(302, "Location", "/file"))
		w.site.Handle("/file", served(vectorFile, "ETag", `"1"`))
		first := w.want(Valid, lookleap.CodeOK)
		w.pass(time.Hour)
		if again := w.want(Valid, lookleap.CodeOK); again != first {
			w.Error("not confirmed")
		}
		w.asked(4)
	})
}
