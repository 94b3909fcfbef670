package pgengine

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap"
)

// Cache returns the cache. It is a [lookleap.CompareAndSwapper].
func (e *Engine) Cache() lookleap.Cache { return cache{e} }

type cache struct{ *Engine }

// dropAt returns when Purge may delete an entry. The clocks of the readers decide about its expiry.
func dropAt(expires time.Time) time.Time { return expires.UTC().Add(time.Hour) }

func (c cache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	var value []byte
	var expires string
	err := c.pool.QueryRow(ctx, c.sql(`SELECT value, expires FROM lookleap.cache WHERE key = $1`), []byte(key)).Scan(&value, &expires)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, time.Time{}, fs.ErrNotExist
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	until, err := time.Parse(time.RFC3339Nano, expires)
	if err != nil {
		return nil, time.Time{}, errors.New("the entry is damaged")
	}
	return value, until, nil
}

func (c cache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	_, err := c.pool.Exec(ctx, c.sql(`INSERT INTO lookleap.cache VALUES ($1, $2, $3, $4)
		ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, expires = EXCLUDED.expires, drop_at = EXCLUDED.drop_at`),
		[]byte(key), notNil(value), expires.UTC().Format(time.RFC3339Nano), dropAt(expires))
	return err
}

func notNil(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// notify tells the listeners about a withdrawal. A notification holds less than 8,000 bytes.
const notify = `SELECT count(pg_notify($2, CASE WHEN octet_length($1::bytea) < 5000 THEN encode($1, 'base64') ELSE '' END)) FROM changed`

func (c cache) Delete(ctx context.Context, key string) error {
	_, err := c.pool.Exec(ctx, c.sql(`WITH changed AS (DELETE FROM lookleap.cache WHERE key = $1 RETURNING 1) `+notify),
		[]byte(key), c.channel())
	return err
}

// CompareAndSwap replaces an entry that is unchanged, and notifies the listeners.
func (c cache) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	change := `INSERT INTO lookleap.cache VALUES ($1, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1`
	args := []any{[]byte(key), c.channel(), notNil(value), expires.UTC().Format(time.RFC3339Nano), dropAt(expires)}
	if old != nil {
		change = `UPDATE lookleap.cache SET value = $3, expires = $4, drop_at = $5 WHERE key = $1 AND value = $6 RETURNING 1`
		args = append(args, old)
	}
	var changed int
	err := c.pool.QueryRow(ctx, c.sql(`WITH changed AS (`+change+`) `+notify), args...).Scan(&changed)
	return changed > 0, err
}

// channel is the channel of withdrawals.
func (e *Engine) channel() string { return "withdrawn " + e.schema }

// Listen calls withdrawn with the key of each cache entry that is deleted or swapped, by any
// process, until ctx ends or the connection is lost. The key is "" if it is long. What happened
// before Listen began, or while it was not running, is not reported: read the cache again then.
func (e *Engine) Listen(ctx context.Context, withdrawn func(key string)) error {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	raw := conn.Hijack() // it must not go back to the pool while it listens
	defer func() { _ = raw.Close(context.WithoutCancel(ctx)) }()
	if _, err := raw.Exec(ctx, "LISTEN "+pgx.Identifier{e.channel()}.Sanitize()); err != nil {
		return err
	}
	for {
		n, err := raw.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		key, err := base64.StdEncoding.DecodeString(n.Payload)
		if err != nil {
			return err
		}
		withdrawn(string(key))
	}
}
