package pgengine

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// must runs a statement about the tables of the schema.
func (e *Engine) must(t testing.TB, statement string, args ...any) {
	t.Helper()
	if _, err := e.pool.Exec(context.Background(), e.sql(statement), args...); err != nil {
		t.Fatal(err)
	}
}

// TestMigration: the data of a schema that has only the first migration stays valid.
func TestMigration(t *testing.T) {
	s := startServer(t)
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, s.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	old := &Engine{pool, `"old"`}
	first, err := migrations.ReadFile("migrations/001.sql")
	if err != nil {
		t.Fatal(err)
	}
	old.must(t, `CREATE SCHEMA "old"`)
	old.must(t, `CREATE TABLE lookleap.migrations (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`)
	old.must(t, `INSERT INTO lookleap.migrations (name) VALUES ('001.sql')`)
	old.must(t, string(first))
	var head agent.Head
	memory := lookleap.NewMemoryStore()
	for _, n := range []int{1, 3, 2} {
		if err := agent.NewLedger(memory).Append(ctx, make([]agent.Entry, n)...); err != nil {
			t.Fatal(err)
		}
		data, err := memory.Get(ctx, fmt.Sprintf("ledger/%016d", head.Number+1))
		if err != nil {
			t.Fatal(err)
		}
		var chained []agent.Entry
		if err := json.Unmarshal(data, &chained); err != nil {
			t.Fatal(err)
		}
		next := chained[n-1].Head()
		old.must(t, `SELECT lookleap.append($1, $2, $3, $4, $5, $6)`, []byte("ada"), head.Number, head.Digest, data, next.Number, next.Digest)
		head = next
	}
	rate := lookleap.Rate{Limit: 3, Window: time.Hour}
	for range 2 {
		old.must(t, `SELECT lookleap.take($1, 3, 3600000000, true)`, []byte("key"))
	}

	e := s.engine(t, "old")
	ledger := agent.NewLedger(e.Store("ada"))
	if err := ledger.Append(ctx, agent.Entry{Time: enginetest.Later, Kind: agent.EntryAction}); err != nil {
		t.Fatal(err)
	}
	if got, err := agent.VerifyLedger(ledger.Entries(ctx), agent.Head{}, head); err != nil || got.Number != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for i, want := range []bool{true, false} {
		if wait, err := e.Limiter().Take(ctx, "key", rate); (wait == 0) != want || err != nil {
			t.Errorf("use %d: wait %v, %v", i+3, wait, err)
		}
	}
	if again := s.engine(t, "old"); agent.NewLedger(again.Store("ada")).Append(ctx, agent.Entry{Time: enginetest.Later}) != nil {
		t.Error("the second start fails")
	}
}

// TestPurge: Purge deletes what has expired, and uses with their limit.
func TestPurge(t *testing.T) {
	e := startServer(t).engine(t, "a")
	ctx, l := t.Context(), e.Limiter()
	for range 100 {
		if _, err := l.Take(ctx, "short", lookleap.Rate{Limit: 1000, Window: time.Microsecond}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(table string) (n int) {
		t.Helper()
		if err := e.pool.QueryRow(ctx, e.sql(`SELECT count(*) FROM lookleap.`+table)).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("uses"); n > 40 {
		t.Errorf("%d uses are kept whose window has passed", n)
	}
	if _, err := l.Take(ctx, "long", lookleap.Rate{Limit: 2, Window: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := e.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if limits, uses := count("limits"), count("uses"); limits != 1 || uses != 1 {
		t.Errorf("%d limits and %d uses are kept", limits, uses)
	}
}
