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
		if state, err := lookleap.Unseal(resumeKey, "dxv9FVd6Gjo3g4x41KSdMainwUqyvtzCdZEliihEils5"); err != nil || string(state) != "state" {
			t.Errorf("%q, %v", state, err)
		}
	})
	sealed, err := lookleap.Seal(resumeKey, []byte("state"))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := lookleap.Unseal(resumeKey, sealed); err != nil || string(state) != "state" {
		t.Fatalf("got %q, %v", state, err)
	}
	if again, _ := lookleap.Seal(resumeKey, []byte("state")); again == sealed {
		t.Error("two seals of one state are equal, so a watcher sees repetition")
	}
	otherKey := bytes.Repeat([]byte{1}, lookleap.MinKeyLen)
	for name, open := range map[string]func() ([]byte, error){
		"altered":   func() ([]byte, error) { return lookleap.Unseal(resumeKey, flip(sealed)) },
		"other-key": func() ([]byte, error) { return lookleap.Unseal(otherKey, sealed) },
		"empty":     func() ([]byte, error) { return lookleap.Unseal(resumeKey, "") },
		"padding":   func() ([]byte, error) { return lookleap.Unseal(resumeKey, sealed+"=") },
		"newline":   func() ([]byte, error) { return lookleap.Unseal(resumeKey, sealed+"\n") },
		"from-the-cache": func() ([]byte, error) {
			below := lookleap.NewMemoryCache(1)
			c, _ := lookleap.SealedCache(below, resumeKey)
			_ = c.Put(t.Context(), "", []byte("state"), planTime)
			raw, _, err := below.Get(t.Context(), place(""))
			if err != nil {
				t.Fatal(err)
			}
			return lookleap.Unseal(resumeKey, base64.RawURLEncoding.EncodeToString(raw))
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
		sealed, _ := lookleap.Seal(resumeKey, []byte("states")) // 34 bytes: the last character has four spare bits
		last := len(sealed) - 1
		for i, c := range alphabet {
			other := sealed[:last] + string(c)
			if state, err := lookleap.Unseal(resumeKey, other); other != sealed && err == nil {
				t.Errorf("character %d: two spellings of one seal open as %q", i, state)
			}
		}
	})
	if _, err := lookleap.Seal(resumeKey[:31], nil); err == nil {
		t.Error("a short key was taken")
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
