package pgengine

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lookleap/lookleap"
)

// Options configure an [Engine]. The zero value is safe and works.
type Options struct {
	// Schema holds the tables of this fleet; "" is "lookleap". Fleets with different schemas
	// share nothing.
	Schema string
}

// Engine is a PostgreSQL database. Its methods may be called from several goroutines at once.
type Engine struct {
	pool   *pgxpool.Pool
	schema string // quoted
}

// Open connects to the database at a URL and migrates its schema. Close the engine after use.
func Open(ctx context.Context, url string, o Options) (*Engine, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the URL of the database is malformed",
			Err: errors.New("see the documentation of pgxpool.New"), Fix: "use postgres://user:password@host:port/database"}
	}
	e, err := New(ctx, pool, o)
	if err != nil {
		pool.Close()
	}
	return e, err
}

// New returns an engine that uses a pool of the caller, and migrates its schema.
func New(ctx context.Context, pool *pgxpool.Pool, o Options) (*Engine, error) {
	if o.Schema == "" {
		o.Schema = "lookleap"
	}
	e := &Engine{pool, pgx.Identifier{o.Schema}.Sanitize()}
	if err := e.migrate(ctx); err != nil {
		return nil, fmt.Errorf("the schema %s could not be migrated: %w", e.schema, err)
	}
	return e, nil
}

// Close closes the pool.
func (e *Engine) Close() { e.pool.Close() }

// sql returns a statement about the tables of the schema.
func (e *Engine) sql(statement string) string {
	return strings.ReplaceAll(statement, "lookleap.", e.schema+".")
}

//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the migrations that the schema does not have yet. The lock lets one process do it.
func (e *Engine) migrate(ctx context.Context) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "lookleap "+e.schema); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+e.schema); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, e.sql(`CREATE TABLE IF NOT EXISTS lookleap.migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`)); err != nil {
			return err
		}
		for _, file := range files {
			done, err := tx.Exec(ctx, e.sql(`INSERT INTO lookleap.migrations (name) VALUES ($1) ON CONFLICT DO NOTHING`), file.Name())
			if err != nil {
				return err
			}
			if done.RowsAffected() == 0 {
				continue
			}
			statements, err := migrations.ReadFile("migrations/" + file.Name())
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, e.sql(string(statements))); err != nil {
				return fmt.Errorf("%s: %w", file.Name(), err)
			}
		}
		return nil
	})
}

// Purge deletes what has expired: cache entries, records that may be dropped, and limits without
// uses. Call it once in a while; several processes may do so at the same time.
func (e *Engine) Purge(ctx context.Context) error {
	for _, statement := range []string{
		`DELETE FROM lookleap.cache WHERE ctid = ANY (ARRAY(SELECT ctid FROM lookleap.cache WHERE drop_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED))`,
		`DELETE FROM lookleap.records WHERE ctid = ANY (ARRAY(SELECT ctid FROM lookleap.records WHERE drop_at < now() LIMIT 10000 FOR UPDATE SKIP LOCKED))`,
		`WITH gone AS (DELETE FROM lookleap.limits WHERE ctid = ANY (ARRAY(SELECT ctid FROM lookleap.limits
			WHERE greatest(held, last_at + longest) < extract(epoch FROM now()) * 1000000 LIMIT 10000 FOR UPDATE SKIP LOCKED)) RETURNING key)
			DELETE FROM lookleap.uses WHERE key IN (SELECT key FROM gone)`,
	} {
		if _, err := e.pool.Exec(ctx, e.sql(statement)); err != nil {
			return err
		}
	}
	return nil
}
