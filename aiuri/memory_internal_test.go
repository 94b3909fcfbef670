package aiuri

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// TestCachesAreBounded checks that the estimated sizes of what is cached are not far below
// the measured ones, and that caches of large entries keep to their number of bytes.
func TestCachesAreBounded(t *testing.T) {
	many := func(n int, piece func(int) string) string {
		pieces := make([]string, n)
		for i := range pieces {
			pieces[i] = piece(i)
		}
		return strings.Join(pieces, ",")
	}
	keySetOf := func(text string) func() (any, int) {
		return func() (any, int) {
			set, err := ParseKeySet([]byte(`{"keys":[` + text + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			return set, set.memory
		}
	}
	document := func(text string) func() (any, int) {
		return func() (any, int) {
			d, err := ParseDescriptor([]byte(`{"endpoint":"ai://bank.example/",`+text+`}`), "https://bank.example")
			if err != nil {
				t.Fatal(err)
			}
			return d, d.memory
		}
	}
	const ecKey = `{"kid":"%d","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`
	for name, load := range map[string]func() (any, int){
		"many-keys":     keySetOf(many(maxKeys, func(i int) string { return fmt.Sprintf(ecKey, i) })),
		"unusable-keys": keySetOf(many(maxKeys, func(int) string { return `{}` })),
		"many-scopes":   document(`"scopes":[` + many(3000, func(int) string { return `"a"` }) + `]`),
		"many-members":  document(many(3000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) })),
		"many-candidates": func() (any, int) {
			e := &evidence{}
			for i := range 100 {
				e.links = append(e.links, fmt.Sprintf("AI://bank.example/%d/%s", i, strings.Repeat("x", 8000)))
			}
			d, err := e.choose("https://bank.example", false)
			if err != nil {
				t.Fatal(err)
			}
			return d.conclude(time.Now()), d.memory()
		},
	} {
		t.Run("O61/accept-estimate-of-"+name, func(t *testing.T) { alloctest.CheckEstimate(t, load) })
	}
	until := time.Now().Add(time.Hour)
	t.Run("AIU-6-04/reject-entries-beyond-the-memory", func(t *testing.T) {
		for _, size := range []int{0, 200 << 10} {
			c := newKeyCache(&lookleap.Host{}, 0)
			for i := range maxKeySets + 100 {
				c.sets.Put(fmt.Sprint("https://bank.example/", i), flight.Loaded[fetchedKeys]{Value: fetchedKeys{&KeySet{memory: size}, time.Now()}, Until: until})
			}
			if n := c.sets.Len(); n == 0 || n > maxKeySets || c.sets.Bytes() > keyMemory {
				t.Errorf("%d key sets of %d bytes are cached", n, size)
			}
		}
	})
	t.Run("O61/reject-discoveries-beyond-the-memory", func(t *testing.T) {
		d := NewDiscoverer(&lookleap.Host{}, DiscovererOptions{})
		descriptor := &Descriptor{memory: 100 << 10}
		for i := range 1000 {
			d.documents.Put(fmt.Sprintf("https://%d.example", i), flight.Loaded[*cachedDocument]{Value: &cachedDocument{descriptor: descriptor}, Until: until})
			d.discoveries.Put(fmt.Sprintf("https://%d.example/", i), flight.Loaded[*Discovery]{Value: &Discovery{Document: descriptor}, Until: until})
		}
		if n := d.documents.Bytes() + d.discoveries.Bytes(); n <= 0 || n > discoveryMemory {
			t.Errorf("%d bytes are cached", n)
		}
	})
}
