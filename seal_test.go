package lookleap_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestSeal(t *testing.T) {
	t.Run("of-another-process", func(t *testing.T) { // which may have another version of this module
		if state, err := (lookleap.Keys{resumeKey}).Unseal("dxv9FVd6Gjo3g4x41KSdMainwUqyvtzCdZEliihEils5"); err != nil || string(state) != "state" {
			t.Errorf("%q, %v", state, err)
		}
	})
	sealed, err := lookleap.Keys{resumeKey}.Seal([]byte("state"))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := (lookleap.Keys{resumeKey}).Unseal(sealed); err != nil || string(state) != "state" {
		t.Fatalf("got %q, %v", state, err)
	}
	if again, _ := (lookleap.Keys{resumeKey}).Seal([]byte("state")); again == sealed {
		t.Error("two seals of one state are equal, so a watcher sees repetition")
	}
	otherKey := bytes.Repeat([]byte{1}, lookleap.MinKeyLen)
	for name, open := range map[string]func() ([]byte, error){
		"altered":   func() ([]byte, error) { return lookleap.Keys{resumeKey}.Unseal(flip(sealed)) },
		"other-key": func() ([]byte, error) { return lookleap.Keys{otherKey}.Unseal(sealed) },
		"empty":     func() ([]byte, error) { return lookleap.Keys{resumeKey}.Unseal("") },
		"padding":   func() ([]byte, error) { return lookleap.Keys{resumeKey}.Unseal(sealed + "=") },
		"newline":   func() ([]byte, error) { return lookleap.Keys{resumeKey}.Unseal(sealed + "\n") },
		"from-the-cache": func() ([]byte, error) {
			below := lookleap.NewMemoryCache(1)
			c, _ := lookleap.SealedCache(below, resumeKey)
			_ = c.Put(t.Context(), "", []byte("state"), planTime)
			raw, _, err := below.Get(t.Context(), place(""))
			if err != nil {
				t.Fatal(err)
			}
			return lookleap.Keys{resumeKey}.Unseal(base64.RawURLEncoding.EncodeToString(raw))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if state, err := open(); state != nil || !errors.Is(err, lookleap.ErrSealBroken) {
				t.Fatalf("got %q, %v", state, err)
			}
		})
	}
	t.Run("spare-bits", func(t *testing.T) {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		sealed, _ := lookleap.Keys{resumeKey}.Seal([]byte("states")) // 34 bytes: the last character has four spare bits
		last := len(sealed) - 1
		for i, c := range alphabet {
			other := sealed[:last] + string(c)
			if state, err := (lookleap.Keys{resumeKey}).Unseal(other); other != sealed && err == nil {
				t.Errorf("character %d: two spellings of one seal open as %q", i, state)
			}
		}
	})
	for name, keys := range map[string]lookleap.Keys{"short": {resumeKey[:31]}, "none": nil} {
		t.Run("key-"+name, func(t *testing.T) {
			_, err := keys.Seal(nil)
			_, err2 := keys.Unseal(sealed)
			if _, err3 := keys.For("p"); lookleap.CodeOf(err) != lookleap.CodeUsage || lookleap.CodeOf(err2) != lookleap.CodeUsage || lookleap.CodeOf(err3) != lookleap.CodeUsage {
				t.Errorf("%v, %v, %v", err, err2, err3)
			}
		})
	}
}

// TestKeysChange: the first key seals, each unseals, and a purpose has keys of its own.
func TestKeysChange(t *testing.T) {
	before, after := lookleap.Keys{lookleap.NewKey()}, lookleap.Keys{lookleap.NewKey()}
	both := append(after, before...)
	for _, purpose := range []string{"", "user kim"} {
		keys := func(k lookleap.Keys) lookleap.Keys {
			if purpose == "" {
				return k
			}
			own, err := k.For(purpose)
			if err != nil {
				t.Fatal(err)
			}
			return own
		}
		seal := func(k lookleap.Keys) string {
			sealed, err := k.Seal([]byte("state"))
			if err != nil {
				t.Fatal(err)
			}
			return sealed
		}
		others, err := keys(after).For("user robin")
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			sealed string
			keys   lookleap.Keys
			ok     bool
		}{
			"accept-what-the-old-key-sealed":  {seal(keys(before)), keys(both), true},
			"accept-what-the-new-key-sealed":  {seal(keys(after)), keys(both), true},
			"accept-the-first-seals":          {seal(keys(both)), keys(after), true},
			"reject-before-the-key-is-known":  {seal(keys(both)), keys(before), false},
			"reject-after-the-key-is-removed": {seal(keys(before)), keys(after), false},
			"reject-another-purpose":          {seal(keys(after)), others, false},
		} {
			t.Run(name+" "+purpose, func(t *testing.T) {
				state, err := c.keys.Unseal(c.sealed)
				if (err == nil) != c.ok || c.ok && string(state) != "state" || !c.ok && !errors.Is(err, lookleap.ErrSealBroken) {
					t.Errorf("%q, %v", state, err)
				}
			})
		}
	}
}

func TestSealedSwap(t *testing.T) {
	t.Run("O57/reject-swapped-key-in-clear", func(t *testing.T) {
		below := lookleap.NewMemoryCache(8)
		sealed, _ := lookleap.SealedCache(below, resumeKey)
		ok, err := sealed.(lookleap.CompareAndSwapper).CompareAndSwap(t.Context(), "k", nil, []byte("v"), planTime)
		if _, _, lost := below.Get(t.Context(), place("k")); !ok || err != nil || lost != nil {
			t.Error(ok, err, lost)
		}
	})
}
