package main

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/weblink"
	"github.com/lookleap/lookleap/wellknown"
)

// letters are pieces that any text can be full of.
var letters = []string{"a", "a%d", " ", "\t", "\n", "\r\n", "a b ", "é", "ﷺ", "e\u0301", "\u202e", "\U000e0041", "\x00", "\xff", "%41", "%", "%252e", "../", "./", "/", "//",
	"\\", ".", "-", "--", "_", ":", "::", "@", "#", "?", "&", "=", ";", ",", "a,", "a=b;", "\"", "\\\"", "'", "<", "<a", "</", "<!--", "-->", "(", ")", "[", "]", "[]", "](", "![", "{", "}",
	"*", "**", "*a", "`", "```", "~~~\n", "|", "^", "$", "> ", "- ", "1. ", "\t- ", "xn--", "a.", "A", "0", "9", "1e", "%d", "%d.", "%d:", "null", "true,", "\"a\":", "\"a%d\":1,"}

// plain are families of a text with each of the letters in the place of its NUL.
func plain(texts ...string) (list []family) {
	for _, text := range texts {
		for _, piece := range letters {
			list = append(list, repeated("letters "+quoted(text)+" "+quoted(piece), text, piece, ""))
		}
	}
	return list
}

// pieces are families of a text with other texts in the place of its NUL.
func pieces(text, between string, list ...string) (out []family) {
	for _, piece := range list {
		out = append(out, repeated("pieces "+quoted(text)+" "+quoted(piece), text, piece, between))
	}
	return out
}

func quoted(s string) string { return plaintext.Quote(s, 20) }

// of makes a target of a function of a text.
func of(name string, families []family, do func(string), covers ...string) target {
	return target{name: name, families: families, covers: append(covers, name), prepare: func(input []byte) func() {
		text := string(input)
		return func() { do(text) }
	}}
}

// bytesOf makes a target of a function of bytes.
func bytesOf(name string, families []family, do func([]byte), covers ...string) target {
	return target{name: name, families: families, covers: append(covers, name), prepare: func(input []byte) func() {
		return func() { do(input) }
	}}
}

func join(lists ...[]family) (all []family) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func parseSkill(data []byte, profile dvs.Profile) {
	if s, _, err := dvs.ParseSkill(data, profile, dvs.Limits{Skill: 64 << 20}); err == nil {
		s.Blocks()
		s.References()
		s.Display()
	}
}

func textTargets() []target {
	long := strings.Repeat("p", 40)
	now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	const nul = "\x00"
	page := func(inner string) string { return "<!doctype html><html><head>" + inner + "</head><body>" }
	heads := join(plain(page(nul)), pieces(page(nul), "", `<link rel="aiip" href="ai://a%d/">`, `<meta a%d="b">`, `<link a="b" a="b" `, `<base href="/%d">`, `<!-- - `,
		`<script>x`, `<title>&amp;`, `<style></style>`, `<template>`, `<noscript><link>`, `<link rel="a b c d e" href="/%d" type="text/html">`))
	links := join(plain(nul, "<https://a.example/>; "+nul), pieces(nul, ", ", `<https://a.example/%d>; rel="a b"; type="x/y"`, `<ai://a/>;rel=aiip;anchor=""`, `<>; a%d*=UTF-8''x`, `<`, `<a>;rel="x\"`))
	uris := plain(nul, "ai:/"+nul, "ai:/agent/x?"+nul, "ai://"+nul, "ai://bank/"+nul, "ai://bank/x?"+nul, "ai://"+nul+"/x")
	urls := plain(nul, "https://"+nul+"/SKILL.md", "https://a.example/"+nul+"/SKILL.md", "https://a.example/.well-known/"+nul, "https://a.example/?"+nul)
	policies := join(plain(nul, "# agents.txt\n"+nul, "[Agent: *]\nAllow: /"+nul+"\n", "[Agent: *]\nAllow: /\n"+nul),
		pieces("# agents.txt\n[Agent: *]\n"+nul, "", "Allow: /a%d\n", "Disallow: /a*b*c%d$\n", "Disallow: /"+long+"%d\n", "Allow: /*a\n", "[Agent: a%d]\n", "Meta-a%d: b\n", "# c%d\n", "Allow: /%%41%d\n"),
		pieces(nul, "", "User-agent: *\nDisallow: /%d\n", "/a%d allow\n", "allow /a%d\n", "/"+long+"%d read=allow\n", "/a/*/%d deny\n"))
	manifest := func(entries string) string {
		return `{"version":"1.0","site":"brand.example","issued":"2026-01-01T00:00:00Z","expires":"2026-03-01T00:00:00Z","authorized-domains":[` + entries + `]}`
	}
	manifests := join(plain(manifest(nul), `{"a":"`+nul+`"}`), pieces(manifest(nul), ",",
		`{"domain":"a%d.example.net","tier":1,"scope":["body"]}`, `{"domain":"*.a%d.example.net","tier":2,"scope":["body","a%d"]}`, `{"domain":"a.example.net","tier":1}`,
		`{"domain":"%d.b.c.d.e.f.g.h.example.net","tier":9}`, `{"domain":"bücher%d.example","tier":1}`, `{}`, `[]`, `{"domain":"`+long+`%d.example"}`))
	records := join(plain("v=anml1; "+nul), pieces("v=anml1; "+nul, ";", "a%d=b", "manifest=https://a.example/%d"))
	skill := func(header, body string) string {
		return "---\nname: a\ndescription: b\n" + header + "---\n" + body
	}
	skills := join(plain(skill("x: "+nul+"\n", ""), skill(nul+"\n", ""), skill("", nul)),
		pieces(skill(nul, ""), "", "a%d: b\n", "- a%d\n", "a%d: {b: [c]}\n", "a: &a%d b\n", "a%d: |\n  x\n", "  a%d:\n", "? a%d\n", "a%d: *b\n", "a%d: \"\\u00e9\"\n"),
		pieces(skill("x:\n"+nul, ""), "", " - [a%d, b]\n", " a%d: {a: b}\n"),
		pieces(skill("", nul), "", "[a](b%d)", "[a%d]: b\n", "![a](b \"t%d\")\n", "`x%d` ", "# a%d\n", "<a href=b%d>", "```sh\nrm\n```\n", "*a%d* ", "<!-- a%d --> ", "&amp;", "[a][b%d]\n", "| a | b%d |\n", "[[a%d", "](a%d", "***a", "<script src=a%d>", "[a](<b%d"))
	index := func(entries string) string { return `{"skills":[` + entries + `]}` }
	indexes := join(plain(index(nul)), pieces(index(nul), ",", `{"name":"a%d","url":"https://a.example/a%d/SKILL.md","description":"b"}`, `{"name":"a","url":"/a/SKILL.md"}`, `"https://a.example/%d/SKILL.md"`, `{}`))
	sitemap := func(inner string) string {
		return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + inner + `</urlset>`
	}
	sitemaps := join(plain(sitemap("<url><loc>"+nul+"</loc></url>"), nul), pieces(sitemap(nul), "", `<url><loc>https://a.example/%d/SKILL.md</loc></url>`, `<url><loc>https://a.example/a/SKILL.md</loc></url>`, `<url>`, `<x/>`, `<url><loc>b</loc><lastmod>2026-01-01</lastmod></url>`))
	locks := join(plain(`{"type":"`+nul+`"}`, nul), pieces(`{"lockfileVersion":1,"skills":[`+nul+`]}`, ",", `{"url":"https://a.example/a%d/SKILL.md","files":{"a%d":"sha256:00"}}`, `{}`))
	keys := join(plain(nul, `{"keys":[`+nul+`]}`), pieces(`{"keys":[`+nul+`]}`, ",", `{"kty":"EC","crv":"P-256","kid":"a%d","x":"AA","y":"AA"}`, `{"kty":"RSA","kid":"a%d","n":"AQAB","e":"AQAB"}`, `{"kid":"a"}`, `{"kty":"oct","k":"a%d"}`))
	descriptors := join(plain(nul, `{"a":"`+nul+`"}`), pieces(`{"version":"1","endpoints":[`+nul+`]}`, ",", `"https://a.example/%d"`, `{"url":"/%d"}`), pieces(`{`+nul+`}`, ",", `"a%d":1`, `"a":{"b%d":[]}`))
	registry := join(plain("URI Suffix,Change Controller,Reference,Status,Related Information,Date Registered,Date Modified\n"+nul), pieces(
		"URI Suffix,Change Controller,Reference,Status,Related Information,Date Registered,Date Modified\n"+nul, "", "a%d,b,c,permanent,,2020-01-01,\n", "a,b,c,permanent,,2020-01-01,\n", "\"a\"\"b%d\n"))
	problems := join(plain(`{"title":"`+nul+`"}`, nul, "<problem xmlns=\"urn:ietf:rfc:7807\">"+nul+"</problem>"), pieces(`{`+nul+`}`, ",", `"a%d":1`), pieces("<problem xmlns=\"urn:ietf:rfc:7807\">"+nul+"</problem>", "", "<a%d>b</a%d>", "<a/>"))
	for _, piece := range []string{"/a%d ALLOW\n", "/" + long + "%d DISALLOW\n", "/a/*/b%d ALLOW\n", "/a*b*c*%d$ DISALLOW limit=5\n", "/*a ALLOW\n", "/*%d*a* ALLOW\n", "/a/b/c%d* DISALLOW\n", "# c%d: x\n", "/%%41%d ALLOW\n", "/a ALLOW limit=%d\n"} {
		f := repeated("policy "+quoted(piece), "# version: 1.0\n"+nul, piece, "")
		policies = append(policies, family{f.name, func(n int) []byte {
			signed, err := agentstxt.Sign(f.make(n))
			if err != nil {
				return f.make(n)
			}
			return signed
		}})
	}
	robots := join(plain("User-agent: *\nDisallow: /"+nul, nul), pieces("User-agent: *\n"+nul, "", "Disallow: /a%d\n", "Disallow: /*a%d*b\nAllow: /a*%d$\n", "User-agent: a%d\n", "Allow: /%%41%d\r", "Sitemap: /%d\n", "Content-Usage: /a%d train-ai=n\n", "[Agent: a%d]\n", "Disallow: /a, /b%d\n"))
	decide := func(policy []byte) {
		signed, err := agentstxt.Sign(policy)
		if err != nil {
			signed = policy
		}
		if p, err := agentstxt.Parse(signed, agentstxt.Options{}); err == nil {
			p.Decide("/a/b/c")
			p.Decide("/" + strings.Repeat("a", 2000))
			p.Report("/a", "/b")
		}
	}
	return []target{
		of("plaintext.Quote", plain(nul), func(s string) { plaintext.Quote(s, len(s)); plaintext.Quote(s, 100) }),
		of("plaintext.Clip", plain(nul), func(s string) { plaintext.Clip(s, len(s)-1); plaintext.Clip(s, 100) }),
		of("plaintext.Line", plain(nul), func(s string) { plaintext.Line(s); plaintext.WholeLine(s) }, "plaintext.WholeLine"),
		of("plaintext.Isolate", plain(nul, "א"), func(s string) { plaintext.Isolate(s); plaintext.IsolateRow(s) }, "plaintext.IsolateRow"),
		of("plaintext.Block", plain(nul), func(s string) { plaintext.Block(s, len(s)); plaintext.Block(s, 100) }),
		of("plaintext.Count", plain(nul), func(s string) { plaintext.Count(s) }),
		of("plaintext.Host", plain(nul, nul+".example"), func(s string) { plaintext.Host(s); plaintext.HostParts(s) }, "plaintext.HostParts"),
		bytesOf("weblink.ParseHead", heads, func(b []byte) { weblink.ParseHead(b) }),
		of("weblink.ParseHeader", links, func(s string) {
			for _, l := range weblink.ParseHeader([]string{s, s}) {
				l.HasRel("x")
				l.HasType("x/y")
			}
		}, "weblink.Link.HasRel", "weblink.Link.HasType"),
		bytesOf("aiuri.ElementTargets", heads, func(b []byte) { aiuri.ElementTargets(b) }),
		of("aiuri.LinkTargets", links, func(s string) { aiuri.LinkTargets([]string{s}) }),
		of("aiuri.Parse", uris, func(s string) {
			_, _ = aiuri.Parse(s)
			_, _ = aiuri.FromIRI(s)
			_ = new(aiuri.URI).UnmarshalText([]byte(s))
			if m, err := aiuri.NewMapping("https://a.example/g"); err == nil {
				_, _ = m.Split(s)
				_, _ = m.URI(s, s, true)
			}
			_, _ = aiuri.NewMapping(s)
		}, "aiuri.ParseWith", "aiuri.FromIRI", "aiuri.URI.UnmarshalText", "aiuri.NewMapping", "aiuri.Mapping.Split", "aiuri.Mapping.URI"),
		bytesOf("aiuri.ParseKeySet", keys, func(b []byte) { _, _ = aiuri.ParseKeySet(b) }),
		bytesOf("aiuri.ParseDescriptor", descriptors, func(b []byte) { _, _ = aiuri.ParseDescriptor(b, "https://a.example") }),
		bytesOf("agentstxt.Parse", policies, func(b []byte) { _, _ = agentstxt.Parse(b, agentstxt.Options{}) }),
		bytesOf("agentstxt.Policy.Decide", policies, decide, "agentstxt.Policy.Report"),
		of("agentstxt.Policy.Decide/path", plain("/"+nul), func(s string) {
			if signed, err := agentstxt.Sign([]byte("[Agent: *]\nAllow: /\nDisallow: /a*b*c\n")); err == nil {
				if p, err := agentstxt.Parse(signed, agentstxt.Options{}); err == nil {
					p.Decide(s)
				}
			}
		}),
		bytesOf("agentstxt.ParseRobots", robots, func(b []byte) {
			f := agentstxt.ParseRobots(b, "ExampleBot")
			f.Decide("/" + strings.Repeat("a", 2000))
			f.Decide("/a?b")
			f.Usage("/a/b")
			f.Sitemaps()
		}, "agentstxt.RobotsFile.Decide", "agentstxt.RobotsFile.Usage", "agentstxt.RobotsFile.Sitemaps"),
		of("agentstxt.RobotsFile.Decide/path", plain("/"+nul, "/?"+nul), func(s string) {
			agentstxt.ParseRobots([]byte("User-agent: *\nAllow: /\nDisallow: /a*b*c\n"), "ExampleBot").Decide(s)
		}),
		bytesOf("agentstxt.Judge", join(robots, policies), func(b []byte) {
			agentstxt.Judge(agentstxt.Response{Status: 200, ContentType: "text/plain", Body: b}, agentstxt.Web("ExampleBot")).Decide("/a/b")
		}),
		of("agentstxt.ParseContentSignal", join(plain(nul), pieces(nul, ",", "a%d=yes", "search=no")), func(s string) {
			u := agentstxt.ParseContentSignal(s)
			agentstxt.ParseContentUsage(http.Header{"Content-Usage": {s, s}}).Strictest(u)
		}, "agentstxt.ParseContentUsage", "agentstxt.Usage.Strictest"),
		bytesOf("agentstxt.Lint", policies, func(b []byte) { agentstxt.Lint(b, "text/plain", agentstxt.Options{}); _, _ = agentstxt.Sign(b) }, "agentstxt.Sign"),
		bytesOf("agentstxt.State.UnmarshalText", plain(nul), func(b []byte) { _ = new(agentstxt.State).UnmarshalText(b); _ = new(agentstxt.Action).UnmarshalText(b) }, "agentstxt.Action.UnmarshalText"),
		of("agentstxt.PolicyURL", urls, func(s string) { _, _ = agentstxt.PolicyURL(s) }),
		bytesOf("anmltrust.ParseManifest", manifests, func(b []byte) {
			m, err := anmltrust.ParseManifest(b, anmltrust.ManifestLimits{Size: 64 << 20, Entries: 1 << 20})
			if err == nil {
				m.Check("brand.example", now)
				m.Lookup(anmltrust.Server{Host: "x.a1.example.net", Domain: "example.net"})
			}
		}, "anmltrust.Manifest.Check"),
		bytesOf("anmltrust.LintManifest", manifests, func(b []byte) { _, _ = anmltrust.LintManifest(b, "brand.example", now) }),
		bytesOf("anmltrust.ParseQueryResponse", join(plain(nul, `{"a":"`+nul+`"}`), pieces(`{"scope":[`+nul+`]}`, ",", `"a%d"`)), func(b []byte) {
			_, _ = anmltrust.ParseQueryResponse(b)
			_ = new(anmltrust.Scope).UnmarshalJSON(b)
		}, "anmltrust.Scope.UnmarshalJSON"),
		of("anmltrust.ParseRecord", records, func(s string) {
			if r, err := anmltrust.ParseRecord(s); err == nil {
				r.Check("a.example")
			}
		}, "anmltrust.Record.Check"),
		of("anmltrust.LintRecord", records, func(s string) {
			_, _ = anmltrust.LintRecord("a.example", &lookleap.DNSAnswer{Exists: true, Records: []lookleap.Record{{Text: s}}})
		}),
		of("anmltrust.ServerOf", urls, func(s string) { _, _ = anmltrust.ServerOf(s); _, _ = anmltrust.NormalizeSite(s) }, "anmltrust.NormalizeSite"),
		bytesOf("dvs.CapabilitiesOf", skills, func(b []byte) { dvs.CapabilitiesOf(map[string][]byte{"SKILL.md": b}) }),
		bytesOf("dvs.CapabilitiesOf/script", skills, func(b []byte) { dvs.CapabilitiesOf(map[string][]byte{"scripts/a.sh": b}) }, "dvs.CapabilitiesOf"),
		bytesOf("dvs.Compare", skills, func(b []byte) {
			half := b[:len(b)/2] // both versions are read
			dvs.Compare(map[string][]byte{"SKILL.md": half}, map[string][]byte{"SKILL.md": append([]byte("---\nname: a\ndescription: b\n---\nx\n"), half...)})
		}, "dvs.Change.*", "dvs.Capabilities.*"),
		of("dvs.CheckFileNames", join(plain(nul, "a/"+nul), pieces(nul, "\n", "a%d/b", "a%d", "A%d/é", "a/a%d")), func(s string) {
			_ = dvs.CheckFileNames(strings.Split(s, "\n")...)
		}),
		bytesOf("dvs.ParseSkill", skills, func(b []byte) { parseSkill(b, dvs.DVS) }),
		bytesOf("dvs.ParseSkill/lenient", skills, func(b []byte) { parseSkill(b, dvs.Lenient) }),
		bytesOf("dvs.ParseSkillIn", skills, func(b []byte) { _, _, _ = dvs.ParseSkillIn("a", b, dvs.Lenient, dvs.Limits{Skill: 64 << 20}) }),
		of("dvs.ParseSkillIn/directory", plain(nul), func(s string) {
			_, _, _ = dvs.ParseSkillIn(s, []byte("---\ndescription: b\n---\n"), dvs.Lenient, dvs.Limits{})
		}),
		bytesOf("dvs.ParseMetadata", skills, func(b []byte) { _, _, _ = dvs.ParseMetadata(b, dvs.DVS, dvs.Limits{}) }),
		bytesOf("dvs.Lint", skills, func(b []byte) { dvs.Lint(fstest.MapFS{"SKILL.md": {Data: b}}, dvs.LintOptions{}) }),
		bytesOf("dvs.NewPublished", skills, func(b []byte) {
			_, _ = dvs.NewPublished(map[string][]byte{"SKILL.md": b}, dvs.Limits{})
		}),
		bytesOf("dvs.Catalogue", skills, func(b []byte) {
			_, _ = dvs.Catalogue(fstest.MapFS{"a/SKILL.md": {Data: b}}, dvs.CatalogueOptions{})
			_, _ = dvs.ReadSkillDir(fstest.MapFS{"SKILL.md": {Data: b}}, dvs.Limits{})
		}, "dvs.ReadSkillDir"),
		bytesOf("dvs.ParseIndex", indexes, func(b []byte) {
			_, _ = dvs.ParseIndex(b, "https://a.example/.well-known/skills/index.json", dvs.Rules{}, dvs.Limits{Index: 64 << 20})
		}, "dvs.Rules.ParseIndex"),
		bytesOf("dvs.ReadSitemap", sitemaps, func(b []byte) {
			_, _ = dvs.ReadSitemap(bytes.NewReader(b), "https://a.example/sitemap.xml", dvs.Rules{}, dvs.Limits{SitemapURLs: 1 << 20})
		}, "dvs.Rules.ReadSitemap"),
		bytesOf("dvs.ParseLockfile", locks, func(b []byte) { _ = new(dvs.Lockfile).UnmarshalJSON(b) }, "dvs.Lockfile.UnmarshalJSON"),
		bytesOf("dvs.KindOf", plain(nul, "#!"+nul), func(b []byte) { dvs.KindOf("a", b); dvs.KindOf(string(b), b) }),
		of("dvs.ParseTrustRoot", urls, func(s string) {
			_, _ = dvs.ParseTrustRoot(s, dvs.Rules{})
			_, _ = dvs.ParseSkillURL(s, dvs.Rules{})
			_, _ = dvs.ParseDigest(s)
			_, _ = dvs.WellKnownSkillURL(s, s)
			_ = new(dvs.Digest).UnmarshalText([]byte(s))
			_ = new(dvs.Profile).UnmarshalText([]byte(s))
			_ = new(dvs.RootSource).UnmarshalText([]byte(s))
			_ = new(dvs.Artifact).UnmarshalText([]byte(s))
			_ = new(dvs.Registrar).UnmarshalText([]byte(s))
			_, _ = dvs.ParseArtifactURL(s, dvs.SkillArchive, dvs.Rules{})
			_, _ = dvs.ParseArtifactURL(s, dvs.SingleFile, dvs.Rules{})
			_, _ = dvs.ParseFeedURL(s)
			dvs.LintResponse(s, http.Header{"Content-Type": {s}})
		}, "dvs.ParseSkillURL", "dvs.ParseDigest", "dvs.WellKnownSkillURL", "dvs.Digest.UnmarshalText", "dvs.Profile.UnmarshalText", "dvs.RootSource.UnmarshalText", "dvs.LintResponse",
			"dvs.Artifact.UnmarshalText", "dvs.Registrar.UnmarshalText", "dvs.ParseArtifactURL", "dvs.ParseFeedURL",
			"dvs.Rules.ParseTrustRoot", "dvs.Rules.ParseSkillURL"),
		of("wellknown.Parse", urls, func(s string) {
			_, _ = wellknown.Parse(s)
			wellknown.IsWellKnown(s)
			_ = wellknown.CheckName(s)
			_, _ = wellknown.Lint(s)
			_, _ = wellknown.ParseStatus(s)
			_, _ = wellknown.URL(s, s)
			wellknown.SchemeSupported(s)
			_, _ = wellknown.Builtin().URL("https://a.example", s)
			_, _ = wellknown.Builtin().URLOn("https://a.example", s)
			_, _ = wellknown.Builtin().Lint(s, s)
			wellknown.Builtin().Lookup(s)
		}, "wellknown.IsWellKnown", "wellknown.CheckName", "wellknown.Lint", "wellknown.ParseStatus", "wellknown.URL", "wellknown.SchemeSupported", "wellknown.Registry.URL",
			"wellknown.Registry.URLOn", "wellknown.Registry.Lint", "wellknown.Registry.Lookup"),
		bytesOf("wellknown.LoadRegistry", registry, func(b []byte) { _, _ = wellknown.LoadRegistry(io.NopCloser(bytes.NewReader(b)), now) }),
		of("anml.Negotiate", join(plain(nul, "application/anml+json;"+nul), pieces(nul, ",", "a/b%d;q=0.%d", "application/anml+json;a%d=b")), func(s string) {
			anml.Negotiate(s)
			anml.FormatOf(s)
		}, "anml.FormatOf"),
		of("anml.CheckValue", plain(nul), func(s string) {
			for t := anml.TypeString; t <= anml.TypeEnum; t++ {
				_ = anml.CheckValue(t, s)
			}
			_, _ = anml.ParseNumber(s)
			_ = anml.ParseType(s)
			anml.ParseUsage(s)
			anml.ParseRequires(s)
			anml.IsStandardField(s)
			anml.ToolName(s, s)
			anml.ParseToolName(s)
		}, "anml.ParseNumber", "anml.ParseType", "anml.ParseUsage", "anml.ParseRequires", "anml.IsStandardField", "anml.ToolName", "anml.ParseToolName"),
		bytesOf("anml.ParseProblem", problems, func(b []byte) {
			_, _ = anml.ParseProblem(anml.MediaTypeProblemJSON, b)
			_, _ = anml.ParseProblem(anml.MediaTypeProblemXML, b)
		}),
	}
}
