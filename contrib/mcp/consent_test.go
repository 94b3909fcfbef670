package lookleapmcp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
)

// TestFormHasTheText: the client shows the text of the request, and a box for each question of it,
// none of them ticked.
func TestFormHasTheText(t *testing.T) {
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order one lamp", Items: []lookleap.ConsentItem{
		{ID: "phone", Summary: "tell your phone number", Recipient: "shop.example", Optional: true},
		{ID: "reason", Summary: "send this order", Recipient: "shop.example", Values: []lookleap.ConsentValue{{Label: "order", Text: `{"item":"lamp"}`}}},
		{ID: "pay", Class: lookleap.ItemPayment, Summary: "pay 49.00", Recipient: "pay.example"},
	}}, []byte("order"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	state, err := plan.State()
	if err != nil {
		t.Fatal(err)
	}
	result, err := askConsent(lookleap.Keys{lookleap.NewKey()}, &mcp.CallToolParamsRaw{Name: "order"}, &lookleap.PendingError{Request: plan.Request(), State: state})
	if err != nil {
		t.Fatal(err)
	}
	asked, ok := result.InputRequests[consentQuestion].(*mcp.ElicitParams)
	if !ok || asked.Message != plan.Request().Complete() {
		t.Fatalf("%+v", result.InputRequests)
	}
	var form struct {
		Properties map[string]struct {
			Type, Title string
			Default     *bool
		}
	}
	if err := json.Unmarshal(asked.RequestedSchema.(json.RawMessage), &form); err != nil {
		t.Fatal(err)
	}
	questions := plan.Request().Questions()
	if len(questions) != 3 || len(form.Properties) != 4 || form.Properties["reason_"].Title != lookleap.ReasonQuestion {
		t.Errorf("%v\n%s", questions, asked.RequestedSchema)
	}
	for _, q := range questions {
		if box := form.Properties[q.Item]; box.Type != "boolean" || box.Title != q.String() || box.Default == nil || *box.Default {
			t.Errorf("%q has the box %+v", q, box)
		}
	}
}
