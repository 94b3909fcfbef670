package receipt_test

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/receipt"
)

// A person is asked before a tool runs, and an auditor reads later what came of it.
func Example() {
	_, private, _ := ed25519.GenerateKey(nil) // in production: from your secret store
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "2026-11", Private: private}, aiuri.KeyRingOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	receipts := receipt.NewLog(lookleap.NewMemoryStore(), ring) // in production: lookleap.OpenStore
	host := &lookleap.Host{Prompter: person{}, Record: receipts.Record}
	defer host.Close()
	pay, err := gate.New(host, gate.Options{User: "kim"}).Tool(gate.Tool{Name: "pay",
		Run: func(context.Context, gate.Call) ([]byte, error) { return []byte("paid"), nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pay.Call(context.Background(), []byte(`{"to":"ann@example.com","amount":5}`)); err != nil {
		fmt.Println(err)
	}

	keys, err := aiuri.ParseKeySet(ring.JWKS()) // all that the auditor needs
	if err != nil {
		fmt.Println(err)
		return
	}
	for r, err := range receipt.VerifyAll(receipts.All(context.Background()), keys, receipt.Head{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Number, r.Kind, r.Approved, r.Outcome, r.IsOf("kim"))
	}
	// Output:
	// 1 tool [call] sent true
	// 2 tool [call] done true
}

// person agrees to all that it is shown.
type person struct{}

func (person) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	yes := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		yes.Approved = append(yes.Approved, item.ID)
	}
	return yes, nil
}
