package pgengine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/ledgerhead"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Ledger returns the disclosure ledger of a user: one row for each Append.
func (e *Engine) Ledger(user string) agent.DisclosureLedger {
	return &ledger{Engine: e, user: []byte(user)}
}

type ledger struct {
	*Engine
	user []byte
	head ledgerhead.Head // the database verifies it
}

func (l *ledger) Append(ctx context.Context, entries ...agent.Entry) error {
	return l.head.Append(ctx, entries, func(from, to agent.Head, data []byte) (there agent.Head, err error) {
		err = l.pool.QueryRow(ctx, l.sql(`SELECT number, digest FROM lookleap.append($1, $2, $3, $4, $5, $6)`),
			l.user, from.Number, from.Digest, data, to.Number, to.Digest).Scan(&there.Number, &there.Digest)
		return there, err
	})
}

// page is how many rows are read at once.
const page = 256

func (l *ledger) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		var end int64
		err := l.pool.QueryRow(ctx, l.sql(`SELECT last FROM lookleap.ledger WHERE owner = $1 ORDER BY first DESC LIMIT 1`),
			l.user).Scan(&end)
		if errors.Is(err, pgx.ErrNoRows) {
			return
		}
		type row struct {
			Last    int64
			Entries []byte
		}
		for last := int64(0); err == nil && last < end; {
			var rows []row
			result, failed := l.pool.Query(ctx, l.sql(`SELECT last, entries FROM lookleap.ledger WHERE owner = $1 AND first > $2 AND first <= $3 ORDER BY first LIMIT $4`), l.user, last, end, page)
			rows, err = pgx.CollectRows(result, pgx.RowToStructByPos[row])
			if failed != nil || err != nil || len(rows) == 0 {
				err = errors.Join(failed, err)
				break
			}
			for _, r := range rows {
				last = r.Last
				var entries []agent.Entry
				if strictjson.Decode(r.Entries, &entries) != nil {
					if !yield(agent.Entry{}, fmt.Errorf("the entries up to number %d are damaged", r.Last)) {
						return
					}
				}
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
		if err != nil {
			yield(agent.Entry{}, err)
		}
	}
}
