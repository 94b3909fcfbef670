package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/dvs"
)

type siteFile struct {
	path      string // without the first slash
	mediaType string
	content   []byte
}

type publication struct {
	source, old  fs.FS // the directory, and the files of an earlier run
	origin, host string
	now          time.Time

	files    []siteFile
	dns      []string
	findings []lookleap.Finding
}

const (
	plainText = "text/plain; charset=utf-8"
	jsonText  = "application/json"
)

// build makes all files. An error is about the source.
func (p *publication) build() error {
	for _, part := range []func() error{p.policy, p.page, p.skills, p.trust, p.endpoint, p.robots} {
		if err := part(); err != nil {
			return err
		}
	}
	slices.SortFunc(p.files, func(a, b siteFile) int { return strings.Compare(a.path, b.path) })
	return nil
}

func (p *publication) add(path, mediaType string, content []byte) {
	p.files = append(p.files, siteFile{strings.TrimPrefix(path, "/"), mediaType, content})
}

// read returns a file of the source, nil if there is none.
func (p *publication) read(name string) ([]byte, error) {
	content, err := fs.ReadFile(p.source, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// lint keeps findings about a file. It returns the first error among them.
func (p *publication) lint(name string, findings []lookleap.Finding) error {
	var first error
	for _, f := range findings {
		f.Path = name + f.Path
		if f.Severity == lookleap.SeverityError && first == nil {
			first = f.AsError(name)
		}
		p.findings = append(p.findings, f)
	}
	return first
}

func (p *publication) policy() error {
	rules, err := p.read("agents.txt")
	if err != nil || rules == nil {
		return err
	}
	signed, err := agentstxt.Sign(rules)
	if err != nil {
		return err
	}
	p.add("agents.txt", plainText, signed)
	return p.lint("agents.txt", agentstxt.Lint(signed, plainText, agentstxt.Options{}))
}

// robots adds robots.txt, last since it is judged by what else there is.
func (p *publication) robots() error {
	file, err := p.read("robots.txt")
	if err != nil {
		return err
	}
	if file == nil {
		if len(p.files) == 0 {
			return fault(lookleap.CodeUsage, "the directory has nothing to publish",
				"see lookleap help publish for what it can have")
		}
		file = []byte("User-agent: *\nAllow: /.well-known/\n")
	}
	rules := agentstxt.ParseRobots(file, agentToken)
	for _, f := range p.files {
		if d := rules.Decide("/" + f.path); !d.Allowed {
			p.findings = append(p.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: d.Code,
				Message: fmt.Sprintf("robots.txt closes /%s to agents: line %d", f.path, d.Line),
				Fix:     "add the line \"Allow: /.well-known/\""})
			break
		}
	}
	p.add("robots.txt", plainText, file)
	return nil
}

func (p *publication) page() error {
	for name, parse := range map[string]func([]byte, anml.ReadOptions) (*anml.Document, error){"page.xml": anml.ParseXML,
		"page.json": anml.ParseJSON} {
		text, err := p.read(name)
		switch {
		case err != nil:
			return err
		case text == nil:
			continue
		case slices.ContainsFunc(p.files, func(f siteFile) bool { return f.path == anmlPath[1:] }):
			return fault(lookleap.CodeConflict, "there are page.xml and page.json",
				"keep one of them: both forms are made from it")
		}
		d, err := parse(text, anml.ReadOptions{Role: anml.RoleService, WellKnown: true, Self: []string{p.host}})
		if err != nil {
			return about(name, err)
		}
		if err := p.lint(name, anml.Lint(d)); err != nil {
			return err
		}
		for form, at := range map[anml.Format]string{anml.XML: anmlPath, anml.JSON: anmlPath + ".json"} {
			data, err := anml.Marshal(d, form, anml.WriteOptions{Role: anml.RoleService, Indent: "  "})
			if err != nil {
				return about(name, err)
			}
			p.add(at, form.MediaType(), data)
		}
	}
	return nil
}

// about returns an error that names the file.
func about(name string, err error) error {
	var e *lookleap.Error
	if !errors.As(err, &e) {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: name, Message: err.Error()}
	}
	named := *e
	named.Subject = name
	return &named
}

func (p *publication) skills() error {
	dirs, err := fs.ReadDir(p.source, "skills")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []*dvs.Published
	for _, dir := range dirs {
		if !dir.IsDir() || strings.HasPrefix(dir.Name(), ".") {
			continue
		}
		at := path.Join("skills", dir.Name())
		files, err := fs.Sub(p.source, at)
		if err != nil {
			return err
		}
		if err := p.lint(at+"/", dvs.Lint(files, dvs.LintOptions{Directory: dir.Name(), URL: p.origin + dvs.SkillsPrefix +
			dir.Name() + "/"})); err != nil {
			return err
		}
		var skill *dvs.Published
		var name string
		var artifact []byte
		content, err := dvs.ReadSkillDir(files, dvs.Limits{})
		if err == nil {
			skill, err = dvs.NewPublished(content, dvs.Limits{})
		}
		if err == nil {
			name, artifact, err = skill.Artifact()
		}
		if err != nil {
			return about(at, err)
		}
		all = append(all, skill)
		p.add(dvs.AgentSkillsPrefix+name, typeOf(name), artifact)
		for _, name := range slices.Sorted(maps.Keys(skill.Files)) {
			p.add(dvs.SkillsPrefix+skill.Name+"/"+name, typeOf(name), skill.Files[name])
		}
	}
	if err != nil || len(all) == 0 {
		return err
	}
	for shape, prefix := range map[dvs.IndexShape]string{dvs.IndexFiles: dvs.SkillsPrefix,
		dvs.IndexDigests: dvs.AgentSkillsPrefix} {
		var index bytes.Buffer
		if err := dvs.WriteIndex(&index, shape, all); err != nil {
			return err
		}
		p.add(prefix+"index.json", jsonText, index.Bytes())
	}
	return nil
}

var types = map[string]string{".md": "text/markdown; charset=utf-8", ".gz": "application/gzip",
	".zip": "application/zip", ".json": jsonText,
	".txt": plainText, ".csv": "text/csv; charset=utf-8", ".yaml": "application/yaml", ".yml": "application/yaml",
	".png": "image/png", ".svg": "image/svg+xml",
	".py": "text/x-python; charset=utf-8", ".sh": "text/x-shellscript; charset=utf-8",
	".js": "text/javascript; charset=utf-8"}

func typeOf(name string) string {
	if t := types[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// decode reads a YAML file of the source strictly. It returns false if there is none.
func (p *publication) decode(name string, into any) (bool, error) {
	text, err := p.read(name)
	if err != nil || text == nil {
		return false, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return true, &lookleap.Error{Code: lookleap.CodeUsage, Subject: name,
			Message: strings.ReplaceAll(err.Error(), "\n", " "), Fix: "see lookleap help publish for its form"}
	}
	return true, nil
}

func (p *publication) trust() error {
	var file struct {
		Days     int    `yaml:"days"`
		Query    string `yaml:"query"`
		Partners []struct {
			Domain, Tier, Note string
			Scope              []anmltrust.Section
		} `yaml:"partners"`
	}
	if there, err := p.decode("trust.yaml", &file); !there || err != nil {
		return err
	}
	tiers := map[string]anmltrust.Tier{"": anmltrust.Display, "display": anmltrust.Display, "full": anmltrust.Full}
	var entries []anmltrust.Entry
	for _, partner := range file.Partners {
		tier, known := tiers[partner.Tier]
		if !known {
			return &lookleap.Error{Code: lookleap.CodeUsage, Subject: "trust.yaml", Message: "the tier " + partner.Tier +
				" is not known", Fix: "write full or display"}
		}
		entries = append(entries, anmltrust.Entry{Domain: partner.Domain, Tier: tier,
			Scope: anmltrust.ScopeOf(partner.Scope...), Note: partner.Note})
	}
	if file.Days <= 0 {
		file.Days = 90
	}
	life := time.Duration(file.Days) * 24 * time.Hour
	// The dates of an earlier manifest stay while it is the same and does not end soon.
	issued := p.now.UTC().Truncate(time.Second)
	old, _ := fs.ReadFile(p.old, manifestPath[1:])
	if m, err := anmltrust.ParseManifest(old); err == nil && m.Expires.Sub(p.now) > soon &&
		m.Expires.Sub(m.Issued) == life && m.Issued.Before(p.now) {
		issued = m.Issued
	}
	data, err := anmltrust.BuildManifest(p.host, issued, life, entries...)
	var findings []lookleap.Finding
	if err == nil {
		findings, err = anmltrust.LintManifest(data, p.host, p.now)
	}
	record := anmltrust.Record{Manifest: p.origin + manifestPath, Query: file.Query}
	zone := ""
	if err == nil {
		zone, err = record.Zone(p.host, time.Hour)
	}
	if err != nil {
		return about("trust.yaml", err)
	}
	p.add(manifestPath, anmltrust.ManifestMediaType, data)
	p.dns = append(p.dns, strings.TrimSpace(zone))
	return p.lint("trust.yaml", findings)
}

func (p *publication) endpoint() error {
	var file struct {
		Endpoint string   `yaml:"endpoint"`
		Scopes   []string `yaml:"scopes"`
		Auth     string   `yaml:"auth"`
		MTLS     bool     `yaml:"mtls"`
	}
	if there, err := p.decode("ai.yaml", &file); !there || err != nil {
		return err
	}
	uri, err := aiuri.Parse(file.Endpoint)
	if err != nil {
		return about("ai.yaml", err)
	}
	keys, err := p.read("keys.json")
	if err != nil {
		return err
	}
	if keys == nil {
		return &lookleap.Error{Code: lookleap.CodeUsage, Subject: "ai.yaml", Message: "there is no keys.json",
			Fix: "put the public keys of the endpoint there, as a JWK Set"}
	}
	if _, err := aiuri.NewKeySetHandler(keys); err != nil { // refuses private keys too
		return about("keys.json", err)
	}
	d := &aiuri.Descriptor{Endpoint: uri, JWKS: p.origin + keysPath, Scopes: file.Scopes,
		Policy: aiuri.EndpointPolicy{Auth: file.Auth, MTLS: file.MTLS, RequireSignedResults: true}}
	_, err = aiuri.NewDescriptorHandler(p.origin, d)
	var data []byte
	if err == nil {
		data, err = json.MarshalIndent(d, "", "  ")
	}
	if err != nil {
		return about("ai.yaml", err)
	}
	p.add(aiipPath, jsonText, append(data, '\n'))
	p.add(keysPath, "application/jwk-set+json", keys)
	return nil
}

// prefersJSON matches an Accept header field that prefers the JSON form.
const prefersJSON = `"anml\+json(;q=1(\.0*)?)? *(,|$)"`

// serverFiles say to web servers which media types the files have.
func (p *publication) serverFiles() []siteFile {
	var nginx, apache, headers bytes.Buffer
	fmt.Fprint(&nginx, "# Include it in the server block.\n")
	fmt.Fprint(&apache, "# AllowOverride FileInfo\n<IfModule mod_rewrite.c>\n"+
		"RewriteEngine On\nRewriteCond %{HTTP_ACCEPT} "+prefersJSON+
		"\nRewriteRule ^\\.well-known/anml$ .well-known/anml.json [L]\n</IfModule>\n")
	fmt.Fprint(&headers, "# For Netlify and Cloudflare Pages\n")
	byName := map[string]bool{}
	for _, f := range p.files {
		choose := ""
		if f.path == anmlPath[1:] {
			choose = "if ($http_accept ~ " + prefersJSON + ") { rewrite ^ " + anmlPath + ".json last; } add_header Vary Accept; "
		}
		fmt.Fprintf(&nginx, "location = \"/%s\" { %stypes { } default_type \"%s\"; }\n", f.path, choose, f.mediaType)
		fmt.Fprintf(&headers, "/%s\n  Content-Type: %s\n", f.path, f.mediaType)
		// Apache knows names without their directories, and the types of the usual extensions.
		if name := path.Base(f.path); (path.Ext(name) == "" || name == "anml.json" || name == "SKILL.md" ||
			name == "jwks.json") && !byName[name] {
			byName[name] = true
			fmt.Fprintf(&apache, "<Files %q>\n  ForceType \"%s\"\n</Files>\n", name, f.mediaType)
		}
	}
	return []siteFile{{"nginx.conf", "", nginx.Bytes()}, {".htaccess", "", apache.Bytes()},
		{"_headers", "", headers.Bytes()}}
}
