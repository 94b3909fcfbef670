package webconsent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// The prefixes of the records.
const (
	planPrefix     = "webconsent-plan/"
	decisionPrefix = "webconsent-decision/"
)

// vault keeps plans and decisions in a store, sealed with keys of their own, so that a
// record of one kind cannot be passed off as one of the other.
type vault struct {
	store             lookleap.Store
	plans, decisions  lookleap.Keys
	maxPlan, maxPlans int
}

// storedPlan is a suspended plan. Its request is that of the state, whose digests
// lookleap.ParsePlan has checked.
type storedPlan struct {
	ID    string          `json:"id"`
	Since time.Time       `json:"since"`
	State json.RawMessage `json:"state"`

	request *lookleap.ConsentRequest
}

type storedDecision struct {
	ID       string                   `json:"id"`
	At       time.Time                `json:"at"`
	Decision lookleap.ConsentDecision `json:"decision"`
}

func newVault(o Options) (*vault, error) {
	v := &vault{store: o.Store, maxPlan: o.MaxState, maxPlans: o.MaxPending}
	keys := o.Keys
	if o.Store == nil {
		v.store = lookleap.NewMemoryStore()
		if keys == nil {
			keys = lookleap.Keys{lookleap.NewKey()}
		}
	}
	var err, err2 error
	v.plans, err = keys.For("webconsent plan")
	v.decisions, err2 = keys.For("webconsent decision")
	if err := cmp.Or(err, err2); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "webconsent: the keys cannot be used", Err: err,
			Fix: fmt.Sprintf("set Options.Keys to at least %d secret random bytes, the same in each process", lookleap.MinKeyLen)}
	}
	return v, nil
}

// put stores a plan. A plan that is stored already stays as it is.
func (v *vault) put(ctx context.Context, state json.RawMessage, now time.Time) (*lookleap.ConsentRequest, error) {
	if len(state) > v.maxPlan {
		return nil, &lookleap.Error{Code: lookleap.CodeTooLarge,
			Message: fmt.Sprintf("the state of the plan has %d bytes, and %d are allowed", len(state),
				v.maxPlan), Fix: "raise Options.MaxState"}
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	ids, err := v.ids(ctx, planPrefix)
	switch {
	case err != nil:
		return nil, err
	case len(ids) >= v.maxPlans && !slices.Contains(ids, plan.ID()) && v.waiting(ctx, ids, now) >= v.maxPlans:
		return nil, tooMany(v.maxPlans)
	}
	err = v.create(ctx, v.plans, planPrefix+plan.ID(), storedPlan{ID: plan.ID(), Since: now.UTC(), State: state})
	if err != nil && !errors.Is(err, lookleap.ErrConflict) {
		return nil, storeError("the plan could not be stored", err)
	}
	return plan.Request(), nil
}

// waiting returns how many of the plans wait for the user: those that have neither expired nor a
// decision. What cannot be read counts as waiting.
func (v *vault) waiting(ctx context.Context, ids []string, now time.Time) (n int) {
	for _, id := range ids {
		if _, err := v.decision(ctx, id); err == nil {
			continue
		}
		if p, err := v.plan(ctx, id); err == nil && !now.Before(p.request.Expires) {
			continue
		}
		n++
	}
	return n
}

func tooMany(n int) error {
	return &lookleap.Error{Code: lookleap.CodeLimit, Message: fmt.Sprintf("%d requests wait for the user already", n),
		Fix: "ask again when the user has decided some of them, or raise Options.MaxPending"}
}

func storeError(message string, cause error) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Message: message, Err: cause}
}

// plan returns a stored plan.
func (v *vault) plan(ctx context.Context, id string) (*storedPlan, error) {
	p := new(storedPlan)
	if err := v.get(ctx, v.plans, planPrefix+id, p); err != nil {
		return nil, err
	}
	parsed, err := lookleap.ParsePlan(p.State)
	if err != nil {
		return nil, err
	}
	if p.ID != id || parsed.ID() != id {
		return nil, lookleap.ErrSealBroken // another plan's record was put here
	}
	p.request = parsed.Request()
	return p, nil
}

// decision returns the decision about a plan.
func (v *vault) decision(ctx context.Context, id string) (*storedDecision, error) {
	d := new(storedDecision)
	if err := v.get(ctx, v.decisions, decisionPrefix+id, d); err != nil {
		return nil, err
	}
	if d.ID != id {
		return nil, lookleap.ErrSealBroken
	}
	return d, nil
}

// decide stores a decision, unless there is one.
func (v *vault) decide(ctx context.Context, d storedDecision) error {
	return v.create(ctx, v.decisions, decisionPrefix+d.ID, d)
}

// forget removes a plan and its decision. The plan is removed first: a decision without a
// plan means nothing, but a plan without its decision would be asked again.
func (v *vault) forget(ctx context.Context, id string) error {
	if err := v.store.Delete(ctx, planPrefix+id); err != nil {
		return storeError("the plan could not be removed", err)
	}
	if err := v.store.Delete(ctx, decisionPrefix+id); err != nil {
		return storeError("the decision could not be removed", err)
	}
	return nil
}

// ids returns the sorted ids of the records with a prefix.
func (v *vault) ids(ctx context.Context, prefix string) ([]string, error) {
	keys, err := v.store.Keys(ctx, prefix)
	if err != nil {
		return nil, storeError("the stored plans could not be listed", err)
	}
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, prefix)
	}
	slices.Sort(keys)
	return keys, nil
}

func (v *vault) create(ctx context.Context, keys lookleap.Keys, name string, record any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	sealed, err := keys.Seal(data)
	if err != nil {
		return err
	}
	return v.store.Put(ctx, name, nil, []byte(sealed), time.Time{})
}

func (v *vault) get(ctx context.Context, keys lookleap.Keys, name string, record any) error {
	sealed, err := v.store.Get(ctx, name)
	if err != nil {
		return err
	}
	data, err := keys.Unseal(string(sealed))
	if err != nil {
		return err
	}
	return strictjson.Decode(data, record)
}
