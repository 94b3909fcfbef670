package dvs

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestTrustRecordBound stores the largest record, and refuses a larger one.
func TestTrustRecordBound(t *testing.T) {
	for size, code := range map[int]lookleap.Code{maxTrustRecord: lookleap.CodeOK, maxTrustRecord + 1: CodeTrustStore} {
		store := lookleap.NewMemoryStore()
		err := newTrustKeeper(store).change(t.Context(), "skill/x", func([]byte) ([]byte, error) { return make([]byte, size), nil })
		_, missing := store.Get(t.Context(), "skill/x")
		if lookleap.CodeOf(err) != code || errors.Is(missing, fs.ErrNotExist) != (code != lookleap.CodeOK) {
			t.Errorf("%d bytes: %v, %v", size, err, missing)
		}
	}
}

// TestSessionBounds bounds what a loader remembers of a session.
func TestSessionBounds(t *testing.T) {
	l := NewLoader(&lookleap.Host{}, Options{})
	until := l.clock.Now().Add(time.Hour)
	for i := range maxConsents + 1 {
		key := consentKey{effectFetch, "https://shop.example/SKILL.md", fmt.Sprint(i)}
		if l.rememberUntil(key, until); !l.remembered(key) {
			t.Fatal("the consent that was given last is forgotten")
		}
		l.approved(t.Context(), "https://shop.example/SKILL.md", plannedFile{Name: fmt.Sprint(i), Digest: DigestOf(nil)})
	}
	if len(l.consents) > maxConsents || len(l.scripts) > maxConsents {
		t.Errorf("%d consents and %d scripts are remembered", len(l.consents), len(l.scripts))
	}
	key := consentKey{effectFetch, "https://shop.example/SKILL.md", "past"}
	if l.rememberUntil(key, l.clock.Now()); l.remembered(key) {
		t.Error("a consent without time is remembered")
	}
	l.rememberUntil(key, l.clock.Now().Add(1000*time.Hour))
	if most := l.clock.Now().Add(l.limits.Kept); l.consents[key.digest()].until.After(most) {
		t.Error("a consent is remembered for longer than a day")
	}
}
