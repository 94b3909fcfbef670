package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// toolUse is one call that a model wants to make.
type toolUse struct {
	ID, Name  string
	Arguments json.RawMessage
}

// model stands for a language model: it is told what became of its last call, and
// wants the next one, or says something.
type model func(lastResult string) (call *toolUse, says string)

// Example_toolCalling is a complete tool-calling loop, without any vendor's SDK.
// The model is scripted; the service, the consent and the ledger are real.
func Example_toolCalling() {
	net := lookleaptest.NewInternet() // an internet in one process
	defer net.Close()
	net.Clock().Set(time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC))
	net.Clock().Freeze()
	net.Site("ferries.example").Handle("*", booking.New(net.Clock().Now))
	host := net.Host()
	host.Prompter = agreeing{}

	ctx := context.Background()
	session, err := agent.New(host, agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	page, err := session.Discover(ctx, "https://ferries.example")
	if err != nil {
		fmt.Println(err)
		return
	}

	next := scripted(
		&toolUse{"1", "ferries_2eexample_00search", json.RawMessage(`{"from": "harbour", "to": "moon"}`)}, // models make mistakes
		&toolUse{"2", "ferries_2eexample_00search", json.RawMessage(`{"from": "harbour", "to": "island"}`)},
		&toolUse{"3", "ferries_2eexample_00reserve", json.RawMessage(`{"trip": "t2", "seats": 1}`)},
	)
	result := ""
	for {
		call, says := next(result)
		if call == nil {
			fmt.Println("model:", says)
			return
		}
		page, result = use(ctx, page, call)
	}
	// Output:
	// ferries_2eexample_00search {"from": "harbour", "to": "moon"}: param-invalid
	// ferries_2eexample_00search {"from": "harbour", "to": "island"}: success
	// the user agrees to: do what it calls "reserve seats on a trip"
	// ferries_2eexample_00reserve {"trip": "t2", "seats": 1}: success
	// model: Your seat is reserved. Who travels?
}

// use runs one call of the model on the page that is open, and returns the page that
// is open afterwards and what the model is told. Nothing here trusts the model:
// the arguments are checked, and the user is asked by the host's own prompter.
func use(ctx context.Context, page *agent.Page, call *toolUse) (*agent.Page, string) {
	for _, tool := range page.Tools() {
		if tool.Name != call.Name {
			continue
		}
		r, err := tool.Call(ctx, call.Arguments)
		if err != nil {
			fmt.Printf("%s %s: %s\n", call.Name, call.Arguments, lookleap.CodeOf(err))
			return page, agent.ErrorText(err)
		}
		fmt.Printf("%s %s: %s\n", call.Name, call.Arguments, r.Outcome)
		if r.Page != nil {
			page = r.Page // it replaces the old one as a whole: offer its tools next
		}
		return page, r.Text(anml.TextOptions{})
	}
	return page, "there is no such tool"
}

// agreeing is a user who agrees to whatever is required.
type agreeing struct{}

func (agreeing) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	fmt.Println("the user agrees to:", r.Summary)
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		if !item.Optional {
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d, nil
}

func scripted(calls ...*toolUse) model {
	return func(string) (*toolUse, string) {
		if len(calls) == 0 {
			return nil, "Your seat is reserved. Who travels?"
		}
		call := calls[0]
		calls = calls[1:]
		return call, ""
	}
}

// Example_functionCalling writes the tools of a page as two common interfaces for
// function calling want them, and reads a call of each.
func Example_functionCalling() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("ferries.example").Handle("*", booking.New(net.Clock().Now))
	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	page, err := session.Discover(context.Background(), "https://ferries.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	tool := page.Tools()[0]

	openAI := map[string]any{"type": "function", "function": map[string]any{
		"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema,
	}}
	anthropic := map[string]any{"name": tool.Name, "description": tool.Description, "input_schema": tool.InputSchema}
	for _, form := range []any{openAI, anthropic} {
		text, _ := json.Marshal(form)
		fmt.Println(string(text))
	}

	// The one puts the arguments into a string, the other has them as an object.
	var a struct {
		ID       string
		Function struct{ Name, Arguments string }
	}
	_ = json.Unmarshal([]byte(`{"id":"call_1","type":"function","function":{"name":"ferries_2eexample_00search","arguments":"{\"from\":\"harbour\",\"to\":\"island\"}"}}`), &a)
	var b struct {
		ID, Name string
		Input    json.RawMessage
	}
	_ = json.Unmarshal([]byte(`{"type":"tool_use","id":"toolu_1","name":"ferries_2eexample_00search","input":{"from":"harbour","to":"island"}}`), &b)
	for _, call := range []toolUse{{a.ID, a.Function.Name, json.RawMessage(a.Function.Arguments)}, {b.ID, b.Name, b.Input}} {
		_, result := use(context.Background(), page, &call)
		var reply any = map[string]any{"role": "tool", "tool_call_id": call.ID, "content": result}
		if call.ID == b.ID {
			reply = map[string]any{"type": "tool_result", "tool_use_id": call.ID, "content": result}
		}
		_ = reply // goes back to the model
	}
	// Output:
	// {"function":{"description":"GET request to the service. The service describes it as \"find trips\"","name":"ferries_2eexample_00search","parameters":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"from":{"type":"string","enum":["harbour","island"]},"to":{"type":"string","enum":["harbour","island"]}},"required":["from","to"],"additionalProperties":false}},"type":"function"}
	// {"description":"GET request to the service. The service describes it as \"find trips\"","input_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"from":{"type":"string","enum":["harbour","island"]},"to":{"type":"string","enum":["harbour","island"]}},"required":["from","to"],"additionalProperties":false},"name":"ferries_2eexample_00search"}
	// ferries_2eexample_00search {"from":"harbour","to":"island"}: success
	// ferries_2eexample_00search {"from":"harbour","to":"island"}: success
}
