package lookleap

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"time"

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
	if err != nil || strings.ContainsAny(sealed, "\r\n") { // the decoder skips line breaks
		return nil, &Error{Code: CodeSealBroken, Message: "the sealed state is not base64url", Err: ErrSealBroken}
	}
	state, err := aead.Open(nil, nil, data, nil)
	if err != nil {
		return nil, ErrSealBroken
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

// ErrCacheForged is an entry of a [SealedCache] that its key did not write
// there: forged, altered, moved from another key, or with another expiry.
var ErrCacheForged = fmt.Errorf("%w: %w", coded.New(string(CodeCacheForged), "the cache entry is forged"), fs.ErrNotExist)

// SealedCache wraps a cache that others can read and write. The key has at least
// [MinKeyLen] secret random bytes, and is the same for all who share the cache.
//
// Authenticated are key, value and expiry together: an entry that does not open
// is an [ErrCacheForged], which is a miss. Hidden are the value, the sealed
// expiry and the key: the cache below sees a keyed digest of each key, so that
// no URL or name can be read from it. Not hidden are the number of entries, which
// of them are the same, their sizes, when they are used, and the expiry that the
// cache below is given so that it can drop them.
//
// SealedCache cannot notice an older entry of the same key that is put back
// before its expiry. For that reason, grants from a shared cache are held for a
// short time only.
func SealedCache(c Cache, key []byte) (Cache, error) {
	if c == nil {
		return nil, usageError("there is no cache to seal")
	}
	aead, err := newAEAD(key, "lookleap/cache/1")
	if err != nil {
		return nil, err
	}
	names, err := hkdf.Key(sha256.New, key, nil, "lookleap/cache-keys/1", 32)
	if err != nil {
		return nil, err
	}
	return sealedCache{c, aead, names}, nil
}

type sealedCache struct {
	cache Cache
	aead  cipher.AEAD
	names []byte // the key for keys
}

// name returns the key under which the cache below keeps an entry.
func (c sealedCache) name(key string) string {
	mac := hmac.New(sha256.New, c.names)
	mac.Write([]byte(key))
	return hex.EncodeToString(mac.Sum(nil))
}

func (c sealedCache) Delete(ctx context.Context, key string) error {
	return c.cache.Delete(ctx, c.name(key))
}

// Get trusts no expiry but the sealed one.
func (c sealedCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	sealed, _, err := c.cache.Get(ctx, c.name(key))
	if err != nil {
		return nil, time.Time{}, err
	}
	plain, err := c.aead.Open(nil, nil, sealed, []byte(key))
	if err != nil || len(plain) < 8 {
		return nil, time.Time{}, ErrCacheForged
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain))).UTC()
	return plain[8:], expires, nil
}

func (c sealedCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	plain := binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))
	plain = append(plain, value...)
	return c.cache.Put(ctx, c.name(key), c.aead.Seal(nil, nil, plain, []byte(key)), expires)
}
