package lookleap

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap/internal/coded"
)

// ErrSealBroken is sealed state that was forged, altered, or sealed with
// another key or for another purpose.
var ErrSealBroken = coded.New(string(CodeSealBroken), "the seal is broken")

// MinKeyLen is the least length in octets of a key for [Seal], [Unseal] and
// [SealedCache].
const MinKeyLen = 32

// Seal encrypts and authenticates state that has to pass through hands that are
// not trusted: a browser, a queue, a model. The result is URL-safe text. The
// key holds at least [MinKeyLen] secret random octets.
func Seal(key, state []byte) (string, error) {
	aead, err := newAEAD(key, "lookleap/state/1")
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, state, nil)), nil
}

// Unseal gives back what Seal was given, or an [ErrSealBroken].
func Unseal(key []byte, sealed string) ([]byte, error) {
	aead, err := newAEAD(key, "lookleap/state/1")
	if err != nil {
		return nil, err
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || strings.ContainsAny(sealed, "\r\n") { // which the decoder skips
		return nil, fmt.Errorf("lookleap: %w: not base64url", ErrSealBroken)
	}
	state, err := aead.Open(nil, nil, data, nil)
	if err != nil {
		return nil, fmt.Errorf("lookleap: %w", ErrSealBroken)
	}
	return state, nil
}

// newAEAD derives a key for one purpose, so that what was sealed as state can
// never be opened as a cache entry. AES-256-GCM draws a fresh nonce a message
// and prepends it.
func newAEAD(key []byte, purpose string) (cipher.AEAD, error) {
	if len(key) < MinKeyLen {
		return nil, usageError(fmt.Sprintf("a sealing key needs at least %d bytes, this one has %d", MinKeyLen, len(key)))
	}
	derived, err := hkdf.Key(sha256.New, key, nil, purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
