package aiuri_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// robotRegistry has the endpoints of one robot, by path.
type robotRegistry map[string]*aiuri.LocalEndpoint

func (r robotRegistry) ResolveLocal(_ context.Context, u aiuri.URI) (*aiuri.LocalEndpoint, error) {
	if endpoint := r[u.Path()]; endpoint != nil {
		return endpoint, nil
	}
	return nil, errors.New("this robot has no such agent")
}

// bus calls the agents of the robot over its internal bus. This one has one agent, which
// signs its reports.
type bus struct{ key aiuri.SigningKey }

func (b bus) Invoke(_ context.Context, call *aiuri.Call) (aiuri.SignedResult, error) {
	query, _ := call.URI.Query()
	return aiuri.SignResult([]byte(`{"done":"`+query+`"}`), b.key, aiuri.SignOptions{})
}

// operator agrees to everything. In an agent, this is a person.
type operator struct{}

func (operator) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	fmt.Println(r.Summary)
	return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{r.Items[0].ID}}, nil
}

// A robot resolves URIs without authority by its own registry.
func ExampleLocalResolver() {
	ring, err := newRing("forklift")
	if err != nil {
		fmt.Println(err)
		return
	}
	keys, err := aiuri.ParseKeySet(ring.JWKS())
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint, _ := aiuri.Parse("ai:/agent/forklift-42")
	host := &lookleap.Host{Prompter: operator{}}
	defer host.Close()
	client, err := aiuri.NewClient(host, aiuri.ClientOptions{
		Native: bus{ring.Current()},
		Discoverer: aiuri.NewDiscoverer(host, aiuri.DiscovererOptions{Local: robotRegistry{
			"/agent/forklift-42": {System: "forklift-42.local", Endpoint: endpoint, Keys: keys, Scopes: []string{"load"}},
		}}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	task, _ := aiuri.Parse("ai:/agent/forklift-42?task=load&zone=A3")
	report, err := client.Invoke(context.Background(), aiuri.Request{URI: task, Scopes: []string{"load"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(report.Payload))
	crane, _ := aiuri.Parse("ai:/agent/crane-7")
	_, err = client.Invoke(context.Background(), aiuri.Request{URI: crane})
	fmt.Println(err)
	// Output:
	// invoke the endpoint ai:… of the local system forklift-42.local
	// {"done":"task=load&zone=A3"}
	// ai:…: the local resolver knows no such endpoint (unknown-local)
}
