package pgengine

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap"
)

// Plans returns the ledger of plans. The statements apply the rules of lookleap.PlanRecord; a test
// compares them with it.
func (e *Engine) Plans() lookleap.PlanLedger { return plans{e} }

type plans struct{ *Engine }

const claimPlan = `
INSERT INTO lookleap.plans AS p (id, owner, state, expires, at) VALUES ($1, $2, 'claimed', $3, clock_timestamp())
ON CONFLICT (id) DO UPDATE SET owner = EXCLUDED.owner, state = 'claimed', receipt = NULL, expires = EXCLUDED.expires, at = EXCLUDED.at
WHERE p.state = 'failed' AND p.owner <> EXCLUDED.owner
   OR p.state = 'claimed' AND (p.owner = EXCLUDED.owner OR abs(extract(epoch FROM clock_timestamp() - p.at)) >= $4)
RETURNING at`

func (p plans) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	r := lookleap.PlanRecord{ID: c.ID, Owner: c.Owner, State: lookleap.PlanClaimed, Expires: c.Expires}
	err := p.pool.QueryRow(ctx, p.sql(claimPlan), []byte(c.ID), []byte(c.Owner), c.Expires.UTC(), lookleap.PlanLease.Seconds()).Scan(&r.At)
	if !errors.Is(err, pgx.ErrNoRows) {
		return r, err
	}
	if r, err = p.Plan(ctx, c.ID); err != nil {
		r = lookleap.PlanRecord{ID: c.ID, State: lookleap.PlanUnknown}
	}
	return r, lookleap.ErrAlreadyDone
}

const recordPlan = `
UPDATE lookleap.plans SET state = $3, receipt = $4, at = clock_timestamp()
WHERE id = $1 AND owner = $2 AND owner <> '' AND (
	state = $3 AND coalesce(receipt, '') = coalesce($4, ''::bytea)
	OR $3 IN ('sent', 'refused') AND state = 'claimed'
	OR $3 IN ('done', 'unknown') AND state = 'sent'
	OR $3 = 'failed' AND state IN ('claimed', 'sent'))`

func (p plans) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if len(o.Receipt) > lookleap.MaxReceipt {
		return lookleap.ErrClaimLost
	}
	done, err := p.pool.Exec(ctx, p.sql(recordPlan), []byte(id), []byte(owner), string(o.State), o.Receipt)
	if err == nil && done.RowsAffected() == 0 {
		return lookleap.ErrClaimLost
	}
	return err
}

func (p plans) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	var owner []byte
	var expires, at time.Time
	r := lookleap.PlanRecord{ID: id}
	err := p.pool.QueryRow(ctx, p.sql(`SELECT owner, state, receipt, expires, at FROM lookleap.plans WHERE id = $1`), []byte(id)).
		Scan(&owner, &r.State, &r.Receipt, &expires, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return lookleap.PlanRecord{}, fs.ErrNotExist
	}
	r.Owner, r.Expires, r.At = string(owner), expires.UTC(), at.UTC()
	switch r.State {
	case lookleap.PlanClaimed, lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown, lookleap.PlanRefused:
	default:
		r.State = lookleap.PlanUnknown // damaged: the effect may have happened
	}
	return r, err
}
