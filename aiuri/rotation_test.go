package aiuri_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

func TestRotation(t *testing.T) {
	w := newWorld(t)
	w.net.Clock().Freeze()
	client := must(aiuri.NewClient(w.host, w.options))
	ask := func() error { _, err := client.Invoke(t.Context(), pay); return err }
	fetched := func() int {
		return strings.Count(strings.Join(w.net.Journal().Paths("bank.example"), " "), "/jwks.json")
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	w.keys(jwk("1", ecKey()), jwk("2", otherKey()))
	w.answer = receipt("2", true)
	for _, row := range []string{"AIU-3.4-12", "L20"} {
		t.Run(row+"/reject-unknown-kid-flood", func(t *testing.T) {
			for range 3 {
				if err := ask(); lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
					t.Error(err)
				}
			}
			if n := fetched(); n != 1 {
				t.Errorf("the keys were fetched %d times", n)
			}
		})
	}
	w.net.Clock().Advance(5 * time.Minute)
	t.Run("AIU-3.4-12/accept-one-refetch", func(t *testing.T) {
		if err := ask(); err != nil || fetched() != 2 {
			t.Errorf("got %v after %d fetches", err, fetched())
		}
	})
	w.keys(jwk("2", otherKey()))
	w.answer = receipt("1", true)
	w.net.Clock().Advance(10 * time.Minute)
	for _, row := range []string{"AIU-3.4-12", "L20"} {
		t.Run(row+"/reject-removed-key", func(t *testing.T) {
			if err := ask(); lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
				t.Error(err)
			}
		})
	}
}

// TestRotationWithoutKeyServer holds that a foreign signature neither takes away
// the keys that are known, nor makes the agent knock again and again.
func TestRotationWithoutKeyServer(t *testing.T) {
	w := newWorld(t)
	w.net.Clock().Freeze()
	client := must(aiuri.NewClient(w.host, w.options))
	ask := func() error { _, err := client.Invoke(t.Context(), pay); return err }
	fetched := func() int {
		return strings.Count(strings.Join(w.net.Journal().Paths("bank.example"), " "), "/jwks.json")
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	w.net.Clock().Advance(5 * time.Minute)
	w.bank.Status("/jwks.json", 503)
	t.Run("AIU-3.4-12/reject-one-try-while-the-server-is-down", func(t *testing.T) {
		w.answer = receipt("2", true)
		for range 3 {
			err := ask()
			if lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
				t.Error(err)
			}
			var no *lookleap.VerifyError
			if !errors.As(err, &no) || !slices.ContainsFunc(no.Verdict.Checks, func(c lookleap.Check) bool { return c.Code == lookleap.CodeBadStatus }) {
				t.Errorf("nothing tells that the key server failed: %v", err)
			}
		}
		if n := fetched(); n != 2 {
			t.Errorf("the keys were fetched %d times", n)
		}
	})
	t.Run("AIU-3.4-12/accept-known-key-while-the-server-is-down", func(t *testing.T) {
		w.answer = receipt("1", true)
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}
