package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// A payment runs once, with exactly the arguments that the user saw.
func Example() {
	ctx := context.Background()
	host := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}}
	defer host.Close()
	g := gate.New(host, gate.Options{User: "kim", Rules: []gate.Rule{{ReadOnly: true, Verb: gate.Pass}}})
	pay, err := g.Tool(gate.Tool{
		Name: "pay", Description: "Pays a bill.",
		Arguments: map[string]gate.Argument{"/to": {Role: gate.Recipient}, "/amount": {Role: gate.Amount}},
		Run: func(_ context.Context, c gate.Call) ([]byte, error) {
			fmt.Println("run:", string(c.Arguments))
			return []byte("payment 17"), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	_, err = pay.Call(ctx, []byte(`{"to": "DE02120300000000202051", "amount": 20}`))
	pending := (*lookleap.PendingError)(nil)
	if !errors.As(err, &pending) {
		log.Fatal(err)
	}
	yes := lookleap.ConsentDecision{Digest: pending.Request.Digest}
	for _, item := range pending.Request.Items {
		yes.Approved = append(yes.Approved, item.ID)
		for _, v := range item.Values {
			fmt.Println("shown:", v.Label, v.Name, v.Text)
		}
	}
	for range 2 { // the second worker gets the outcome of the first
		result, err := g.Resume(ctx, pending.State, yes)
		fmt.Println(string(result.Output), lookleap.CodeOf(err))
	}
	// Output:
	// shown: recipient /to DE02120300000000202051
	// shown: amount /amount 20
	// run: {"amount":20,"to":"DE02120300000000202051"}
	// payment 17 ok
	// payment 17 plan-already-done
}
