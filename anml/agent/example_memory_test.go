package agent_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The user asks what was told to a shop, and takes the record along.
func ExampleFilter_Export() {
	ctx := context.Background()
	ledger := agent.NewLedger(lookleap.NewMemoryStore()) // or that of lookleap.OpenStore
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	_ = ledger.Append(ctx,
		agent.Entry{Time: at, Plan: "p1", Kind: agent.EntryDisclosed, Field: "email", Serving: "shop.example", Owner: "shop.example", Endpoint: "www.shop.example", Document: "https://www.shop.example/anml", Basis: "explicit"},
		agent.Entry{Time: at, Plan: "p1", Kind: agent.EntryRefused, Field: "tel", Serving: "shop.example", Owner: "shop.example", Endpoint: "www.shop.example", Document: "https://www.shop.example/anml", Reason: anml.UserDenied},
	)
	for told := range (agent.Filter{Plan: "p1", Kinds: []agent.EntryKind{agent.EntryDisclosed}}).Entries(ctx, ledger) {
		fmt.Println(told.Field, told.Basis)
	}
	n, err := agent.Filter{Domain: "shop.example", Kinds: []agent.EntryKind{agent.EntryRefused}}.Export(ctx, ledger, os.Stdout)
	fmt.Println(n, err)
	// Output:
	// email explicit
	// {"time":"2026-06-01T12:00:00Z","plan":"p1","kind":"refused","field":"tel","serving":"shop.example","owner":"shop.example","endpoint":"www.shop.example","document":"https://www.shop.example/anml","reason":"user-denied","number":2,"previous":"de9c44da2ff23d54d6b350d6dd3b273ff02285f782a2d6ec36e99359d7718b7d"}
	// 1 <nil>
}

// The user wants everything forgotten that a clinic told.
func ExampleSession_Forget() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("clinic.example").File("/anml", anml.MediaTypeXML, `<?xml version="1.0" encoding="UTF-8"?>
<anml xmlns="`+anml.Namespace+`" version="1.0" role="service">
  <knowledge><inform usage="store" confidentiality="private">Your file is 4711-8822.</inform></knowledge>
</anml>`)
	ctx := context.Background()
	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{Store: lookleap.NewMemoryStore()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close() }()
	if _, err := session.Open(ctx, "https://clinic.example/anml"); err != nil {
		fmt.Println(err)
		return
	}
	for i := range session.Context().Informs("clinic.example") {
		fmt.Println(i.Confidentiality, i.Usage, i.Text)
	}
	forgotten, err := session.Forget(ctx, "clinic.example")
	fmt.Println(forgotten.Informs, err)
	for i := range session.Context().Informs("") {
		fmt.Println(i.Text)
	}
	// Output:
	// private store Your file is 4711-8822.
	// 1 <nil>
}

// From now on nothing is told to a domain, whatever its documents say.
func ExampleSession_RefuseDomain() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close() }()
	err = session.RefuseDomain(context.Background(), "Ads.example.")
	fmt.Println(session.RefusedDomains(), err)
	// Output:
	// [ads.example] <nil>
}
