// Package receipt signs what becomes of each plan that a user decides about, so that a third party can
// check later, without this module and without trust in the store, what was approved and what came of it.
//
//	receipts := receipt.NewLog(store, ring)
//	host.Record = receipts.Record
//
// A receipt is a compact JWS (RFC 7515) whose payload is a [Receipt]. Each one has the digest of the one
// before it, so a reader who keeps a [Head] sees when one was removed or changed later. It has digests of
// what was shown and of what was sent, and no value of the user. "lookleap receipt verify" checks a file of
// receipts; docs/recipes.md has a verifier in Python, docs/schemas/receipt.json the schema.
//
// A plan has a receipt with the outcome "sent" before its effect begins, and another one after it. If a
// process dies in between, the first one is all there is: the effect may have happened.
package receipt

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/chain"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// MediaType is the type of a receipt. It is also the audience in the protected header, so that what a key
// signed for another purpose is no receipt.
const MediaType = "application/vnd.lookleap.receipt+json;version=1"

// Receipt is what one receipt says.
type Receipt struct {
	Type     string               `json:"type"`               // MediaType
	Number   int64                `json:"number"`             // in its log, from 1
	Previous string               `json:"previous,omitempty"` // digest of the receipt before it, as a compact JWS
	Time     time.Time            `json:"time"`               // of the outcome, UTC
	Plan     string               `json:"plan"`               // id
	Kind     lookleap.ConsentKind `json:"kind"`
	Shown    string               `json:"shown"`              // digest of the request that the user was shown
	Effect   string               `json:"effect"`             // digest of the bytes that were approved
	User     string               `json:"user,omitempty"`     // a mark: see [Receipt.IsOf]
	Approved []string             `json:"approved,omitempty"` // ids of the items that the user approved
	Outcome  lookleap.PlanState   `json:"outcome"`            // sent, done, failed (nothing was sent), unknown, or refused
	Result   string               `json:"result,omitempty"`   // digest of the result that is kept with the plan, if it is done

	digest string // of the JWS
}

// Head returns the end of the log at this receipt, zero for one that [Verify] has not returned.
func (r *Receipt) Head() Head {
	if r == nil || r.digest == "" {
		return Head{}
	}
	return Head{r.Number, r.digest}
}

// IsOf reports whether the receipt is of the user with this id of the host. A reader who does not know the
// id cannot tell whether two receipts are of one user.
func (r *Receipt) IsOf(user string) bool {
	return r != nil && r.User != "" && planowner.Check(r.User, user, "") == nil
}

// Head is the end of a log: the number and the digest of its last receipt.
type Head struct {
	Number int64  `json:"number"`
	Digest string `json:"digest"`
}

// Log signs receipts and keeps them in a store. Several processes may share the store.
type Log struct {
	chain chain.Log
	ring  *aiuri.KeyRing
}

// NewLog returns the log in a store, which may hold other records too. The ring signs; keep the public part of
// each of its keys for as long as receipts are to be verified. Use keys that sign nothing else.
func NewLog(store lookleap.Store, ring *aiuri.KeyRing) *Log {
	return &Log{chain.Log{Store: store, Name: "receipt", End: end}, ring}
}

// Record signs and stores the receipt of an outcome. It is for [lookleap.Host].Record: a plan whose receipt
// cannot be stored is not sent.
func (l *Log) Record(ctx context.Context, o lookleap.PlanOutcome) error {
	if l == nil || l.chain.Store == nil || l.ring == nil || o.Plan == nil {
		return usage("the log of receipts has no store or no keys, or there is no plan", "make it with NewLog")
	}
	request := o.Plan.Request()
	r := Receipt{Type: MediaType, Time: o.At, Plan: o.Plan.ID(), Kind: request.Kind, Shown: request.Digest, Effect: request.Effect,
		User: planowner.Mark(o.User), Approved: o.Approved, Outcome: o.State}
	if o.State == lookleap.PlanDone {
		r.Result = lookleap.Digest(o.Receipt)
	}
	return l.chain.Append(ctx, func(head chain.Head) ([]byte, chain.Head, error) {
		r.Number, r.Previous = head.Number+1, head.Digest
		payload, err := json.Marshal(r)
		if err != nil {
			return nil, head, err
		}
		result, err := aiuri.SignResult(payload, l.ring.Current(), aiuri.SignOptions{Claims: &aiuri.Claims{Audience: []string{MediaType}}})
		if err != nil {
			return nil, head, err
		}
		return []byte(result.JWS), chain.Head{Number: r.Number, Digest: lookleap.Digest([]byte(result.JWS))}, nil
	})
}

// All yields the receipts in order, each a compact JWS that is not verified.
func (l *Log) All(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		keys, err := l.chain.Keys(ctx)
		if err != nil {
			yield("", err)
			return
		}
		for _, key := range keys {
			data, err := l.chain.Store.Get(ctx, key)
			if errors.Is(err, fs.ErrNotExist) {
				continue // an operator removed it meanwhile
			}
			if !yield(string(data), err) || err != nil {
				return
			}
		}
	}
}

// Verify returns what a receipt says. It returns an [*lookleap.VerifyError] if no key of the set signed it
// as a receipt, and an [*lookleap.Error] if what was signed is none.
func Verify(jws string, keys *aiuri.KeySet) (*Receipt, error) {
	v, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: jws}, keys, time.Now(),
		aiuri.Expectation{Audience: MediaType, Require: []string{"aud"}})
	if err != nil {
		return nil, err
	}
	r, err := parse(v.Payload)
	if err == nil {
		r.digest = lookleap.Digest([]byte(jws))
	}
	return r, err
}

// VerifyAll verifies receipts that follow one another, such as those of [Log.All], and yields what they
// say, up to the first error. From is the head before the first one, zero for the whole log. A reader who kept a
// head compares it with that of the receipt with its number: otherwise the end of a log may be missing.
func VerifyAll(receipts iter.Seq2[string, error], keys *aiuri.KeySet, from Head) iter.Seq2[*Receipt, error] {
	return func(yield func(*Receipt, error) bool) {
		head := from
		for jws, err := range receipts {
			var r *Receipt
			if err == nil {
				r, err = Verify(jws, keys)
			}
			if err == nil && (r.Number != head.Number+1 || r.Previous != head.Digest) {
				r, err = nil, broken("the receipt does not follow the one before it")
			}
			if !yield(r, err) || err != nil {
				return
			}
			head = r.Head()
		}
	}
}

// end returns the head after a stored receipt. Who can write to the store could put another one there:
// then those that follow it do not verify.
func end(key string, record []byte) (chain.Head, error) {
	_, rest, _ := strings.Cut(string(record), ".")
	encoded, _, _ := strings.Cut(rest, ".")
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return chain.Head{}, broken("the record " + key + " is no receipt")
	}
	r, err := parse(payload)
	if err != nil {
		return chain.Head{}, err
	}
	return chain.Head{Number: r.Number, Digest: lookleap.Digest(record)}, nil
}

func parse(payload []byte) (*Receipt, error) {
	var r Receipt
	err := strictjson.Decode(payload, &r)
	if err != nil || r.Type != MediaType || r.Number < 1 || (r.Number == 1) != (r.Previous == "") || r.Plan == "" || r.Shown == "" || r.Effect == "" {
		return nil, broken("what was signed is no receipt of this version")
	}
	return &r, nil
}

// codeBroken is that of the ledger of anml/agent, which is a chain too.
const codeBroken lookleap.Code = "ledger-broken"

func broken(message string) error {
	return &lookleap.Error{Code: codeBroken, Message: message, Fix: "compare it with a copy of the log"}
}

func usage(message, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}
