package aiuri_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestDiscoveryCache(t *testing.T) {
	const bank = "https://www.bank.example"
	withPolicy := func(policy string) string {
		return strings.Replace(documentOf("ai://bank/x", bank), "{", `{"policy":`+policy+`,`, 1)
	}
	t.Run("AIU-3.1-23/accept-kept-five-minutes", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank)).Fault(documentPath, lookleaptest.Header("Cache-Control", "no-store"))
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		ask := func() int {
			if _, err := discoverer.Discover(t.Context(), bank); err != nil {
				t.Fatal(err)
			}
			return strings.Count(strings.Join(net.Journal().Paths("www.bank.example"), " "), documentPath)
		}
		ask()
		net.Clock().Advance(5*time.Minute - time.Second)
		if n := ask(); n != 1 {
			t.Errorf("%d exchanges within five minutes", n)
		}
		net.Clock().Advance(2 * time.Second)
		if n := ask(); n != 2 {
			t.Errorf("%d exchanges after five minutes", n)
		}
	})
	t.Run("AIU-3.1-23/accept-at-most-a-day", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank)).Fault(documentPath, lookleaptest.Header("Cache-Control", "max-age=99999999"))
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), bank)
		if err != nil || d.Expires.After(net.Clock().Now().Add(24*time.Hour)) {
			t.Errorf("got %v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-23/accept-dns-by-its-ttl", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Clock().Freeze()
		net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank)).Fault(documentPath, lookleaptest.Header("Cache-Control", "max-age=36000"))
		net.Name("_aiip.www.bank.example").TXT("endpoint=ai://bank/x").TTL(20 * time.Minute)
		for dns, want := range map[bool]time.Duration{false: 10 * time.Hour, true: 20 * time.Minute} {
			d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: dns}).Discover(t.Context(), bank)
			if err != nil {
				t.Fatal(err)
			}
			if kept := d.Expires.Sub(net.Clock().Now()); kept > want || kept < want-time.Minute { // Date has whole seconds
				t.Errorf("with DNS %v it expires after %v, want %v", dns, kept, want)
			}
		}
	})
	const strict = `{"auth":"oauth2","mtls":true,"requireSignedResults":true}`
	for _, c := range []struct {
		id, before, after string
		accept            bool
	}{
		{"AIU-3.1-23/reject-weaker", `{"mtls":true}`, `{"mtls":false}`, false},
		{"AIU-3.1-23/accept-weaker-by-option", `{"mtls":true}`, `{"mtls":false}`, true},
		{"AIU-3.2-16/reject-weaker", `{"mtls":true}`, `{"mtls":false}`, false},
		{"AIU-3.2-16/accept-weaker-by-option", `{"mtls":true}`, `{"mtls":false}`, true},
		{"AIU-3.2-16/reject-auth", strict, `{"mtls":true}`, false},
		{"AIU-3.2-16/reject-mtls", strict, `{"auth":"oauth2"}`, false},
		{"AIU-3.2-16/reject-signed", strict, `{"auth":"oauth2","mtls":true,"requireSignedResults":false}`, false},
		{"AIU-3.2-16/accept-same", strict, strict, false},
		{"L10/reject-weaker", `{"mtls":true}`, `{"mtls":false}`, false},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("www.bank.example").File(documentPath, "application/json", withPolicy(c.before))
			o := aiuri.DiscovererOptions{}
			if c.accept {
				o.AcceptWeaker = func(string, aiuri.EndpointPolicy, aiuri.EndpointPolicy) bool { return true }
			}
			discoverer := aiuri.NewDiscoverer(net.StubHost(), o)
			if _, err := discoverer.Discover(t.Context(), bank); err != nil {
				t.Fatal(err)
			}
			site.File(documentPath, "application/json", withPolicy(c.after))
			net.Clock().Advance(25 * time.Hour)
			_, err := discoverer.Discover(t.Context(), bank)
			if accept := strings.Contains(c.id, "/accept"); (err == nil) != accept || !accept && lookleap.CodeOf(err) != aiuri.CodePolicyDowngrade {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O10/reject-weaker-after-the-clock-is-set-back", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		site := net.Site("www.bank.example").File(documentPath, "application/json", withPolicy(`{"mtls":true}`))
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		if _, err := discoverer.Discover(t.Context(), bank); err != nil {
			t.Fatal(err)
		}
		site.File(documentPath, "application/json", withPolicy(`{"mtls":false}`))
		net.Clock().Advance(-30 * 24 * time.Hour)
		if _, err := discoverer.Discover(t.Context(), bank); lookleap.CodeOf(err) != aiuri.CodePolicyDowngrade {
			t.Errorf("got %v", err)
		}
	})
	t.Run("AIU-6-04/accept-purge", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank))
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		for range 2 {
			if _, err := discoverer.Discover(t.Context(), bank); err != nil {
				t.Fatal(err)
			}
			discoverer.Purge(bank)
		}
		if n := len(net.Journal().Requests("www.bank.example")); n != 4 {
			t.Errorf("%d exchanges", n)
		}
	})
	t.Run("AIU-6-04/accept-purge-however-it-is-spelled", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		site := net.Site("www.bank.example").File(documentPath, "application/json", withPolicy(`{"mtls":true}`))
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		if _, err := discoverer.Discover(t.Context(), bank); err != nil {
			t.Fatal(err)
		}
		site.File(documentPath, "application/json", withPolicy(`{"mtls":false}`))
		discoverer.Purge("HTTPS://WWW.Bank.Example:443/")
		if found, err := discoverer.Discover(t.Context(), bank); err != nil || found.Document.Policy.MTLS {
			t.Errorf("something was kept: %+v, %v", found, err)
		}
	})
	t.Run("AIU-3.1-23/accept-one-exchange-each", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		page(net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank)), "ai://bank/x", "ai://bank/x")
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() {
				if _, err := discoverer.Discover(t.Context(), bank+"/"); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if got := net.Journal().Paths("www.bank.example"); len(got) != 2 {
			t.Errorf("got %v", got)
		}
	})
}
