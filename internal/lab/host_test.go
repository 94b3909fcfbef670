package lab_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// The fetcher is the real guarded one: made-up public addresses pass, private ones are not even
// dialled.
func TestHostIsGuarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lab.ForTest(t)
		host := net.Host()
		net.Site("shop.example").Body("/", "text/plain", "hi")
		net.Site("intranet.example").At("10.0.0.5").Body("/", "text/plain", "secret")
		net.Site("169.254.169.254").Body("/", "text/plain", "keys")
		if resp, body, err := get(t.Context(), host, "https://shop.example/"); err != nil || body != "hi" || resp.ProtoMajor != 2 {
			t.Error(resp, body, err)
		}
		for _, url := range []string{"https://intranet.example/", "https://169.254.169.254/", "https://127.0.0.1/"} {
			if _, _, err := get(t.Context(), host, url); !errors.Is(err, lookleap.ErrDenied) {
				t.Error(url, err)
			}
		}
		if d := net.Journal().Dials(); len(d) != 1 || d[0].By != "fetcher" || d[0].SNI != "shop.example" || d[0].ALPN != "h2" {
			t.Errorf("%+v", d)
		}
		// A transport without a guard gets there.
		if _, body, err := get(t.Context(), net.ForeignTransport(), "https://intranet.example/"); err != nil || body != "secret" {
			t.Error(body, err)
		}
		if n := net.Journal().Bytes("10.0.0.5"); n == 0 {
			t.Error("no bytes were counted")
		}
	})
}

func TestRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lab.ForTest(t)
		good := net.Site("rebind.example").Body("/", "text/plain", "public")
		net.Site("victim.example").At("127.0.0.1").Body("/", "text/plain", "private")
		net.Name("rebind.example").Rebind(good.Addr().String(), "127.0.0.1")
		for i, want := range []error{nil, lookleap.ErrDenied, lookleap.ErrDenied} {
			if _, _, err := get(t.Context(), net.Fetcher(), "https://rebind.example/"); !errors.Is(err, want) {
				t.Error(i, err)
			}
		}
		if d := net.Journal().Dials("127.0.0.1"); len(d) != 0 {
			t.Error(d)
		}
		if q := net.Journal().Queries("rebind.example"); len(q) < 3 {
			t.Error(q)
		}
	})
}

func TestHostTimesOut(t *testing.T) {
	for name, fate := range map[string]lab.Connection{"Blackhole": lab.Blackhole, "Silent": lab.Silent} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.ForTest(t)
				net.Site("shop.example").Connection(fate)
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, _, err := get(ctx, net.Host(), "https://shop.example/")
				if took := time.Since(begin); err == nil || took == 0 || took > time.Minute {
					t.Error(err, took)
				}
			})
		})
	}
}
