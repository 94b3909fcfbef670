package kit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// vector is a case of a package's testdata/vectors.
type vector map[string]any

// source says how the vectors of one file become cases.
type source struct {
	file, operation string
	input           []string       // members that a program is given
	outcome         map[string]any // members of the outcome if the input is accepted, with their defaults
	expand          func(file, v vector) []vector
}

// rejected are the members of the outcome if the input is refused.
var rejected = []string{"reason", "line", "offset", "hint", "state"}

// kitFile is one file of the kit and where its cases come from.
type kitFile struct {
	name, title, dir string
	sources          []source
}

var kitFiles = []kitFile{
	{"wellknown.json", "RFC 8615", "wellknown", []source{
		{"uris.json", "wellknown.parse", []string{"uri"}, vector{"origin": "", "name": "", "rest": ""}, nameURIs},
	}},
	{"agentstxt.json", "draft-srijal-agents-policy-00", "agentstxt", []source{
		{"files.json", "agentstxt.parse", []string{"file", "base64"}, vector{"state": nil}, nil},
		{"decisions.json", "agentstxt.decide", []string{"file", "path"}, vector{"line": 0.0, "limit": 0.0}, expandDecisions},
		{"answers.json", "agentstxt.judge", []string{"status", "contentType", "file", "strict"}, vector{"state": nil}, expandAnswers},
	}},
	{"dvs.json", "draft-zzn-dvs-00", "dvs", []source{
		{"roots.json", "dvs.root", []string{"root"}, vector{"canonical": ""}, nil},
		{"urls.json", "dvs.url", []string{"url"}, vector{"id": nil, "servedFrom": nil}, nil},
		{"decisions.json", "dvs.decide", []string{"root", "url"}, nil, nil},
		{"skills.json", "dvs.skill", []string{"profile", "file", "base64"}, vector{"skill": nil, "description": nil}, nil},
		{"indexes.json", "dvs.index", []string{"index"}, vector{"skills": nil, "findings": nil}, nil},
	}},
	{"anml.json", "draft-jeskey-anml-01", "anml", []source{
		{"documents.json", "anml.read", []string{"contentType", "file"}, vector{"decisions": nil, "errors": nil, "canonical": nil}, expandDocuments},
		{"refusals.json", "anml.read", []string{"contentType", "role", "file", "base64", "repeat"}, nil, refuseDocuments},
		{"values.json", "anml.value", []string{"type", "text"}, nil, nil},
	}},
	{"anml-agent.json", "draft-jeskey-anml-01, decisions about answers", "anml/agent", []source{
		{"decisions.json", "anml.answers", []string{"document", "profile", "rules"}, vector{"decisions": nil}, nil},
	}},
	{"anml-trust.json", "draft-jeskey-anml-01, trust delegation", "anmltrust", []source{
		{"decisions.json", "anml.trust", []string{"url", "site", "now", "dns", "exchanges"}, vector{"tier": nil, "scope": nil}, expandTiers},
	}},
	{"aiuri.json", "draft-sogomonian-ai-uri-scheme-01", "aiuri", []source{
		{"uris.json", "ai.parse", []string{"uri", "iri"}, vector{"normal": nil, "authority": nil}, nil},
		{"gateway.json", "ai.gateway", []string{"base", "uri", "url"}, vector{"mapped": nil}, expandGateway},
		{"links.json", "ai.links", []string{"link", "page"}, vector{"targets": nil}, expandLinks},
		{"documents.json", "ai.descriptor", []string{"origin", "document"}, vector{"endpoint": nil, "jwks": "", "auth": "", "mtls": false, "scopes": []any{}, "finding": ""}, nil},
		{"results.json", "ai.verify", []string{"keys", "now", "jws", "body", "expect"}, vector{"payload": nil, "key": nil}, expandResults},
	}},
	{"receipts.json", "receipts of lookleap, version 1", "contrib/receipt", []source{
		{"receipts.json", "receipt.verify", []string{"keys", "receipts"}, vector{"number": nil, "digest": nil}, withKeys},
	}},
}

// Build makes the files of the kit from the vectors below the root of the module, by name.
func Build(root fs.FS) (map[string][]byte, error) {
	files := make(map[string][]byte)
	manifest := Manifest{Protocol: Protocol}
	for _, k := range kitFiles {
		d := Document{Title: k.title}
		for _, s := range k.sources {
			cases, err := s.cases(root, k)
			if err != nil {
				return nil, err
			}
			d.Cases = append(d.Cases, cases...)
		}
		data, err := marshal(d)
		if err != nil {
			return nil, err
		}
		files[k.name] = data
		manifest.Files = append(manifest.Files, File{k.name, d.Title, len(d.Cases), digest(data)})
	}
	data, err := marshal(manifest)
	files["manifest.json"] = data
	return files, err
}

func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(value)
	return out.Bytes(), err
}

func (s source) cases(root fs.FS, k kitFile) ([]Case, error) {
	name := k.dir + "/testdata/vectors/" + s.file
	var file vector
	if err := readJSON(root, name, &file); err != nil {
		return nil, err
	}
	list, _ := file["cases"].([]any)
	var cases []Case
	for i, entry := range list {
		v, ok := entry.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: case %d is not an object", name, i)
		}
		expanded := []vector{v}
		if s.expand != nil {
			expanded = s.expand(file, v)
		}
		for _, v := range expanded {
			c, err := s.newCase(v)
			if err != nil {
				return nil, fmt.Errorf("%s: case %d: %w", name, i, err)
			}
			stem := strings.TrimSuffix(k.name, ".json") + "/" + strings.TrimSuffix(s.file, ".json") + "/"
			c.ID = stem + c.ID
			if slices.ContainsFunc(cases, func(other Case) bool { return other.ID == c.ID }) {
				return nil, fmt.Errorf("%s: %s appears twice", name, c.ID)
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// newCase splits a vector into what a program is given and what it has to answer.
func (s source) newCase(v vector) (Case, error) {
	c := Case{Operation: s.operation, Class: Accept, Outcome: map[string]any{}}
	c.ID, _ = v["name"].(string)
	if v["case"] != nil { // the vector uses "name" for something else
		c.ID, _ = v["case"].(string)
	}
	c.Requirement, _ = v["requirement"].(string)
	if c.ID == "" || c.Requirement == "" {
		return c, fmt.Errorf("the vector has no name or no requirement: %v", v)
	}
	if accepted, stated := v["valid"].(bool); stated && !accepted || v["reason"] != nil && v["reason"] != "ok" {
		c.Class = Reject
	}
	if accepted, stated := v["allowed"].(bool); stated {
		c.Class = map[bool]string{true: Accept, false: Reject}[accepted]
	}
	if c.Class == Accept {
		for name, missing := range s.outcome {
			switch value, present := v[name]; {
			case present:
				c.Outcome[name] = value
			case missing != nil:
				c.Outcome[name] = missing
			}
		}
	} else {
		for _, name := range rejected {
			if value, present := v[name]; present {
				c.Outcome[name] = value
			}
		}
	}
	input := map[string]any{}
	for _, name := range s.input {
		if value, present := v[name]; present {
			input[name] = value
		}
	}
	data, err := json.Marshal(input)
	c.Input = data
	return c, err
}

// with returns a copy of a vector with other members and a longer name.
func (v vector) with(suffix string, members vector) vector {
	other := maps.Clone(v)
	maps.Copy(other, members)
	if suffix != "" {
		other["name"] = fmt.Sprint(other["name"], suffix)
	}
	return other
}

// withKeys adds the keys, which all cases share.
func withKeys(file, v vector) []vector { return []vector{v.with("", vector{"keys": file["keys"]})} }

// nameURIs adds names and requirements, which the vectors of RFC 8615 lack.
func nameURIs(file, v vector) []vector {
	requirement := map[any]string{nil: "WK-3-01", "not-well-known": "WK-3-03", "ambiguous-path": "WK-3-04",
		"bad-name": "WK-3-08", "scheme-unsupported": "WK-1-03"}[v["reason"]]
	if requirement == "" {
		requirement = "WK-3-01" // of a URL that is refused before its path is read
	}
	number := slices.IndexFunc(file["cases"].([]any), func(c any) bool { return c.(map[string]any)["uri"] == v["uri"] })
	return []vector{v.with("", vector{"case": fmt.Sprintf("uri-%02d", number+1), "requirement": requirement})}
}

func expandDecisions(_, v vector) (all []vector) {
	for i, d := range v["decisions"].([]any) {
		all = append(all, v.with(fmt.Sprintf("-%d", i+1), d.(map[string]any)))
	}
	return all
}

// expandAnswers returns a vector for each mode. A restricted site is a refusal.
func expandAnswers(_, v vector) []vector {
	strict := vector{"strict": true}
	if v["strictState"] != nil {
		strict["state"], strict["reason"] = v["strictState"], v["strictReason"]
	}
	all := []vector{v.with("", vector{"strict": false}), v.with("-strict", strict)}
	for _, one := range all {
		one["allowed"] = one["state"] != "restricted"
	}
	return all
}

// expandDocuments returns a vector for each serialization, and the canonical JSON of both.
func expandDocuments(_, v vector) []vector {
	return []vector{
		v.with("-xml", vector{"contentType": "application/anml+xml", "file": v["xml"], "canonical": v["json"]}),
		v.with("-json", vector{"contentType": "application/anml+json", "file": v["json"], "canonical": v["json"]}),
	}
}

func refuseDocuments(_, v vector) []vector {
	return []vector{v.with("", vector{"reason": v["code"], "state": v["class"]})}
}

// expandTiers makes Tier 0 a refusal.
func expandTiers(_, v vector) []vector {
	return []vector{v.with("", vector{"allowed": v["tier"] != 0.0})}
}

// expandGateway returns a vector for each direction of the mapping.
func expandGateway(_, v vector) (all []vector) {
	for from, to := range map[string]string{"uri": "url", "url": "uri"} {
		if v[from] != nil {
			one := v.with("-from-"+from, vector{"mapped": v[to]})
			delete(one, to)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b vector) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	return all
}

// expandLinks makes a page without a target a refusal.
func expandLinks(_, v vector) []vector {
	targets, _ := v["targets"].([]any)
	return []vector{v.with("", vector{"allowed": len(targets) > 0})}
}

func expandResults(file, v vector) []vector {
	return []vector{v.with("", vector{"keys": file["keys"], "now": file["now"]})}
}
