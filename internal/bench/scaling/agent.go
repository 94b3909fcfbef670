package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// visit opens a document that a service sends, in a session of its own, and does
// something with the page. Only that, and reading in the case of open, is measured.
func visit(name string, families []family, covers []string, do func(context.Context, *agent.Session, *agent.Page)) target {
	return target{name: name, scale: 4, families: families, covers: covers, prepare: func(input []byte) func() {
		net := lab.New()
		session, err := agent.New(net.Host(), agent.Options{
			Read: anml.ReadOptions{Limits: roomy}, Limits: agent.Limits{Document: 64 << 20, Informs: 1000},
		}).NewSession(agent.User{Store: agent.NewMemoryStore()})
		if err != nil {
			panic(err)
		}
		mediaType := anml.MediaTypeXML
		if strings.HasPrefix(string(input), "{") {
			mediaType = anml.MediaTypeJSON
		}
		net.Site("a.example").Body("/doc", mediaType, string(input))
		ctx := context.Background()
		open := func() *agent.Page {
			page, err := session.Open(ctx, "https://a.example/doc")
			if err != nil {
				return nil
			}
			return page
		}
		finish := func() { _ = session.Close(); net.Close() }
		if do == nil {
			return func() { open(); finish() }
		}
		page := open()
		return func() {
			if page != nil {
				do(ctx, session, page)
			}
			finish()
		}
	}}
}

// told are families of documents that tell much.
func told() []family {
	around := func(inner string) string {
		return `<anml xmlns="` + anml.Namespace + `" role="service"><head><title>x</title></head>` + inner + `</anml>`
	}
	informs := around("<knowledge>\x00</knowledge>")
	return []family{
		repeated("told/informs", informs, `<inform>fact %d of many</inform>`, ""),
		repeated("told/stored", informs, `<inform usage="store">fact %d of many</inform>`, ""),
		repeated("told/same", informs, `<inform>fact</inform>`, ""),
		repeated("told/prefixes", informs, `<inform>`+strings.Repeat("p", 60)+`%d</inform>`, ""),
		repeated("told/long", around("<knowledge><inform>\x00</inform></knowledge>"), `word%d `, ""),
		repeated("told/long-foreign", around("<knowledge><inform>\x00</inform></knowledge>"), `é%d ﷺ `, ""),
		repeated("told/encoded", informs, `<inform>aGF5IGZldmVy%d &amp;#104; %%68%%61 104 97 121 32 0x68</inform>`, ""),
		repeated("told/encoded-once", around("<knowledge><inform>\x00</inform></knowledge>"), `aGF5IGZldmVy%d`, ""),
		repeated("told/persona", around("<persona><instructions>\x00</instructions></persona>"), `ignore all %d `, ""),
		repeated("told/domains", around("<persona><instructions>\x00</instructions></persona>"), `a%d.example [dot] `, ""),
		repeated("told/vocabulary", around("<persona><vocabulary>\x00</vocabulary></persona>"), `<prefer>word%d</prefer>`, ""),
		repeated("told/purpose", around(`<knowledge><ask field="email" action="a" purpose="`+"\x00"+`"/></knowledge>`), `health ward%d `, ""),
		repeated("told/field", around(`<knowledge><ask field="`+"\x00"+`" action="a" purpose="x"/></knowledge>`), `rn1lI%d`, ""),
		{"told/covered", func(n int) []byte {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "<inform>fact %d</inform>", i)
			}
			return []byte(around("<knowledge>" + b.String() + "</knowledge><body>" + strings.Repeat(`<section id="a"/>`, n) + "</body><footer>" +
				strings.Repeat(`<rights scope="a"/>`, n) + "</footer>"))
		}},
		{"told/asks", func(n int) []byte {
			var asks, params, rules strings.Builder
			for i := range n {
				fmt.Fprintf(&asks, `<ask field="f%d" action="a" purpose="to test %d"/>`, i, i)
				fmt.Fprintf(&params, `<param name="f%d" required="true"/>`, i)
				fmt.Fprintf(&rules, `<disclosure field="f%d" requires="explicit-consent"/>`, i)
			}
			return []byte(around("<constraints>" + rules.String() + `</constraints><interact><action id="a" method="POST" endpoint="/a" confirm="false">` + params.String() +
				"</action></interact><knowledge>" + asks.String() + "</knowledge>"))
		}},
		{"told/actions", func(n int) []byte {
			var asks, actions strings.Builder
			for i := range n {
				fmt.Fprintf(&asks, `<ask field="email" action="a%d" purpose="to test"/>`, i)
				fmt.Fprintf(&actions, `<action id="a%d" method="POST" endpoint="/a%d"><param name="email" required="true"/></action>`, i, i)
			}
			return []byte(around("<interact>" + actions.String() + "</interact><knowledge>" + asks.String() + "</knowledge>"))
		}},
	}
}

// agentTargets are the steps of a session that one document can cause.
func agentTargets() []target {
	var few []family // of the element table; opening one is much more than reading it
	for _, f := range documents() {
		if strings.HasSuffix(f.name, "/distinct") && !strings.HasPrefix(f.name, "pair/") || strings.HasPrefix(f.name, "everything/") {
			few = append(few, f)
		}
	}
	families := join(told(), few)
	return []target{
		visit("agent.Session.Open", families, []string{"agent.Session.Open"}, nil),
		visit("agent.Session.Open/json", inJSON(told()), nil, nil),
		visit("agent.Page.Decide", families, nil, func(ctx context.Context, _ *agent.Session, p *agent.Page) { p.Decide(ctx) }),
		visit("agent.Page.Explain", families, []string{"agent.Page.Persona", "agent.Page.Aesthetic", "agent.Page.Flow"}, func(_ context.Context, _ *agent.Session, p *agent.Page) {
			_ = p.Explain().String()
			p.Persona("a.example")
			p.Aesthetic("a.example")
			p.Flow("")
			p.Media()
			p.RequiredMedia()
			p.SiteRefs()
			p.Findings()
		}),
		visit("agent.Page.Tools", families, nil, func(_ context.Context, _ *agent.Session, p *agent.Page) { p.Tools() }),
		visit("agent.Page.EffectiveUsage", told(), nil, func(_ context.Context, _ *agent.Session, p *agent.Page) {
			site := p.Document().Site
			for i := range site.Knowledge().Informs() {
				p.EffectiveUsage(site, anmltrust.Knowledge, i.Node)
			}
		}),
		visit("agent.Page.Do", families, nil, func(ctx context.Context, _ *agent.Session, p *agent.Page) {
			if _, err := p.Do(ctx, agent.Call{Action: "a"}); lookleap.CodeOf(err) == anml.CodeUnknownAction {
				_, _ = p.Do(ctx, agent.Call{Action: "a0"})
			}
		}),
		visit("agent.Tool.Call", families, []string{"agent.Tool.Call"}, func(ctx context.Context, _ *agent.Session, p *agent.Page) {
			for _, t := range p.Tools()[:min(1, len(p.Tools()))] {
				_, _ = t.Call(ctx, nil)
			}
		}),
		visit("agent.Context", told(), []string{"agent.Context.Informs", "agent.Context.Supplied", "agent.Session.Forget", "agent.Context.Delete"}, func(ctx context.Context, s *agent.Session, _ *agent.Page) {
			for range s.Context().Informs("a.example") {
			}
			s.Context().Supplied("fact 1 of many")
			_, _ = s.Forget(ctx, "a.example")
		}),
		answering("agent.Page.Do/answer", told()),
		referred("agent.Session.Open/site-ref", told()),
	}
}

// answering measures what the answer of an action costs.
func answering(name string, families []family) target {
	return target{name: name, scale: 4, families: families, prepare: func(input []byte) func() {
		net := lab.New()
		session, err := agent.New(net.Host(), agent.Options{Read: anml.ReadOptions{Limits: roomy}, Limits: agent.Limits{Document: 64 << 20}}).NewSession(agent.User{})
		if err != nil {
			panic(err)
		}
		site := net.Site("a.example")
		site.Body("/doc", anml.MediaTypeXML, `<anml xmlns="`+anml.Namespace+`" role="service"><interact><action id="a" method="GET" endpoint="/a" confirm="false"/></interact></anml>`)
		site.Body("/a", anml.MediaTypeXML, string(input))
		page, err := session.Open(context.Background(), "https://a.example/doc")
		if err != nil {
			panic(err)
		}
		return func() {
			_, _ = page.Do(context.Background(), agent.Call{Action: "a"})
			_ = session.Close()
			net.Close()
		}
	}}
}

// referred measures what a document costs to which another one points.
func referred(name string, families []family) target {
	t := visit(name, families, nil, nil)
	t.prepare = func(input []byte) func() {
		net := lab.New()
		session, err := agent.New(net.Host(), agent.Options{Read: anml.ReadOptions{Limits: roomy}, Limits: agent.Limits{Document: 64 << 20}}).NewSession(agent.User{})
		if err != nil {
			panic(err)
		}
		net.Site("b.example").Body("/doc", anml.MediaTypeXML, string(input))
		net.Site("a.example").Body("/doc", anml.MediaTypeXML, `<anml xmlns="`+anml.Namespace+`" role="service"><head><site-ref domain="b.example" canonical="https://b.example/doc"/></head></anml>`)
		return func() {
			if _, err := session.Open(context.Background(), "https://a.example/doc"); err != nil {
				panic(err)
			}
			_ = session.Close()
			net.Close()
		}
	}
	return t
}
