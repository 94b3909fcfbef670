package pgengine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
)

// records are the records of a user.
type records struct {
	*Engine
	kind string
	user []byte
}

func (r records) Get(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	err := r.pool.QueryRow(ctx, r.sql(`SELECT value FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key = $3`),
		r.kind, r.user, []byte(key)).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("there is no record %q: %w", key, fs.ErrNotExist)
	}
	return value, err
}

func (r records) Delete(ctx context.Context, key string) error {
	_, err := r.pool.Exec(ctx, r.sql(`DELETE FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key = $3`),
		r.kind, r.user, []byte(key))
	return err
}

// create stores a record that does not exist, and reports whether it did.
func (r records) create(ctx context.Context, key string, value []byte) (bool, error) {
	done, err := r.pool.Exec(ctx, r.sql(`INSERT INTO lookleap.records VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`),
		r.kind, r.user, []byte(key), notNil(value))
	return done.RowsAffected() > 0, err
}

// list returns the keys with a prefix.
func (r records) list(ctx context.Context, prefix string) ([]string, error) {
	rows, err := r.pool.Query(ctx, r.sql(`SELECT key FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key >= $3 AND substring(key FROM 1 FOR octet_length($3::bytea)) = $3`), r.kind, r.user, []byte(prefix))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var key []byte
		err := row.Scan(&key)
		return string(key), err
	})
}

// Store returns the store of a user.
func (e *Engine) Store(user string) agent.Store { return store{records{e, "store", []byte(user)}} }

type store struct{ records }

func (s store) Put(ctx context.Context, key string, value []byte) error {
	_, err := s.pool.Exec(ctx, s.sql(`INSERT INTO lookleap.records VALUES ($1, $2, $3, $4) ON CONFLICT (kind, owner, key) DO UPDATE SET value = EXCLUDED.value`), s.kind, s.user, []byte(key), notNil(value))
	return err
}

func (s store) Create(ctx context.Context, key string, value []byte) error {
	created, err := s.create(ctx, key, value)
	if err == nil && !created {
		return fmt.Errorf("there already is a record %q: %w", key, fs.ErrExist)
	}
	return err
}

func (s store) Keys(ctx context.Context, prefix string) ([]string, error) { return s.list(ctx, prefix) }

// TrustStore returns the trust store of a user.
func (e *Engine) TrustStore(user string) dvs.TrustStore {
	return trustStore{records{e, "trust", []byte(user)}}
}

type trustStore struct{ records }

func (t trustStore) Put(ctx context.Context, key string, old, value []byte) error {
	var ok bool
	var err error
	if old == nil {
		ok, err = t.create(ctx, key, value)
	} else {
		done, failed := t.pool.Exec(ctx, t.sql(`UPDATE lookleap.records SET value = $4 WHERE kind = $1 AND owner = $2 AND key = $3 AND value = $5`), t.kind, t.user, []byte(key), notNil(value), old)
		ok, err = done.RowsAffected() > 0, failed
	}
	if err == nil && !ok {
		return dvs.ErrTrustConflict
	}
	return err
}

func (t trustStore) List(ctx context.Context, prefix string) ([]string, error) {
	return t.list(ctx, prefix)
}
