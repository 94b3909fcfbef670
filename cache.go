package lookleap

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap/internal/coded"
)

// Cache keeps bytes under a key until a time, so that a fleet can share what
// one agent found out. Get gives an error for which errors.Is(err,
// [fs.ErrNotExist]) holds when there is nothing; any other error counts as a
// miss and is reported. The packages stand an in-process cache of decoded
// values before it.
//
// A Cache itself need not look at the expiry of an entry: readers do, by their own
// clocks. [Host.SharedCache] returns no entry that has expired.
//
// A Cache is called from several goroutines at once. Whoever can write to it
// can grant trust: wrap it in [SealedCache] unless all its writers are trusted.
type Cache interface {
	Get(ctx context.Context, key string) (value []byte, expires time.Time, err error)
	Put(ctx context.Context, key string, value []byte, expires time.Time) error
	Delete(ctx context.Context, key string) error
}

// DefaultCacheEntries is how many entries the cache of a [Host] without one keeps.
const DefaultCacheEntries = 4096

// NewMemoryCache keeps up to entries entries in this process, the least
// recently used leaving first.
func NewMemoryCache(entries int) Cache {
	c, err := lru.New[string, memoryEntry](max(entries, 1))
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return memoryCache{c}
}

type memoryEntry struct {
	value   []byte
	expires time.Time
}

type memoryCache struct {
	entries *lru.Cache[string, memoryEntry]
}

func (c memoryCache) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	e, ok := c.entries.Get(key)
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return bytes.Clone(e.value), e.expires, nil
}

func (c memoryCache) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.entries.Add(key, memoryEntry{bytes.Clone(value), expires})
	return nil
}

func (c memoryCache) Delete(_ context.Context, key string) error {
	c.entries.Remove(key)
	return nil
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
