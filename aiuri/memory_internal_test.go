package aiuri

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
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
			return set, set.memory
		}
	}
	document := func(text string) func() (any, int) {
		return func() (any, int) {
			d, err := ParseDescriptor([]byte(text), "https://bank.example")
			if err != nil {
				t.Fatal(err)
			}
			return d, d.memory
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
		c := newKeyCache(&lookleap.Host{}, 0)
		set := &KeySet{memory: 200 << 10}
		for i := range maxKeySets {
			loaded := flight.Loaded[fetchedKeys]{Value: fetchedKeys{set, time.Now()}, Until: time.Now().Add(time.Hour)}
			c.sets.Put(fmt.Sprint("https://bank.example/", i), loaded)
			c.renewals.Put(fmt.Sprint("https://bank.example/", i), loaded)
		}
		if n := c.sets.Bytes() + c.renewals.Bytes(); n <= 0 || n > keyMemory {
			t.Errorf("%d bytes are cached", n)
		}
	})
	t.Run("AIU-3.4-12/reject-longer-life-than-a-day", func(t *testing.T) {
		for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 1: 1, 48 * time.Hour: 24 * time.Hour, time.Hour: time.Hour} {
			if c := newKeyCache(&lookleap.Host{}, asked); c.life != want {
				t.Errorf("keys live %v if %v is asked for, want %v", c.life, asked, want)
			}
		}
	})
	t.Run("AIU-6-04/reject-entries-beyond-the-memory", func(t *testing.T) {
		c := newKeyCache(&lookleap.Host{}, 0)
		for i := range maxKeySets + 100 {
			loaded := flight.Loaded[fetchedKeys]{Value: fetchedKeys{&KeySet{}, time.Now()}, Until: time.Now().Add(time.Hour)}
			c.sets.Put(fmt.Sprint("https://bank.example/", i), loaded)
		}
		if n := c.sets.Len(); n == 0 || n > maxKeySets {
			t.Errorf("%d key sets are cached", n)
		}
	})
	t.Run("O61/reject-discoveries-beyond-the-memory", func(t *testing.T) {
		d := NewDiscoverer(&lookleap.Host{}, DiscovererOptions{})
		descriptor := &Descriptor{memory: 100 << 10}
		for i := range 1000 {
			until := time.Now().Add(time.Hour)
			d.documents.Put(fmt.Sprintf("https://%d.example", i), flight.Loaded[*cachedDocument]{Value: &cachedDocument{descriptor: descriptor}, Until: until})
			d.discoveries.Put(fmt.Sprintf("https://%d.example/", i), flight.Loaded[*Discovery]{Value: &Discovery{Document: descriptor}, Until: until})
		}
		if n := d.documents.Bytes() + d.discoveries.Bytes(); n <= 0 || n > discoveryMemory {
			t.Errorf("%d bytes are cached", n)
		}
	})
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

// TestKeySetURL: no key set is requested over anything but https.
func TestKeySetURL(t *testing.T) {
	c := newKeyCache(&lookleap.Host{}, 0)
	for _, url := range []string{"", "http://bank.example/jwks.json", "https://bank example/"} {
		if set, err := c.fetch(t.Context(), url); set != nil || lookleap.CodeOf(err) == lookleap.CodeOK || !strings.HasPrefix(err.Error(), "the URL of the key set is invalid") {
			t.Errorf("%s: %v, %v", url, set, err)
		}
	}
}
