package main

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/weblink"
	"github.com/lookleap/lookleap/wellknown"
)

// readers lists everything that is measured.
func readers() []reader { return append(textReaders(), documentReaders()...) }

// of measures a function of a text.
func of(name string, inputs []input, do func(s string, b []byte)) reader {
	return reader{name: name, inputs: inputs, prepare: func(text []byte) func() {
		s := string(text)
		return func() { do(s, text) }
	}}
}

func textReaders() []reader {
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	long := strings.Repeat("p", 40)
	urls := filled(nul, "https://"+nul+"/SKILL.md", "https://a.example/"+nul+"/SKILL.md", "https://a.example/.well-known/"+nul, "ai://bank/"+nul)
	page := "<!doctype html><html><head>" + nul + "</head><body>"
	manifest := `{"version":"1.0","site":"brand.example","issued":"2026-01-01T00:00:00Z","expires":"2026-03-01T00:00:00Z","authorized-domains":[` + nul + `]}`
	registry := "URI Suffix,Change Controller,Reference,Status,Related Information,Date Registered,Date Modified\n" + nul
	skill := func(header, body string) string { return "---\nname: a\ndescription: b\n" + header + "---\n" + body }
	skills := slices.Concat(filled(skill("x: "+nul+"\n", ""), skill("", nul)),
		with(skill(nul, ""), "", "a%d: b\n", "a%d: {b: [c]}\n", "a: &a%d b\n", "a%d: |\n  x\n", "a%d: *b\n"), with(skill("x:\n"+nul, ""), "", " - [a%d, b]\n", " a%d: {a: b}\n"),
		with(skill("", nul), "", "[a](b%d)", "[a%d]: b\n", "`x%d` ", "<a href=b%d>", "```sh\nrm\n```\n", "*a%d* ", "<!-- a%d --> ", "[a][b%d]\n", "[[a%d", "](a%d", "***a", "[a](<b%d"))
	feed := `{"type":"` + dvs.WithdrawalsMediaType + `","sequence":1,"updated":"2026-01-01T00:00:00Z","withdrawn":[` + nul + `]}`
	entry := func(kind, value string) string {
		return `{"kind":"` + kind + `","value":"` + value + `","reason":"b","time":"2026-01-01T00:00:00Z"}`
	}
	organisation := func(members string) string { return `{"type":"` + policy.MediaType + `",` + members + `}` }
	rules := slices.Concat(filled("User-agent: *\nDisallow: /"+nul, nul),
		with("User-agent: *\n"+nul, "", "Disallow: /a%d\n", "Disallow: /*a%d*b\nAllow: /a*%d$\n", "User-agent: a%d\n", "Content-Usage: /a%d train-ai=n\n", "[Agent: a%d]\n"),
		with(nul, "", "/a%d ALLOW\n", "/"+long+"%d DISALLOW\n", "/a*b*c*%d$ DISALLOW limit=5\n", "/*%d*a* ALLOW\n", "# c%d: x\n", "/%%41%d ALLOW\n"))
	return []reader{
		of("plaintext", filled(nul), func(s string, _ []byte) {
			plaintext.Quote(s, len(s))
			plaintext.Line(s)
			plaintext.Isolate(s)
			plaintext.Block(s, len(s))
			plaintext.Host(s)
		}),
		of("weblink", slices.Concat(filled(page, "<https://a.example/>; "+nul), with(page, "", `<link rel="aiip" href="ai://a%d/">`, `<link a="b" a="b" `, `<base href="/%d">`, `<script>x`, `<template>`),
			with(nul, ", ", `<https://a.example/%d>; rel="a b"; type="x/y"`, `<>; a%d*=UTF-8''x`, `<a>;rel="x\"`)), func(s string, b []byte) {
			weblink.ParseHead(b)
			weblink.ParseHeader([]string{s, s})
			aiuri.ElementTargets(b)
		}),
		of("urls", urls, func(s string, _ []byte) {
			_, _ = aiuri.Parse(s)
			_, _ = agentstxt.PolicyURL(s)
			_, _ = anmltrust.ServerOf(s)
			_, _ = dvs.ParseTrustRoot(s, dvs.Rules{})
			_, _ = dvs.ParseSkillURL(s, dvs.Rules{})
			_, _ = dvs.ParseArtifactURL(s, dvs.SkillArchive, dvs.Rules{})
			_, _ = wellknown.Parse(s)
			_, _ = wellknown.Builtin().Lint(s, s)
		}),
		of("agentstxt.Policy", rules, func(_ string, b []byte) {
			if signed, err := agentstxt.Sign(b); err == nil {
				b = signed
			}
			p := agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: b}, agentstxt.Web("ExampleBot"))
			p.Decide("/a/b/c")
			p.Decide("/" + strings.Repeat("a", 2000))
		}),
		of("agentstxt.Robots", rules, func(_ string, b []byte) {
			f := agentstxt.ParseRobots(b, "ExampleBot", "OtherBot")
			f.Decide("/" + strings.Repeat("a", 2000))
			f.Usage("/a/b")
		}),
		of("agentstxt.Decide/path", filled("/"+nul, "/?"+nul), func(s string, _ []byte) {
			agentstxt.ParseRobots([]byte("User-agent: *\nAllow: /\nDisallow: /a*b*c\n"), "ExampleBot").Decide(s)
		}),
		of("agentstxt.Usage", slices.Concat(filled(nul), with(nul, ",", "a%d=yes", "search=no")), func(s string, _ []byte) {
			agentstxt.ParseContentUsage(http.Header{"Content-Usage": {s, s}}).Strictest(agentstxt.ParseContentSignal(s))
		}),
		of("anmltrust.Manifest", slices.Concat(filled(manifest), with(manifest, ",", `{"domain":"a%d.example.net","tier":1,"scope":["body"]}`, `{"domain":"*.a%d.example.net","tier":2,"scope":["body","a%d"]}`,
			`{"domain":"a.example.net","tier":1}`, `{"domain":"bücher%d.example","tier":1}`, `{}`)), func(_ string, b []byte) {
			if m, err := anmltrust.ParseManifest(b); err == nil {
				m.Check("brand.example", now)
				m.Lookup(anmltrust.Server{Host: "x.a1.example.net", Domain: "example.net"})
			}
			_, _ = anmltrust.LintManifest(b, "brand.example", now)
		}),
		of("anmltrust.Record", slices.Concat(filled("v=anml1; "+nul), with("v=anml1; "+nul, ";", "a%d=b", "manifest=https://a.example/%d")), func(s string, b []byte) {
			_, _ = anmltrust.LintRecord("a.example", &lookleap.DNSAnswer{Exists: true, Records: []lookleap.Record{{Text: s}}})
			_, _ = anmltrust.ParseQueryResponse(b)
		}),
		of("dvs.Skill", skills, func(_ string, b []byte) {
			for _, profile := range []dvs.Profile{dvs.DVS, dvs.Lenient} {
				if s, _, err := dvs.ParseSkill(b, profile, dvs.Limits{Skill: 64 << 20}); err == nil {
					s.Blocks()
					s.References()
					s.Display()
				}
			}
		}),
		of("dvs.Files", skills, func(_ string, b []byte) {
			dvs.CapabilitiesOf(map[string][]byte{"SKILL.md": b, "scripts/a.sh": b})
			dvs.Compare(map[string][]byte{"SKILL.md": b[:len(b)/2]}, map[string][]byte{"SKILL.md": b[:len(b)/3]})
			dvs.Lint(fstest.MapFS{"SKILL.md": {Data: b}}, dvs.LintOptions{})
		}),
		of("dvs.FileNames", with(nul, "\n", "a%d/b", "a%d", "A%d/é", "a/a%d"), func(s string, _ []byte) { _ = dvs.CheckFileNames(strings.Split(s, "\n")...) }),
		of("dvs.Index", with(`{"skills":[`+nul+`]}`, ",", `{"name":"a%d","url":"https://a.example/a%d/SKILL.md","description":"b"}`, `{"name":"a","url":"/a/SKILL.md"}`, `{}`), func(_ string, b []byte) {
			_, _ = dvs.ParseIndex(b, "https://a.example/.well-known/skills/index.json", dvs.Rules{}, dvs.Limits{Index: 64 << 20})
		}),
		of("dvs.Sitemap", with(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+nul+`</urlset>`, "",
			`<url><loc>https://a.example/%d/SKILL.md</loc></url>`, `<url>`, `<x/>`), func(_ string, b []byte) {
			_, _ = dvs.ReadSitemap(bytes.NewReader(b), "https://a.example/sitemap.xml", dvs.Rules{}, dvs.Limits{SitemapURLs: 1 << 20})
		}),
		of("dvs.Lockfile", slices.Concat(filled(nul), with(`{"lockfileVersion":1,"skills":[`+nul+`]}`, ",", `{"url":"https://a.example/a%d/SKILL.md","files":{"a%d":"sha256:00"}}`, `{}`)), func(_ string, b []byte) {
			_, _ = dvs.ParseLockfile(b)
		}),
		of("dvs.Feed", slices.Concat(filled(feed), with(feed, ",", entry("key", "a%d"), entry("key", long+"%d"), entry("root", "a.b.c.d.e.f.g.h%d.example"), entry("skill", "https://a.example/%d/SKILL.md"))), func(_ string, b []byte) {
			_, _ = dvs.ParseWithdrawals(b)
		}),
		of("policy", slices.Concat(with(organisation(nul), ",", `"a%d":1`, `"name":"a"`), with(organisation(`"skills":{"deny":[`+nul+`]}`), ",", `"a%d.example"`, `"https://b.example/%d/"`, `"b.example"`),
			with(organisation(`"agent":{"neverTell":[`+nul+`]}`), ",", `"field%d"`, `"field"`)), func(_ string, b []byte) {
			if p, err := policy.Parse("policy.json", b); err == nil {
				p.Explain()
				_ = p.Check("https://a.example/a/SKILL.md")
			}
		}),
		of("wellknown.Registry", slices.Concat(filled(registry), with(registry, "", "a%d,b,c,permanent,,2020-01-01,\n", "\"a\"\"b%d\n")), func(_ string, b []byte) {
			_, _ = wellknown.LoadRegistry(io.NopCloser(bytes.NewReader(b)), now)
		}),
		of("aiuri.Keys", slices.Concat(filled(nul), with(`{"keys":[`+nul+`]}`, ",", `{"kty":"EC","crv":"P-256","kid":"a%d","x":"AA","y":"AA"}`, `{"kty":"RSA","kid":"a%d","n":"AQAB","e":"AQAB"}`)), func(_ string, b []byte) {
			_, _ = aiuri.ParseKeySet(b)
			_, _ = aiuri.ParseDescriptor(b, "https://a.example")
		}),
		of("aiuri.Result", filled(nul, "a."+nul+".b", nul+".b.c"), func(s string, _ []byte) {
			if keys, err := aiuri.ParseKeySet([]byte(`{"keys":[]}`)); err == nil {
				_, _ = aiuri.VerifyResult(aiuri.SignedResult{JWS: s}, keys, now, aiuri.Expectation{})
			}
		}),
		of("anml.Values", filled(nul), func(s string, b []byte) {
			anml.Negotiate(s)
			_, _ = anml.ParseNumber(s)
			anml.ParseToolName(s)
			_, _ = anml.ParseProblem(anml.MediaTypeProblemJSON, b)
			_, _ = anml.ParseProblem(anml.MediaTypeProblemXML, b)
		}),
	}
}
