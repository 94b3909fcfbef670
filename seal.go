package lookleap

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
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

// ErrSealBroken is the error of [Keys.Unseal] for state that was forged, changed, or sealed with
// another key or for another purpose.
var ErrSealBroken = coded.New(string(CodeSealBroken), "the sealed state was forged, changed or sealed with another key")

// MinKeyLen is the minimum length in bytes of a key of [Keys] and for [SealedCache].
const MinKeyLen = 32

// Keys encrypt and authenticate state that passes through untrusted systems, such as a browser, a
// queue or a model. The newest key is the first: it seals, and each key unseals. So to change keys,
// first let every process know the new one, as the last; then make it the first; then remove the old
// one, when what it sealed is no longer used, such as after [PlanLifetime]. A key consists of at least
// [MinKeyLen] secret random bytes.
type Keys [][]byte

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, MinKeyLen)
	_, _ = rand.Read(key) // never fails
	return key
}

const purposeState = "lookleap/state/1"

// For returns keys for one purpose, such as one user or one kind of record: what they seal is not
// unsealed for another purpose.
func (k Keys) For(purpose string) (Keys, error) {
	if len(k) == 0 {
		return nil, errNoKey
	}
	own := make(Keys, len(k))
	for i, key := range k {
		var err error
		if own[i], err = deriveKey(key, "lookleap/for/1 "+purpose); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// Seal encrypts state with the first key. The result is URL-safe text.
func (k Keys) Seal(state []byte) (string, error) {
	if len(k) == 0 {
		return "", errNoKey
	}
	aead, err := newAEAD(k[0], purposeState)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, state, nil)), nil
}

// Unseal decrypts what Seal encrypted with one of the keys. It returns [ErrSealBroken] for anything
// else.
func (k Keys) Unseal(sealed string) ([]byte, error) {
	if len(k) == 0 {
		return nil, errNoKey
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || strings.ContainsAny(sealed, "\r\n") { // the decoder skips line breaks
		return nil, &Error{Code: CodeSealBroken, Message: "the sealed state is not base64url", Err: ErrSealBroken}
	}
	for _, key := range k {
		aead, err := newAEAD(key, purposeState)
		if err != nil {
			return nil, err
		}
		if state, err := aead.Open(nil, nil, data, nil); err == nil {
			return state, nil
		}
	}
	return nil, ErrSealBroken
}

var errNoKey = usageError("there is no key to seal with")

// newAEAD derives a key for one purpose, so that sealed state cannot be opened as a cache
// entry. AES-256-GCM uses a random nonce for each message and prepends it.
func newAEAD(key []byte, purpose string) (cipher.AEAD, error) {
	derived, err := deriveKey(key, purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// deriveKey derives a key for one purpose. It refuses keys that are too short.
func deriveKey(key []byte, purpose string) ([]byte, error) {
	if len(key) < MinKeyLen {
		return nil, usageError(fmt.Sprintf("a sealing key needs at least %d bytes, this one has %d", MinKeyLen, len(key)))
	}
	return hkdf.Key(sha256.New, key, nil, purpose, 32)
}

// ErrCacheForged is the error of a [SealedCache] for an entry that was forged, changed, or
// moved from another key. It is also an [fs.ErrNotExist], so it counts as a miss.
var ErrCacheForged = fmt.Errorf("%w: %w", coded.New(string(CodeCacheForged), "the cache entry is forged"), fs.ErrNotExist)

// SealedCache wraps a cache that others can read and write. The key has at least
// [MinKeyLen] secret random bytes, and is the same for all who share the cache.
//
// Each entry authenticates its key, value and expiry together. Get returns
// [ErrCacheForged] for an entry that it cannot open. The underlying cache sees a keyed
// digest of each key and an encrypted value, so no URL or name can be read from it. It
// sees the number, sizes and uses of the entries, and their expiry.
//
// SealedCache cannot detect that an older entry of the same key was put back before it
// expired. For this reason, grants from a shared cache are used only for a short time.
func SealedCache(c Cache, key []byte) (Cache, error) {
	if c == nil {
		return nil, usageError("there is no cache to seal")
	}
	aead, err := newAEAD(key, "lookleap/cache/1")
	if err != nil {
		return nil, err
	}
	names, err := deriveKey(key, "lookleap/cache-keys/1")
	if err != nil {
		return nil, err
	}
	sealed := sealedCache{c, aead, names}
	if swapper, ok := c.(CompareAndSwapper); ok {
		return sealedSwapper{sealed, swapper}, nil
	}
	return sealed, nil
}

type sealedCache struct {
	cache Cache
	aead  cipher.AEAD
	names []byte // the key of the digests that stand for keys
}

// name returns the key of an entry in the underlying cache.
func (c sealedCache) name(key string) string {
	mac := hmac.New(sha256.New, c.names)
	mac.Write([]byte(key))
	return hex.EncodeToString(mac.Sum(nil))
}

func (c sealedCache) Delete(ctx context.Context, key string) error {
	return c.cache.Delete(ctx, c.name(key))
}

// Get uses only the sealed expiry.
func (c sealedCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	sealed, _, err := c.cache.Get(ctx, c.name(key))
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.open(key, sealed)
}

// open decrypts an entry of a key.
func (c sealedCache) open(key string, sealed []byte) ([]byte, time.Time, error) {
	plain, err := c.aead.Open(nil, nil, sealed, []byte(key))
	if err != nil || len(plain) < 8 {
		return nil, time.Time{}, ErrCacheForged
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain))).UTC()
	return plain[8:], expires, nil
}

func (c sealedCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.cache.Put(ctx, c.name(key), c.seal(key, value, expires), expires)
}

// seal encrypts an entry of a key.
func (c sealedCache) seal(key string, value []byte, expires time.Time) []byte {
	plain := binary.BigEndian.AppendUint64(nil, uint64(expires.UnixMilli()))
	return c.aead.Seal(nil, nil, append(plain, value...), []byte(key))
}
