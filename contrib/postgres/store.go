package pgengine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap"
)

// Plans returns the store of plans, for [lookleap.Host].Plans.
func (e *Engine) Plans() lookleap.Store { return records{e, "plans", []byte{}} }

// Store returns the store of a user.
func (e *Engine) Store(user string) lookleap.Store { return records{e, "store", []byte(user)} }

// records are the records of one owner.
type records struct {
	*Engine
	kind  string
	owner []byte
}

func (r records) Get(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	err := r.pool.QueryRow(ctx, r.sql(`SELECT value FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key = $3`),
		r.kind, r.owner, []byte(key)).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("there is no record %q: %w", key, fs.ErrNotExist)
	}
	return value, err
}

const (
	createRecord  = `INSERT INTO lookleap.records (kind, owner, key, value, drop_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`
	replaceRecord = `UPDATE lookleap.records SET value = $4, drop_at = $5 WHERE kind = $1 AND owner = $2 AND key = $3 AND value = $6`
)

// Put stores a record. [Engine.Purge] drops it after until.
func (r records) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	statement, args := createRecord, []any{r.kind, r.owner, []byte(key), notNil(value), nil}
	if !until.IsZero() {
		args[4] = until.UTC()
	}
	if old != nil {
		statement, args = replaceRecord, append(args, old)
	}
	done, err := r.pool.Exec(ctx, r.sql(statement), args...)
	if err == nil && done.RowsAffected() == 0 {
		return lookleap.ErrConflict
	}
	return err
}

func (r records) Delete(ctx context.Context, key string) error {
	_, err := r.pool.Exec(ctx, r.sql(`DELETE FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key = $3`),
		r.kind, r.owner, []byte(key))
	return err
}

func (r records) Keys(ctx context.Context, prefix string) ([]string, error) {
	rows, err := r.pool.Query(ctx, r.sql(`SELECT key FROM lookleap.records WHERE kind = $1 AND owner = $2 AND key >= $3 AND substring(key FROM 1 FOR octet_length($3::bytea)) = $3`), r.kind, r.owner, []byte(prefix))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var key []byte
		err := row.Scan(&key)
		return string(key), err
	})
}
