package receipt_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/receipt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func newKey(t testing.TB, id string) aiuri.SigningKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return aiuri.SigningKey{ID: id, Private: private}
}

func newRing(t testing.TB, id string) *aiuri.KeyRing {
	t.Helper()
	ring, err := aiuri.NewKeyRing(newKey(t, id), aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func keysOf(t testing.TB, ring *aiuri.KeyRing) *aiuri.KeySet {
	t.Helper()
	keys, err := aiuri.ParseKeySet(ring.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// desk is one process: a gate whose tool fails as a test wants, with receipts in a store.
type desk struct {
	*gate.Gate
	log  *receipt.Log
	fail error
	runs int
	pay  *gate.Gated
}

func newDesk(t *testing.T, store lookleap.Store, ring *aiuri.KeyRing, steps ...lookleaptest.Reply) *desk {
	t.Helper()
	d := &desk{log: receipt.NewLog(store, ring)}
	host := &lookleap.Host{Plans: store, Record: d.log.Record, Prompter: lookleaptest.NewPrompter(t, steps...)}
	t.Cleanup(func() { _ = host.Close() })
	d.Gate = gate.New(host, gate.Options{User: "kim"})
	var err error
	d.pay, err = d.Tool(gate.Tool{Name: "pay", Run: func(context.Context, gate.Call) ([]byte, error) {
		d.runs++
		return []byte("paid"), d.fail
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) call(t *testing.T) error {
	_, err := d.pay.Call(t.Context(), []byte(`{"to":"ann@example.com","amount":5}`))
	return err
}

func all(t testing.TB, l *receipt.Log) (list []string) {
	t.Helper()
	for jws, err := range l.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, jws)
	}
	return list
}

func payloadOf(t testing.TB, jws string) string {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(jws, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(payload)
}

func each(list []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, jws := range list {
			if !yield(jws, nil) {
				return
			}
		}
	}
}

// verify returns the head after receipts.
func verify(receipts iter.Seq2[string, error], keys *aiuri.KeySet, from receipt.Head) (head receipt.Head, err error) {
	for r, err := range receipt.VerifyAll(receipts, keys, from) {
		if err != nil {
			return head, err
		}
		head = r.Head()
	}
	return head, nil
}

func TestRecord(t *testing.T) {
	for name, c := range map[string]struct {
		step lookleaptest.Reply
		fail error
		want string
	}{
		"accept-done":         {lookleaptest.Approve(), nil, "sent done"},
		"accept-nothing-sent": {lookleaptest.Approve(), lookleap.NothingSent(errors.New("closed")), "sent failed"},
		"accept-unknown":      {lookleaptest.Approve(), errors.New("cut"), "sent unknown"},
		"accept-refused":      {lookleaptest.Refuse(), nil, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			ring := newRing(t, "1")
			d := newDesk(t, lookleap.NewMemoryStore(), ring, c.step)
			d.fail = c.fail
			if err := d.call(t); (err == nil) != (c.want == "sent done") {
				t.Error(err)
			}
			var got []string
			for _, jws := range all(t, d.log) {
				r, err := receipt.Verify(jws, keysOf(t, ring))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(r.Outcome))
				approved := r.Outcome != lookleap.PlanRefused
				if slices.Equal(r.Approved, []string{"call"}) != approved || r.Kind != lookleap.ConsentTool || !r.IsOf("kim") || r.IsOf("ann") || r.IsOf("") ||
					(r.Result == lookleap.Digest([]byte("paid"))) != (r.Outcome == lookleap.PlanDone) || r.Time.IsZero() {
					t.Errorf("%+v", r)
				}
				if strings.Contains(jws, base64.RawURLEncoding.EncodeToString([]byte("ann@example.com"))) {
					t.Error("it holds a value")
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q", got)
			}
		})
	}
	t.Run("accept-resumed-plan", func(t *testing.T) {
		store, ring := lookleap.NewMemoryStore(), newRing(t, "1")
		var waits *lookleap.PendingError
		if err := newDesk(t, store, ring, lookleaptest.Pending()).call(t); !errors.As(err, &waits) {
			t.Fatal(err)
		}
		d := newDesk(t, store, ring)
		for range 2 {
			_, _ = d.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request))
		}
		list := all(t, d.log)
		if d.runs != 1 || len(list) != 2 {
			t.Fatalf("%d runs, %d receipts", d.runs, len(list))
		}
		r, err := receipt.Verify(list[1], keysOf(t, ring))
		if err != nil || r.Shown != waits.Request.Digest || r.Effect != waits.Request.Effect || r.Plan != waits.Request.ID {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("accept-refused-plan-once", func(t *testing.T) {
		store, ring := lookleap.NewMemoryStore(), newRing(t, "1")
		var waits *lookleap.PendingError
		d := newDesk(t, store, ring, lookleaptest.Pending())
		if err := d.call(t); !errors.As(err, &waits) {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := d.Resume(t.Context(), waits.State, lookleap.ConsentDecision{Digest: waits.Request.Digest}); err == nil {
				t.Error("it ran")
			}
		}
		if list := all(t, d.log); len(list) != 1 {
			t.Errorf("%d receipts", len(list))
		}
	})
	t.Run("accept-refused-skill", func(t *testing.T) {
		net := lookleaptest.NewInternet()
		t.Cleanup(net.Close)
		net.Site("shop.example").File("/skills/refund/SKILL.md", "text/markdown", "---\nname: refund\ndescription: Refunds an order.\n---\nAsk.\n")
		for name, o := range map[string]dvs.Options{"with-a-store": {Trust: lookleap.NewMemoryStore()}, "without": {}} {
			log := receipt.NewLog(lookleap.NewMemoryStore(), newRing(t, "1"))
			host := net.Host()
			host.Record, host.Prompter = log.Record, lookleaptest.NewPrompter(t, lookleaptest.Refuse())
			if _, err := dvs.NewLoader(host, o).Load(t.Context(), "https://shop.example/skills/refund/SKILL.md"); err == nil {
				t.Error("it is loaded")
			}
			if list := all(t, log); len(list) != 1 {
				t.Errorf("%s: %d receipts", name, len(list))
			}
		}
	})
	t.Run("reject-without-a-receipt", func(t *testing.T) {
		for name, log := range map[string]*receipt.Log{
			"no-store": receipt.NewLog(nil, newRing(t, "1")), "no-keys": receipt.NewLog(lookleap.NewMemoryStore(), nil), "nil": nil,
		} {
			d := newDesk(t, lookleap.NewMemoryStore(), newRing(t, "1"))
			host := &lookleap.Host{Plans: lookleap.NewMemoryStore(), Record: log.Record, Prompter: lookleaptest.NewPrompter(t, lookleaptest.Approve())}
			t.Cleanup(func() { _ = host.Close() })
			pay, err := gate.New(host, gate.Options{}).Tool(d.pay.Tool)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pay.Call(t.Context(), []byte("{}")); err == nil || d.runs != 0 {
				t.Errorf("%s: %v, %d runs", name, err, d.runs)
			}
		}
	})
}

func TestVerify(t *testing.T) {
	ring := newRing(t, "1")
	d := newDesk(t, lookleap.NewMemoryStore(), ring, slices.Repeat([]lookleaptest.Reply{lookleaptest.Approve()}, 3)...)
	for range 3 {
		if err := d.call(t); err != nil {
			t.Fatal(err)
		}
	}
	list, keys := all(t, d.log), keysOf(t, ring)
	head, err := verify(each(list), keys, receipt.Head{})
	if err != nil || head.Number != 6 || head.Digest != lookleap.Digest([]byte(list[5])) {
		t.Fatalf("%+v, %v", head, err)
	}
	t.Run("accept-part", func(t *testing.T) {
		middle, err := verify(each(list[:2]), keys, receipt.Head{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := verify(d.log.All(t.Context()), keys, receipt.Head{}); err != nil || got != head {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := verify(each(list[2:]), keys, middle); err != nil || got != head {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("reject-one-character-changed", func(t *testing.T) {
		for i := range list[1] {
			for _, c := range []byte("Aq.\n") {
				changed := []byte(list[1])
				if changed[i] == c {
					continue
				}
				changed[i] = c
				if _, err := receipt.Verify(string(changed), keys); err == nil {
					t.Fatalf("%q in place of %q at %d is accepted", c, list[1][i], i)
				}
			}
		}
	})
	for name, changed := range map[string][]string{
		"removed":       slices.Delete(slices.Clone(list), 2, 3),
		"first-removed": list[1:],
		"moved":         {list[0], list[2], list[1]},
		"repeated":      {list[0], list[0]},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if _, err := verify(each(changed), keys, receipt.Head{}); err == nil {
				t.Error("accepted")
			}
		})
	}
	t.Run("reject-other-key", func(t *testing.T) {
		if _, err := receipt.Verify(list[0], keysOf(t, newRing(t, "1"))); err == nil {
			t.Error("accepted")
		}
	})
	payload := payloadOf(t, list[0])
	for name, c := range map[string]struct {
		payload string
		claims  *aiuri.Claims
	}{
		"signed-for-another-purpose": {payload, nil},
		"another-audience":           {payload, &aiuri.Claims{Audience: []string{"caller"}}},
		"another-version":            {strings.Replace(payload, "version=1", "version=2", 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"member-twice":               {strings.Replace(payload, "{", `{"outcome":"done",`, 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"number-0":                   {strings.Replace(payload, `"number":1`, `"number":0`, 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"number-below-0":             {strings.Replace(payload, `"number":1`, `"number":-1,"previous":"x"`, 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"first-with-previous":        {strings.Replace(payload, `"number":1`, `"number":1,"previous":"x"`, 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"second-without-previous":    {strings.Replace(payload, `"number":1`, `"number":2`, 1), &aiuri.Claims{Audience: []string{receipt.MediaType}}},
		"no-receipt":                 {"{}", &aiuri.Claims{Audience: []string{receipt.MediaType}}},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			signed, err := aiuri.SignResult([]byte(c.payload), ring.Current(), aiuri.SignOptions{Claims: c.claims})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := receipt.Verify(signed.JWS, keys); err == nil {
				t.Errorf("accepted: %+v", r)
			}
		})
	}
}

// forgetful is a store that says of each new receipt that another one was there.
type forgetful struct{ lookleap.Store }

func (f forgetful) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	err := f.Store.Put(ctx, key, old, value, until)
	if err == nil && strings.HasPrefix(key, "receipt/") {
		return lookleap.ErrConflict
	}
	return err
}

// TestProcesses: several processes with keys of their own write one log.
func TestProcesses(t *testing.T) {
	t.Run("accept-one-chain", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		var sets []string
		var wg sync.WaitGroup
		for n := range 4 {
			ring := newRing(t, fmt.Sprint(n))
			sets = append(sets, strings.TrimSuffix(strings.TrimPrefix(string(ring.JWKS()), `{"keys":[`), `]}`))
			d := newDesk(t, store, ring, slices.Repeat([]lookleaptest.Reply{lookleaptest.Approve()}, 10)...)
			wg.Go(func() {
				for range 10 {
					if err := d.call(t); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		keys, err := aiuri.ParseKeySet([]byte(`{"keys":[` + strings.Join(sets, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		head, err := verify(receipt.NewLog(store, nil).All(t.Context()), keys, receipt.Head{})
		if err != nil || head.Number != 80 {
			t.Errorf("%+v, %v", head, err)
		}
	})
	t.Run("accept-lost-response", func(t *testing.T) {
		ring := newRing(t, "1")
		d := newDesk(t, forgetful{lookleap.NewMemoryStore()}, ring, lookleaptest.Approve())
		if err := d.call(t); err != nil {
			t.Fatal(err)
		}
		if list := all(t, d.log); len(list) != 2 {
			t.Errorf("%d receipts", len(list))
		}
	})
	t.Run("accept-no-user", func(t *testing.T) {
		ring := newRing(t, "1")
		log := receipt.NewLog(lookleap.NewMemoryStore(), ring)
		plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentTool, Origin: "this agent", Summary: "pay",
			Items: []lookleap.ConsentItem{{ID: "call", Summary: "pay", Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest(nil)}}}, nil, time.Now())
		if err == nil {
			err = log.Record(t.Context(), lookleap.PlanOutcome{Plan: plan, State: lookleap.PlanRefused, At: time.Now()})
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := receipt.Verify(all(t, log)[0], keysOf(t, ring))
		if err != nil || r.IsOf("") || r.User != "" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("accept-rotated-key", func(t *testing.T) {
		store, ring := lookleap.NewMemoryStore(), newRing(t, "1")
		d := newDesk(t, store, ring, lookleaptest.Approve())
		if err := errors.Join(d.call(t), ring.Rotate(newKey(t, "2"))); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(d.log.All(t.Context()), keysOf(t, ring), receipt.Head{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("reject-damaged-store", func(t *testing.T) {
		store, ring := lookleap.NewMemoryStore(), newRing(t, "1")
		d := newDesk(t, store, ring, lookleaptest.Approve(), lookleaptest.Approve())
		if err := d.call(t); err != nil {
			t.Fatal(err)
		}
		keys, err := store.Keys(t.Context(), "receipt/")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		last := keys[len(keys)-1]
		old, _ := store.Get(t.Context(), last)
		if err := store.Put(t.Context(), last, old, []byte("x"), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if err := newDesk(t, store, ring, lookleaptest.Approve()).call(t); lookleap.CodeOf(err) != "ledger-broken" {
			t.Error(err)
		}
	})
}
