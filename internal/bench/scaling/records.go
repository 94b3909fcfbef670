package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
)

// recordTargets are the records that parties exchange: feeds, policies, signed results,
// responses of agents, and receipts of ledgers.
func recordTargets() []target {
	const nul = "\x00"
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	return []target{
		bytesOf("dvs.ParseWithdrawals", feeds(), func(b []byte) {
			if w, err := dvs.ParseWithdrawals(b); err == nil {
				_, _ = json.Marshal(w)
				_, _ = w.Add(dvs.Withdrawal{Kind: dvs.WithdrawnKey, Value: "another", Time: now}, now)
				_ = w.UnmarshalJSON(b)
			}
		}, "dvs.Withdrawals.UnmarshalJSON"),
		bytesOf("dvs.NewWithdrawalsHandler", feeds(), func(b []byte) { _, _ = dvs.NewWithdrawalsHandler(b) }),
		bytesOf("policy.Parse", policyFiles(), func(b []byte) {
			if p, err := policy.Parse("policy.json", b); err == nil {
				p.Explain()
			}
		}),
		{name: "policy.Policy.Check", families: policyFiles(), covers: []string{"policy.Policy.Check"}, prepare: func(input []byte) func() {
			p, err := policy.Parse("policy.json", input)
			return func() {
				if err == nil {
					_ = p.Check("https://a.example/a/SKILL.md")
				}
			}
		}},
		{name: "policy.Policy.Agent", families: policyFiles(), prepare: func(input []byte) func() {
			p, err := policy.Parse("policy.json", input)
			return func() {
				if err == nil {
					_ = p.Agent(&agent.UserPolicy{})
				}
			}
		}},
		of("policy.Policy.Check/url", plain(nul, "https://"+nul+"/SKILL.md", "https://a.example/"+nul+"/SKILL.md"), func(s string) {
			if p, err := policy.Parse("policy.json", []byte(`{"type":"`+policy.MediaType+`","skills":{"deny":["b.example"]}}`)); err == nil {
				_ = p.Check(s)
			}
		}),
		of("aiuri.VerifyResult", plain(nul, "a."+nul+".b", "a.b."+nul, nul+".b.c"), func(s string) {
			if keys, err := aiuri.ParseKeySet([]byte(`{"keys":[]}`)); err == nil {
				_, _ = aiuri.VerifyResult(aiuri.SignedResult{JWS: s}, keys, now, aiuri.Expectation{})
			}
		}),
		responding("anml.ReadAgentResponse", agentResponses()),
		serving("anml.NewHandler", xmlDocuments()),
		verifying("agent.Receipt.Verify", receipts()),
		chaining("agent.VerifyLedger", ledgers()),
	}
}

func feeds() []family {
	feed := func(entries string) string {
		return `{"type":"` + dvs.WithdrawalsMediaType + `","sequence":1,"updated":"2026-01-01T00:00:00Z","withdrawn":[` + entries + `]}`
	}
	entry := func(kind, value string) string {
		return `{"kind":"` + kind + `","value":"` + value + `","reason":"b","time":"2026-01-01T00:00:00Z"}`
	}
	const nul = "\x00"
	return join(plain(nul, feed(nul), feed(entry("key", nul)), feed(entry("root", nul)), `{"type":"`+nul+`"}`),
		pieces(feed(nul), ",", entry("key", "a%d"), entry("key", "a"), entry("key", strings.Repeat("p", 60)+"%d"), entry("root", "a%d.example"),
			entry("root", "a.b.c.d.e.f.g.h%d.example"), entry("root", "https://a.example/%d/"), entry("skill", "https://a.example/%d/SKILL.md"),
			entry("skill", "https://a.example/%d.zip"), entry("digest", "sha256:"+strings.Repeat("0", 64)), entry("other", "a%d"), `{}`))
}

func policyFiles() []family {
	file := func(members string) string { return `{"type":"` + policy.MediaType + `",` + members + `}` }
	skills := func(members string) string { return file(`"skills":{` + members + `}`) }
	const nul = "\x00"
	return join(plain(nul, file(`"name":"`+nul+`"`), file(`"`+nul+`":1`), skills(`"deny":["`+nul+`"]`)),
		pieces(file(nul), ",", `"a%d":1`, `"skill%d":{}`, `"name":"a"`),
		pieces(skills(`"allow":[`+nul+`]`), ",", `"https://a%d.example/"`, `"https://a.example/%d/"`, `"https://a.example/"`),
		pieces(skills(`"deny":[`+nul+`]`), ",", `"a%d.example"`, `"https://b.example/%d/"`, `"a.b.c.d.e.f%d.example"`, `"b.example"`),
		pieces(skills(`"pins":[`+nul+`]`), ",", `{"skill":"https://a.example/%d/SKILL.md","digest":"sha256:`+strings.Repeat("0", 64)+`"}`,
			`{"skill":"https://a.example/a/SKILL.md","root":"https://a.example/"}`),
		pieces(skills(`"feeds":[`+nul+`]`), ",", `{"url":"https://a.example/%d.json"}`, `{"url":"https://a.example/%d.json","keys":{"keys":[]}}`),
		pieces(file(`"extends":[`+nul+`]`), ",", `"a%d.json"`),
		pieces(file(`"aiuri":{"credentials":[`+nul+`]}`), ",", `"a%d.example"`),
		pieces(file(`"agent":{"neverTell":[`+nul+`]}`), ",", `"field%d"`, `"field"`))
}

// agentResponses are families of what agents send to a service.
func agentResponses() []family {
	response := func(inner string) string {
		return `<anml xmlns="` + anml.Namespace + `" version="1.0" role="agent-response"><knowledge>` + inner + `</knowledge></anml>`
	}
	const nul = "\x00"
	return join(plain(nul, response(nul), response(`<answer field="`+nul+`" value="a"/>`), response(`<answer field="f0" consent="explicit" value="`+nul+`"/>`)),
		pieces(response(nul), "", `<answer field="f%d" consent="explicit" consent-granted="2026-02-01T00:00:00Z" value="a"/>`, `<answer field="f%d" value="a"/>`,
			`<answer field="f0" value="a"/>`, `<answer field="unasked%d" value="a"/>`, `<refuse field="f%d" reason="user-denied"/>`, `<refuse field="f0" reason="user-denied"/>`,
			`<refuse field="unasked%d"/>`, `<x%d/>`))
}

// responding measures what a service needs to check a response. Its document has an ask and a rule
// for each field that the response could answer.
func responding(name string, families []family) target {
	covers := []string{name, "anml.AgentResponse.Value", "anml.AgentResponse.Refused"}
	return target{name: name, families: families, covers: covers, prepare: func(input []byte) func() {
		var asks, rules strings.Builder
		for i := range bytes.Count(input, []byte("field=")) {
			fmt.Fprintf(&asks, `<ask field="f%d" action="a" purpose="to test"/>`, i)
			fmt.Fprintf(&rules, `<disclosure field="f%d" requires="explicit-consent"/>`, i)
		}
		d := read([]byte(`<anml xmlns="`+anml.Namespace+`" version="1.0" role="service"><constraints>`+rules.String()+`</constraints><knowledge>`+asks.String()+`</knowledge></anml>`), roomy)
		return func() {
			r, err := anml.ReadAgentResponse(d.Site, "a", anml.MediaTypeXML, input, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
			if err == nil {
				r.Value("f0")
				r.Refused("f0")
				for range r.Asks() {
				}
			}
		}
	}}
}

// serving measures what it costs to serve a document that another party wrote.
func serving(name string, families []family) target {
	return on(name, families, []string{name}, func(d *anml.Document) { _, _ = anml.NewHandler(d, anml.HandlerOptions{}) })
}

// receipts are families of receipts in JSON.
func receipts() []family {
	receipt := func(after string) string {
		return `{"entry":{"number":1,"plan":"a","kind":"answer"},"after":[` + after + `]}`
	}
	return pieces(receipt("\x00"), ",", `"`+strings.Repeat("0", 64)+`"`, `"a%d"`)
}

// verifying measures a receipt against a head that is as far from its entry as it says.
func verifying(name string, families []family) target {
	return target{name: name, families: families, covers: []string{name}, prepare: func(input []byte) func() {
		var r agent.Receipt
		must(json.Unmarshal(input, &r))
		head := agent.Head{Number: r.Entry.Number + int64(len(r.After)), Digest: strings.Repeat("0", 64)}
		return func() { _ = r.Verify(head) }
	}}
}

// ledgers are families of the entries of a ledger, in JSON.
func ledgers() []family {
	return pieces("[\x00]", ",", `{"plan":"a","kind":"answer","field":"f%d","serving":"a.example","document":"https://a.example/%d"}`,
		`{"plan":"a","kind":"refusal","serving":"a.example"}`)
}

// chaining measures a whole ledger and the receipt of its first entry.
func chaining(name string, families []family) target {
	return target{name: name, families: families, covers: []string{name}, prepare: func(input []byte) func() {
		var entries []agent.Entry
		must(json.Unmarshal(input, &entries))
		ctx, ledger := context.Background(), agent.NewMemoryDisclosureLedger()
		must(ledger.Append(ctx, entries...))
		return func() {
			head, err := agent.VerifyLedger(ctx, ledger, agent.Head{}, agent.Head{})
			must(err)
			_, err = agent.NewReceipt(ctx, ledger, 1, head)
			must(err)
		}
	}}
}
