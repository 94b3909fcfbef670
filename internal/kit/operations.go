package kit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/receipt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/wellknown"
)

// operations are what this module answers.
var operations = map[string]operation{
	"wellknown.parse":  typed(parseWellKnown),
	"agentstxt.parse":  typed(parsePolicy),
	"agentstxt.decide": typed(decidePath),
	"agentstxt.judge":  typed(judgeResponse),
	"dvs.root":         typed(parseRoot),
	"dvs.url":          typed(parseSkillURL),
	"dvs.decide":       typed(decideSkill),
	"dvs.skill":        typed(parseSkill),
	"dvs.index":        typed(parseIndex),
	"anml.read":        typed(readDocument),
	"anml.value":       typed(checkValue),
	"anml.answers":     typed(decideAnswers),
	"anml.trust":       typed(decideTier),
	"ai.parse":         typed(parseURI),
	"ai.gateway":       typed(mapGateway),
	"ai.links":         typed(findLinks),
	"ai.descriptor":    typed(parseDescriptor),
	"ai.verify":        typed(verifyResult),
	"receipt.verify":   typed(verifyReceipts),
}

func parseWellKnown(_ context.Context, in struct{ URI string }) (map[string]any, error) {
	u, err := wellknown.Parse(in.URI)
	return map[string]any{"origin": u.Origin, "name": u.Name, "rest": u.Rest}, err
}

// bytesOf returns a file that is given as text or, if it is not text, in base64.
func bytesOf(file string, base64 []byte) []byte {
	if base64 != nil {
		return base64
	}
	return []byte(file)
}

func parsePolicy(_ context.Context, in struct {
	File   string
	Base64 []byte
}) (map[string]any, error) {
	p, err := agentstxt.Parse(bytesOf(in.File, in.Base64), agentstxt.Options{})
	outcome := map[string]any{"state": p.State()}
	if hash := new(agentstxt.HashMismatch); errors.As(err, &hash) {
		outcome["hint"] = hash.Hint
	}
	return outcome, err
}

func decidePath(_ context.Context, in struct{ File, Path string }) (map[string]any, error) {
	p, err := agentstxt.Parse([]byte(in.File), agentstxt.Options{})
	if err != nil {
		return nil, err
	}
	d := p.Decide(in.Path)
	outcome := map[string]any{"line": d.Line, "limit": d.Limit}
	if !d.Allowed {
		return outcome, refused(d.Code)
	}
	return outcome, nil
}

func judgeResponse(_ context.Context, in struct {
	Status            int
	ContentType, File string
	Strict            bool
}) (map[string]any, error) {
	p := agentstxt.Judge(agentstxt.Response{Status: in.Status, ContentType: in.ContentType, Body: []byte(in.File)},
		agentstxt.Options{Strict: in.Strict})
	outcome := map[string]any{"state": p.State()}
	if p.State() == agentstxt.Restricted {
		return outcome, refused(p.Reason())
	}
	return outcome, nil
}

func parseRoot(_ context.Context, in struct{ Root string }) (map[string]any, error) {
	root, err := dvs.ParseTrustRoot(in.Root, dvs.Rules{})
	return map[string]any{"canonical": root.String()}, err
}

func parseSkillURL(_ context.Context, in struct{ URL string }) (map[string]any, error) {
	u, err := dvs.ParseSkillURL(in.URL, dvs.Rules{})
	return map[string]any{"id": u.String(), "servedFrom": u.ServedFrom()}, err
}

// rowCovers is the row of the verdict that says whether the root covers the skill.
const rowCovers = "DVS-3.1-05"

func decideSkill(_ context.Context, in struct{ Root, URL string }) (map[string]any, error) {
	v := dvs.Decide(dvs.Claim{URL: in.URL, Root: in.Root, Source: dvs.ByUser}, dvs.Evidence{}, time.Time{}, dvs.Rules{})
	covered := func(c lookleap.Check) bool { return c.Requirement == rowCovers && c.Status == lookleap.Passed }
	if !slices.ContainsFunc(v.Checks, covered) {
		return nil, refused(v.Code)
	}
	return nil, nil
}

func parseSkill(_ context.Context, in struct {
	Profile dvs.Profile
	File    string
	Base64  []byte
}) (map[string]any, error) {
	skill, _, err := dvs.ParseSkill(bytesOf(in.File, in.Base64), in.Profile, dvs.Limits{})
	if err != nil {
		return nil, err
	}
	return map[string]any{"skill": skill.Name, "description": skill.Description}, nil
}

// indexURL is where the indexes of the kit are published.
const indexURL = "https://shop.example/.well-known/skills/index.json"

func parseIndex(_ context.Context, in struct{ Index string }) (map[string]any, error) {
	list, err := dvs.ParseIndex([]byte(in.Index), indexURL, dvs.Rules{}, dvs.Limits{})
	if err != nil {
		return nil, err
	}
	skills, findings := []string{}, []lookleap.Code{}
	for _, s := range list.Skills {
		skills = append(skills, s.Skill.String())
	}
	for _, f := range list.Findings {
		findings = append(findings, f.Code)
	}
	return map[string]any{"skills": skills, "findings": findings}, nil
}

func parseURI(_ context.Context, in struct{ URI, IRI string }) (map[string]any, error) {
	read, text := aiuri.Parse, in.URI
	if in.IRI != "" {
		read, text = aiuri.FromIRI, in.IRI
	}
	u, err := read(text)
	if err != nil {
		return nil, err
	}
	return map[string]any{"normal": u.Normalize().String(), "authority": u.Authority()}, nil
}

func mapGateway(_ context.Context, in struct{ Base, URI, URL string }) (map[string]any, error) {
	m, err := aiuri.NewMapping(in.Base)
	if err != nil {
		return nil, err
	}
	if in.URL != "" {
		u, err := m.Split(in.URL)
		return map[string]any{"mapped": u.String()}, err
	}
	u, err := aiuri.Parse(in.URI)
	if err != nil {
		return nil, err
	}
	url, err := m.URL(u)
	return map[string]any{"mapped": url}, err
}

func findLinks(_ context.Context, in struct {
	Link []string
	Page string
}) (map[string]any, error) {
	targets := aiuri.LinkTargets(in.Link)
	if in.Page != "" {
		targets = aiuri.ElementTargets([]byte(in.Page))
	}
	if len(targets) == 0 {
		return nil, refused(aiuri.CodeNoEndpoint)
	}
	return map[string]any{"targets": targets}, nil
}

func parseDescriptor(_ context.Context, in struct{ Origin, Document string }) (map[string]any, error) {
	d, err := aiuri.ParseDescriptor([]byte(in.Document), in.Origin)
	if err != nil {
		return nil, err
	}
	outcome := map[string]any{"endpoint": d.Endpoint.String(), "jwks": d.JWKS, "auth": d.Policy.Auth,
		"mtls": d.Policy.MTLS, "scopes": append([]string{}, d.Scopes...), "finding": ""}
	if len(d.Findings) == 1 {
		outcome["finding"] = d.Findings[0].Code
	}
	return outcome, nil
}

func verifyReceipts(_ context.Context, in struct {
	Keys     json.RawMessage
	Receipts []string
}) (map[string]any, error) {
	keys, err := aiuri.ParseKeySet(in.Keys)
	if err != nil {
		return nil, err
	}
	var head receipt.Head
	each := func(yield func(string, error) bool) {
		for _, jws := range in.Receipts {
			if !yield(jws, nil) {
				return
			}
		}
	}
	for r, err := range receipt.VerifyAll(each, keys, head) {
		if err != nil {
			return nil, err
		}
		head = r.Head()
	}
	return map[string]any{"number": head.Number, "digest": head.Digest}, nil
}

func verifyResult(_ context.Context, in struct {
	Keys   json.RawMessage
	Now    int64
	JWS    string
	Body   *string
	Expect struct {
		Endpoint, Audience, Request string
		Scopes, Require             []string
	}
}) (map[string]any, error) {
	keys, err := aiuri.ParseKeySet(in.Keys)
	if err != nil {
		return nil, err
	}
	r := aiuri.SignedResult{JWS: in.JWS}
	if in.Body != nil {
		r.Body = []byte(*in.Body)
	}
	x := aiuri.Expectation{Audience: in.Expect.Audience, Request: in.Expect.Request, Scopes: in.Expect.Scopes, Require: in.Expect.Require}
	if in.Expect.Endpoint != "" {
		if x.Endpoint, err = aiuri.Parse(in.Expect.Endpoint); err != nil {
			return nil, err
		}
	}
	v, err := aiuri.VerifyResult(r, keys, time.Unix(in.Now, 0), x)
	if err != nil {
		return nil, err
	}
	return map[string]any{"payload": string(v.Payload), "key": v.KeyID}, nil
}
