package aiuri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestCachesAreBounded checks that the estimated sizes of what is cached are not far below
// the measured ones, and that caches of large entries keep to their number of bytes.
func TestCachesAreBounded(t *testing.T) {
	const ecKey = `{"kid":"%d-%s","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`
	keySetOf := func(member func(int) string) func() (any, int) {
		return func() (any, int) {
			members := make([]string, MaxKeys)
			for i := range members {
				members[i] = member(i)
			}
			set, err := ParseKeySet([]byte(`{"keys":[` + strings.Join(members, ",") + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			return set, set.memory()
		}
	}
	document := func(text string) func() (any, int) {
		return func() (any, int) {
			d, err := ParseDescriptor([]byte(text), "https://bank.example")
			if err != nil {
				t.Fatal(err)
			}
			return d, d.memory()
		}
	}
	many := func(piece string, n int) string { return strings.Repeat(piece+",", n-1) + piece }
	for name, load := range map[string]func() (any, int){
		"many-keys":    keySetOf(func(i int) string { return fmt.Sprintf(ecKey, i, "") }),
		"long-key-ids": keySetOf(func(i int) string { return fmt.Sprintf(ecKey, i, strings.Repeat("x", 2000)) }),
		"long-rsa-keys": keySetOf(func(i int) string {
			modulus := bytes.Repeat([]byte{0xc5}, 512)
			return fmt.Sprintf(`{"kid":"%d","kty":"RSA","n":%q,"e":"AQAB"}`, i, base64url.EncodeToString(modulus))
		}),
		"unusable-keys": keySetOf(func(int) string { return `{}` }),
		"many-scopes":   document(`{"endpoint":"ai://bank.example/","scopes":[` + many(`"a"`, 3000) + `]}`),
		"many-members": document(`{"endpoint":"ai://bank.example/"` + func() string {
			var b strings.Builder
			for i := range 3000 {
				fmt.Fprintf(&b, `,"%d":0`, i)
			}
			return b.String()
		}() + `}`),
		"many-candidates": func() (any, int) {
			e := &evidence{}
			for i := range MaxLinks {
				e.links = append(e.links, fmt.Sprintf("AI://bank.example/%d/%s", i, strings.Repeat("x", 8000)))
			}
			d, err := chooseEndpoint("https://bank.example", e, false)
			if err != nil {
				t.Fatal(err)
			}
			d.conclude(time.Now(), time.Time{})
			return d, d.memory()
		},
	} {
		t.Run("O61/accept-estimate-of-"+name, func(t *testing.T) {
			lab.CheckEstimate(t, load)
		})
	}
	t.Run("O61/reject-key-sets-beyond-the-memory", func(t *testing.T) {
		c := newKeyCache(&lookleap.Host{}, 0, 1<<20)
		set := &KeySet{keys: []key{{id: strings.Repeat("x", 200<<10)}}}
		for i := range maxKeySets {
			loaded := flight.Loaded[fetchedKeys]{Value: fetchedKeys{set, time.Now()}, Until: time.Now().Add(time.Hour)}
			c.sets.Put(fmt.Sprint("https://bank.example/", i), loaded)
			c.renewals.Put(fmt.Sprint("https://bank.example/", i), loaded)
		}
		if n := c.sets.Bytes() + c.renewals.Bytes(); n <= 0 || n > 1<<20 {
			t.Errorf("%d bytes are cached", n)
		}
	})
	t.Run("AIU-3.4-12/reject-longer-life-than-a-day", func(t *testing.T) {
		for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 1: 1, 48 * time.Hour: 24 * time.Hour, time.Hour: time.Hour} {
			if c := newKeyCache(&lookleap.Host{}, asked, 0); c.life != want {
				t.Errorf("keys live %v if %v is asked for, want %v", c.life, asked, want)
			}
		}
	})
	t.Run("AIU-6-04/reject-entries-beyond-the-memory", func(t *testing.T) {
		c := newKeyCache(&lookleap.Host{}, 0, 1<<20)
		for i := range maxKeySets + 100 {
			loaded := flight.Loaded[fetchedKeys]{Value: fetchedKeys{&KeySet{}, time.Now()}, Until: time.Now().Add(time.Hour)}
			c.sets.Put(fmt.Sprint("https://bank.example/", i), loaded)
		}
		if n := c.sets.Len(); n == 0 || n > maxKeySets {
			t.Errorf("%d key sets are cached", n)
		}
	})
	t.Run("O61/reject-discoveries-beyond-the-memory", func(t *testing.T) {
		d := NewDiscoverer(&lookleap.Host{}, DiscovererOptions{Memory: 1 << 20})
		descriptor := &Descriptor{Scopes: []string{strings.Repeat("x", 50<<10)}}
		for i := range 100 {
			until := time.Now().Add(time.Hour)
			d.documents.Put(fmt.Sprintf("https://%d.example", i), flight.Loaded[*cachedDocument]{Value: &cachedDocument{descriptor: descriptor}, Until: until})
			d.discoveries.Put(fmt.Sprintf("https://%d.example/", i), flight.Loaded[*Discovery]{Value: &Discovery{Document: descriptor}, Until: until})
		}
		if n := d.documents.Bytes() + d.discoveries.Bytes(); n <= 0 || n > 1<<20 {
			t.Errorf("%d bytes are cached", n)
		}
	})
}

// TestCallLimitForgets: what is counted by authority is forgotten with its last call.
func TestCallLimitForgets(t *testing.T) {
	l := newCallLimit(8)
	for range 2 {
		if !l.enter("a") {
			t.Fatal("a place was refused")
		}
	}
	if l.enter("a") {
		t.Error("one authority gets more than a quarter")
	}
	l.leave("a")
	if l.of["a"] != 1 || !l.enter("a") {
		t.Error("a place was not returned")
	}
	l.leave("a")
	l.leave("a")
	if len(l.of) != 0 || l.all != 0 {
		t.Errorf("%v is kept", l.of)
	}
}

// TestNothingIsCached: a failure takes no memory of its own.
func TestNothingIsCached(t *testing.T) {
	if n := (*cachedDocument)(nil).memory() + (*Descriptor)(nil).memory() + (*Discovery)(nil).memory() + (*KeySet)(nil).memory(); n != 0 {
		t.Errorf("%d bytes", n)
	}
	if n := (*KeySet)(nil).Len(); n != 0 {
		t.Errorf("%d keys", n)
	}
	if n := (&cachedDocument{}).memory(); n != 0 { // the origin has no document
		t.Errorf("%d bytes", n)
	}
}

// TestStaleDocument: a document that is used again and again after its time has one finding about it.
func TestStaleDocument(t *testing.T) {
	at := time.Unix(1, 0)
	held := &cachedDocument{descriptor: &Descriptor{Scopes: []string{"a"}}}
	again := held.stale(at).stale(at.Add(time.Hour))
	if len(held.descriptor.Findings) != 0 || len(again.descriptor.Findings) != 1 || !isStale(again.descriptor.Findings[0]) || !again.until.Equal(at.Add(time.Hour)) || again.descriptor.Scopes[0] != "a" {
		t.Errorf("%+v of %+v", again.descriptor, held.descriptor)
	}
	if none := (&cachedDocument{}).stale(at); none.descriptor != nil || !none.until.Equal(at) {
		t.Errorf("%+v", none)
	}
}

// TestScopes: only the characters of RFC 6749 make a scope.
func TestScopes(t *testing.T) {
	for c := range 256 {
		want := c > ' ' && c < 0x7f && c != '"' && c != '\\'
		if got := isScope("a" + string([]byte{byte(c)}) + "b"); got != want {
			t.Errorf("%q: %v", rune(c), got)
		}
	}
	if isScope("") {
		t.Error("the empty text is a scope")
	}
}

// TestTemporaryFailures: after these only, an expired document is used.
func TestTemporaryFailures(t *testing.T) {
	for code, want := range map[lookleap.Code]bool{
		lookleap.CodeUnavailable: true, lookleap.CodeRateLimited: true, lookleap.CodeTimeout: true, lookleap.CodeTooSlow: true, lookleap.CodeUnreachable: true,
		lookleap.CodeConnRefused: true, lookleap.CodeConnReset: true, lookleap.CodeTruncated: true, lookleap.CodeDNSError: true,
		lookleap.CodeTLS: false, lookleap.CodeTLSTooOld: false, lookleap.CodeDNSSECBogus: false, lookleap.CodeBlockedAddress: false, lookleap.CodeForbidden: false,
		lookleap.CodeTooLarge: false, lookleap.CodeNoAddress: false, lookleap.CodeNotHTTPS: false, CodeBadDocument: false, CodePolicyDowngrade: false, "": false,
	} {
		if got := isTemporary(code); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

// TestDiscoveryVerdict: what a discovery tells about where its endpoint and its keys come from.
func TestDiscoveryVerdict(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u, err := Parse("ai://bank/pay")
	if err != nil {
		t.Fatal(err)
	}
	keys := &Descriptor{Endpoint: u, JWKS: "https://bank.example/jwks.json"}
	for name, c := range map[string]struct {
		found Discovery
		want  string
	}{
		"confirmed": {Discovery{Source: SourceLink, Confirmed: true, Document: keys, DocumentOrigin: "https://bank.example"}, "the endpoint was found\n" +
			"AIU-3.1-17 passed ok: the endpoint is advertised by link-header\n" +
			"AIU-3.1-21 passed ok: the authority's own document confirms it\n" +
			"AIU-3.1-18 passed ok: results can be verified with the keys of https://bank.example"},
		"unconfirmed": {Discovery{Source: SourceDNS}, "the endpoint was found, but its results cannot be verified\n" +
			"AIU-3.1-17 passed ok: the endpoint is advertised by dns\n" +
			"AIU-3.1-21 noted no-trust-anchor: only the origin names it, not its own authority\n" +
			"AIU-3.1-18 noted no-trust-anchor: no document names keys to verify results with"},
		"local": {Discovery{System: "forklift-42.local", keys: &KeySet{}, Document: &Descriptor{}, DocumentOrigin: "https://forklift-42.local"}, "the endpoint was found\n" +
			"AIU-2-04 passed ok: the host's local resolver names the endpoint, at forklift-42.local\n" +
			"AIU-3.1-18 passed ok: results can be verified with the keys of https://forklift-42.local"},
	} {
		c.found.Origin, c.found.Endpoint = "https://shop.example", u
		v := c.found.conclude(now, now.Add(time.Hour)).Verdict
		got := v.Summary
		for _, check := range v.Checks {
			got += fmt.Sprintf("\n%s %s %s: %s", check.Requirement, check.Status, check.Code, check.Message)
		}
		if got != c.want || !v.OK || v.Code != lookleap.CodeOK || v.Subject != "https://shop.example for ai://bank/\u2026" || !v.CheckedAt.Equal(now) || !v.Expires.Equal(now.Add(time.Hour)) {
			t.Errorf("%s: %+v: %s", name, v, got)
		}
	}
}

// TestKeySetURL: no key set is requested over anything but https.
func TestKeySetURL(t *testing.T) {
	c := newKeyCache(&lookleap.Host{}, 0, 0)
	for _, url := range []string{"", "http://bank.example/jwks.json", "https://bank example/"} {
		if set, err := c.fetch(t.Context(), url); set != nil || lookleap.CodeOf(err) == lookleap.CodeOK || !strings.HasPrefix(err.Error(), "the URL of the key set is invalid") {
			t.Errorf("%s: %v, %v", url, set, err)
		}
	}
}

// TestCalledTooLate: a plug-in is not called for a caller who has left.
func TestCalledTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	called := make(chan bool, 1)
	_, err := call(ctx, newPlugins(1, time.Minute).host, "", func(context.Context) (bool, error) { called <- true; return true, nil })
	if err != context.Canceled || len(called) != 0 {
		t.Errorf("%v, %d calls", err, len(called))
	}
}

// TestLatePlugin: the error of a call that does not return in time names the plug-in and the time.
func TestLatePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plugin{"the registry", CodeUnknownAuthority, newCallLimit(1), time.Minute}
		_, err := call(t.Context(), p, "", func(ctx context.Context) (bool, error) { <-ctx.Done(); return true, ctx.Err() })
		if late, ok := err.(*lookleap.Error); !ok || late.Code != lookleap.CodeTimeout || late.Message != "the registry did not return within 1m0s" {
			t.Errorf("got %v", err)
		}
	})
}

// TestForeignPage: a refusal says what is wrong with the page, and how to allow it.
func TestForeignPage(t *testing.T) {
	p, err := newPages("https://ai.example", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "https://ai.example/", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if bad, ok := p.check(r).(*lookleap.Error); !ok || bad.Message != "a page of another web origin sent the request" || bad.Fix != "name the page's origin in Origins" {
		t.Errorf("got %+v", bad)
	}
}

// TestErrorWithoutPlace: an error that does not come from the JSON reader has the given code.
func TestErrorWithoutPlace(t *testing.T) {
	if e := jsonError(CodeBadKeySet, errors.New("x")); e.Code != CodeBadKeySet || e.Message != "the text is not strict JSON" || e.Position.Line != 0 {
		t.Errorf("got %+v", e)
	}
}
