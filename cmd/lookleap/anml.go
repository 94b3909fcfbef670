package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

func anmlCommand(flags *flag.FlagSet) action {
	var o anmlOptions
	flags.StringVar(&o.mediaType, "type", "", "the media `TYPE` of the documents")
	flags.StringVar(&o.role, "role", "", "the `ROLE` that the exchange implies: service or agent-response")
	flags.StringVar(&o.to, "to", "", "also give the document in this `FORM`: xml, json, text, tools or mermaid")
	flags.BoolVar(&o.lint, "lint", false, "refuse documents with errors among their findings")
	return func(ctx context.Context, s *session, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return s.files(ctx, args, func(content []byte) result { return judgeANML(content, o) })
	}
}

type anmlOptions struct {
	mediaType, role, to string
	lint                bool
}

func (o *anmlOptions) check() error {
	if _, ok := anmlRoles[o.role]; !ok {
		return usagef("--role %q is neither service nor agent-response", o.role)
	}
	if _, ok := anmlForms[o.to]; !ok {
		return usagef("--to %q is none of xml, json, text, tools and mermaid", o.to)
	}
	return nil
}

var anmlRoles = map[string]anml.Role{
	"": anml.RoleUnspecified, "service": anml.RoleService, "agent-response": anml.RoleAgentResponse,
}

// anmlForms are what --to can ask for; each returns a JSON value.
var anmlForms = map[string]func(*anml.Document) (any, error){
	"":     func(*anml.Document) (any, error) { return nil, nil },
	"xml":  func(d *anml.Document) (any, error) { return written(anml.MarshalXML, d) },
	"json": func(d *anml.Document) (any, error) { return written(anml.MarshalJSON, d) },
	"text": func(d *anml.Document) (any, error) { return d.Text(anml.TextOptions{}), nil },
	"tools": func(d *anml.Document) (any, error) {
		tools := []anmlTool{}
		for tool := range d.Tools(anml.JSONSchema) {
			tools = append(tools, anmlTool{tool.Name, tool.Description, tool.InputSchema})
		}
		return tools, nil
	},
	"mermaid": func(d *anml.Document) (any, error) {
		var charts []string
		for site := range d.Containers() {
			if chart := site.State().Flow().Mermaid(); chart != "" {
				charts = append(charts, chart)
			}
		}
		return strings.Join(charts, "\n"), nil
	},
}

func written(marshal func(*anml.Document, anml.WriteOptions) ([]byte, error), d *anml.Document) (string, error) {
	text, err := marshal(d, anml.WriteOptions{Indent: "  ", Verbatim: true})
	return string(text), err
}

type anmlTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

type anmlValue struct {
	Format  string         `json:"format"`
	Version string         `json:"version"`
	Role    string         `json:"role"`
	Sites   []anmlSite     `json:"sites"`
	Counts  map[string]int `json:"counts"`
	Output  any            `json:"output"`
}

type anmlSite struct {
	Domain  string `json:"domain"`
	Title   string `json:"title"`
	Actions int    `json:"actions"`
	Asks    int    `json:"asks"`
	Informs int    `json:"informs"`
}

func judgeANML(content []byte, o anmlOptions) result {
	doc, err := parseANML(content, o)
	if err != nil {
		return refuse(err)
	}
	value := anmlValue{Format: doc.Format().String(), Version: doc.Version(), Role: doc.Role().String(),
		Counts: map[string]int{}}
	r := accept(nil, row{"format", value.Format}, row{"version", value.Version}, row{"role", value.Role})
	for site := range doc.Containers() {
		s := anmlSite{site.Domain(), site.Head().Title(), length(site.Interact().Actions()), length(site.Knowledge().Asks()),
			length(site.Knowledge().Informs())}
		value.Sites = append(value.Sites, s)
		r.row("site", fmt.Sprintf("%s %s, %s, %s", plaintext.Quote(s.Title, 60),
			plaintext.Plural(s.Actions, "action", "actions"),
			plaintext.Plural(s.Asks, "ask", "asks"), plaintext.Plural(s.Informs, "inform", "informs")))
	}
	findings := doc.Findings()
	if o.lint {
		findings = anml.Lint(doc)
	}
	r = r.with(findings...) // a copy, which advise may change
	for _, f := range findings {
		value.Counts[f.Severity.String()]++
	}
	if value.Output, err = anmlForms[o.to](doc); err != nil {
		return refuse(err)
	}
	switch output := value.Output.(type) {
	case string:
		r.rows = append(r.rows, linesOf(output)...)
	case []anmlTool:
		for _, tool := range output {
			r.row("tool", tool.Name)
			r.row("", tool.Description)
			r.row("", string(tool.InputSchema))
		}
	}
	if n := value.Counts["error"]; o.lint && n > 0 {
		r.OK, r.Code, r.Message = false, lookleap.Code(anml.CodeLint),
			plaintext.Plural(n, "finding is an error", "findings are errors")
	}
	r.Value = value
	return r
}

func length[T any](all iter.Seq[T]) (n int) {
	for range all {
		n++
	}
	return n
}

// parseANML reads by the media type or, without one, by the first character.
func parseANML(content []byte, o anmlOptions) (*anml.Document, error) {
	read := anml.ReadOptions{Role: anmlRoles[o.role]}
	switch {
	case o.mediaType != "":
		return anml.Parse(o.mediaType, content, read)
	case strings.HasPrefix(strings.TrimLeft(string(content[:min(len(content), 1024)]), " \t\r\n\ufeff"), "{"):
		return anml.ParseJSON(content, read)
	}
	return anml.ParseXML(content, read)
}

func trustCommand(flags *flag.FlagSet) action {
	var fresh, explain bool
	flags.BoolVar(&fresh, "fresh", false, "ask again, past every cache")
	flags.BoolVar(&explain, "explain", false, "print every check")
	return func(ctx context.Context, s *session, args []string) error {
		args[0] = siteURL(args[0])
		verifier := anmltrust.NewVerifier(s.host, anmltrust.Rules{})
		verify := verifier.Verify
		if fresh {
			verify = verifier.VerifyFresh
		}
		return s.judge(ctx, args[0]+" "+args[1], func(ctx context.Context, _ string) result {
			if _, err := domain.Parse(args[0]); err != nil && !strings.Contains(args[0], "://") {
				return refuse(err) // not served over plain http: no URL at all
			}
			a, err := verify(ctx, anmltrust.Claim{URL: args[0], Site: args[1], Form: anmltrust.SiteElement})
			return showTrust(a, err, explain)
		})
	}
}

type trustValue struct {
	Tier      string          `json:"tier"`
	Reason    lookleap.Code   `json:"reason"`
	Row       string          `json:"row"`
	Scope     anmltrust.Scope `json:"scope"`
	Truncated anmltrust.Scope `json:"truncated"`
	Sources   []string        `json:"sources"`
	DNSSEC    lookleap.DNSSEC `json:"dnssec"`
	Expires   time.Time       `json:"expires,omitzero"`
}

func showTrust(a *anmltrust.Authorization, err error, explain bool) result {
	value := trustValue{Tier: anmltrust.Unlisted.String(), Sources: []string{}}
	r := accept(nil)
	if err != nil {
		r = refuse(err)
		if r.Verdict == nil {
			return r
		}
	} else {
		r.Verdict = a.Verdict
		value.Tier, value.Scope, value.Truncated = a.Tier.String(), a.Scope, a.Truncated
		value.DNSSEC, value.Expires = a.DNSSEC, a.Expires
		value.Sources = append(value.Sources, a.Sources...)
	}
	value.Row, value.Reason = anmltrust.Row(r.Verdict), r.Verdict.Code
	r.Value = value
	r.rows = []row{{"tier", value.Tier}, {"reason", string(value.Reason)}, {"row", value.Row}}
	if a != nil {
		r.row("scope", a.Scope.String())
		r.row("dnssec", a.DNSSEC.String())
	}
	for _, source := range value.Sources {
		r.row("source", source)
	}
	if explain {
		r.rows = append(r.rows, linesOf(r.Verdict.String())...)
	}
	return r
}

func recordCommand(flags *flag.FlagSet) action {
	var site string
	flags.StringVar(&site, "site", "", "judge the record as that of this `DOMAIN`")
	return func(ctx context.Context, s *session, args []string) error {
		return s.words(ctx, args, func(_ context.Context, text string) result { return judgeRecord(text, site) })
	}
}

type recordValue struct {
	Manifest  string   `json:"manifest"`
	Query     string   `json:"query"`
	Canonical string   `json:"canonical"`
	Strings   []string `json:"strings"`
	Zone      string   `json:"zone"`
}

func judgeRecord(text, site string) result {
	record, err := anmltrust.ParseRecord(text)
	if err != nil {
		return refuse(err)
	}
	value := recordValue{Manifest: record.Manifest, Query: record.Query, Canonical: record.String(),
		Strings: record.Strings()}
	r := accept(nil, row{"manifest", cmp.Or(record.Manifest, "none")}, row{"query", cmp.Or(record.Query, "none")})
	if site != "" {
		if value.Zone, err = record.Zone(site, time.Hour); err != nil {
			return refuse(err)
		}
		r.row("zone", value.Zone)
	}
	r.Value = value
	return r
}

func manifestCommand(flags *flag.FlagSet) action {
	var site, serving string
	flags.StringVar(&site, "site", "", "the `DOMAIN` that the manifest should speak for")
	flags.StringVar(&serving, "serving", "", "the `HOST` that wants to speak for it")
	return func(ctx context.Context, s *session, args []string) error {
		if site == "" {
			return usagef("--site is missing")
		}
		return s.files(ctx, args, func(content []byte) result {
			return judgeManifest(content, site, serving, s.options.Now())
		})
	}
}

type manifestValue struct {
	Site    string         `json:"site"`
	Issued  time.Time      `json:"issued"`
	Expires time.Time      `json:"expires"`
	Entries int            `json:"entries"`
	Listing map[string]any `json:"listing"`
}

func judgeManifest(content []byte, site, serving string, now time.Time) result {
	m, err := anmltrust.ParseManifest(content)
	if err != nil {
		return refuse(err)
	}
	value := manifestValue{Site: m.Site, Issued: m.Issued, Expires: m.Expires, Entries: m.Len()}
	r := accept(nil, row{"site", m.Site}, row{"expires", m.Expires.Format(time.RFC3339)},
		row{"entries", fmt.Sprint(m.Len())})
	if findings, err := anmltrust.LintManifest(content, site, now); err == nil {
		r.Findings = findings
	}
	if at, code := m.Check(site, now); code != "" {
		r.OK, r.Code, r.Message = false, code, code.Title()+" (row "+at+")"
	}
	if serving != "" {
		server, err := anmltrust.ServerOf("https://" + serving + "/")
		if err != nil {
			return refuse(err)
		}
		found := m.Lookup(server)
		rank := cmp.Or(found.Rank, "none")
		value.Listing = map[string]any{"rank": rank, "pattern": found.Pattern, "tier": found.Tier.String(),
			"scope": found.Scope}
		r.row("listing", rank+" "+found.Pattern)
		r.row("tier", found.Tier.String())
		r.row("scope", found.Scope.String())
		code := lookleap.Code("")
		if found.Malformed {
			code = anmltrust.CodeManifestEntryMalformed
		} else if found.Rank == "" {
			code = anmltrust.CodeNotListed
		}
		if r.OK && code != "" {
			r.OK, r.Code, r.Message = false, code, code.Title()
		}
	}
	r.Value = value
	return r
}

func replayCommand(ctx context.Context, s *session, args []string) error {
	return s.files(ctx, args, func(content []byte) result {
		return replayVerdict(content, s.options.At)
	})
}

func replayVerdict(content []byte, when time.Time) result {
	document, err := strictjson.Parse(content, strictjson.Limits{Size: len(content)})
	if err != nil {
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage, Message: "it is not a verdict", Err: err})
	}
	if wrapped, ok := document.Member("verdict"); ok {
		document = wrapped
	}
	verdict := new(lookleap.Verdict)
	if err := verdict.UnmarshalJSON([]byte(document.Source())); err != nil {
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage, Err: err})
	}
	if when.IsZero() {
		when = verdict.CheckedAt
	}
	a, err := anmltrust.Replay(verdict, when)
	return showTrust(a, err, false)
}
