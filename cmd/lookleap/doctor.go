package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/htmlreport"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

func doctorCommand(ctx context.Context, s *session, args []string) error {
	return s.words(ctx, args, func(ctx context.Context, origin string) result { return examine(ctx, s, origin) })
}

type doctorValue struct {
	Checks []diagnosis `json:"checks"`
}

type diagnosis struct {
	Check    string             `json:"check"`
	State    string             `json:"state"`
	Code     lookleap.Code      `json:"code"`
	Message  string             `json:"message"`
	Findings []lookleap.Finding `json:"findings"`
	Snippet  string             `json:"snippet"` // what to paste; "": nothing
}

const (
	fine   = "fine"
	absent = "absent"
	wrong  = "wrong"
	// A fault that was reported already prevents the check, or the development mode leaves it out.
	skipped = "skipped"
)

func skip(message string) diagnosis {
	return diagnosis{State: skipped, Code: lookleap.CodeSkipped, Message: message}
}

func ok(message string, findings ...lookleap.Finding) diagnosis {
	d := diagnosis{State: fine, Code: lookleap.CodeOK, Message: message, Findings: findings}
	if i := slices.IndexFunc(findings, isError); i >= 0 {
		d.State, d.Code, d.Message = wrong, findings[i].Code, findings[i].Message
	}
	return d
}

func notThere(message string) diagnosis {
	return diagnosis{State: absent, Code: wellknown.CodeAbsent, Message: message}
}

// ill says what is wrong and how to fix it. An error that knows its own fix shows that one.
func ill(err error, fix string) diagnosis {
	r := refuseCause(err)
	d := diagnosis{State: wrong, Code: r.Code, Message: r.Message}
	for _, f := range r.Findings {
		if isError(f) {
			f.Fix = cmp.Or(f.Fix, fix)
			d.Findings = append(d.Findings, f)
		}
	}
	if len(d.Findings) == 0 {
		d.Findings = []lookleap.Finding{{Code: r.Code, Message: r.Message, Fix: fix}}
	}
	return d
}

func isError(f lookleap.Finding) bool { return f.Severity == lookleap.SeverityError }

// check is one thing that a doctor looks at, and the edge of the picture that it is about.
type check struct {
	name     string
	run      func(context.Context) diagnosis
	from, to htmlreport.Node
}

func (p *patient) checks() []check {
	return []check{
		{"address", p.address, htmlreport.Agent, htmlreport.DNS},
		{"connection", p.connection, htmlreport.Agent, htmlreport.ServingHost},
		{name: "agents.txt", run: p.policy},
		{name: "robots.txt", run: p.robots},
		{"anml", p.document, htmlreport.ServingHost, htmlreport.Site},
		{name: "claims", run: p.claims},
		{"trust record", p.trustRecord, htmlreport.DNS, htmlreport.Manifest},
		{"trust manifest", p.manifest, htmlreport.Manifest, htmlreport.ServingHost},
		{name: "skills", run: p.skills},
		{name: "ai endpoint", run: p.endpoint},
		{name: "access", run: p.access},
	}
}

// examine runs all checks. Each is on its own: one that fails spoils no other.
func examine(ctx context.Context, s *session, origin string) result {
	u, err := domain.Parse(origin)
	if err != nil {
		return refuse(err)
	}
	p := &patient{s: s, host: s.host, url: u, dev: s.options.Dev,
		named: s.options.Connect != "" && len(s.options.DNS) == 0}
	value := doctorValue{Checks: []diagnosis{}}
	r := accept(nil)
	r.picture = newPicture(origin)
	troubles := 0
	for _, check := range p.checks() {
		s.progress.step(check.name)
		d := skip("not checked: " + p.down)
		if p.down == "" {
			d = check.run(ctx)
		}
		d.Check = check.name
		d.Findings = append([]lookleap.Finding{}, d.Findings...)
		text := d.State + ": " + d.Message
		if d.State == wrong {
			text = d.State + " (" + string(d.Code) + ")" // the findings say what
			if r.OK {
				r.OK, r.Code = false, d.Code
			}
			troubles++
			if form := snippets[d.Check]; d.Snippet == "" && form != "" {
				d.Snippet = fmt.Sprintf(form+"%.0[1]s%.0[2]s", u.Origin(), u.Host())
			}
		}
		r.row(d.Check, text)
		if d.Snippet != "" {
			r.row("paste", d.Snippet)
		}
		value.Checks = append(value.Checks, d)
		for _, f := range d.Findings {
			f.Message = d.Check + ": " + f.Message
			r = r.with(f)
		}
		shown := htmlreport.Check{Name: d.Check, Status: stateStatus[d.State], Code: d.Code,
			Message: d.State + ": " + d.Message, Findings: d.Findings, Snippet: d.Snippet}
		r.checks = append(r.checks, shown)
		if check.from != check.to {
			r.picture.Edges = append(r.picture.Edges,
				htmlreport.Edge{From: check.from, To: check.to, Status: shown.Status, Text: d.Check + ": " + d.Message})
		}
	}
	r.Value = value
	r.Message = "nothing makes agents turn away"
	if troubles > 0 {
		r.Message = fmt.Sprintf("%d of %s found something that makes agents turn away", troubles,
			plaintext.Plural(len(value.Checks), "check", "checks"))
	}
	return r
}

var stateStatus = map[string]lookleap.Status{fine: lookleap.Passed, wrong: lookleap.Failed, absent: lookleap.Skipped,
	skipped: lookleap.Skipped}

// snippets are what to paste for a check that is wrong: %[1]s is the origin and %[2]s the host.
var snippets = map[string]string{
	"agents.txt":     "lookleap agentstxt sign agents.txt --write",
	"anml":           "lookleap anml page.xml --lint",
	"trust record":   `_anml.%[2]s. 3600 IN TXT "v=anml1; manifest=%[1]s/.well-known/anml-trust"`,
	"trust manifest": "lookleap manifest anml-trust.json --site %[2]s",
	"skills":         `{"skills":[{"name":"NAME","description":"WHAT IT IS FOR","files":["SKILL.md"]}]}`,
	"ai endpoint":    `{"endpoint":"ai://%[2]s/PATH","jwks":"%[1]s/.well-known/jwks.json"}`,
}

type patient struct {
	s      *session
	host   *lookleap.Host
	url    domain.URL
	dev    bool     // development mode
	named  bool     // the server is that of --connect, whatever the DNS says
	down   string   // why the rest cannot be checked; "": it can
	oldTLS bool     // the server has no TLS 1.3
	found  []string // paths of what the site publishes
}

// unlooked says why the DNS is not asked, "" if it is.
func (p *patient) unlooked() string {
	switch {
	case p.dev:
		return "not looked up in development mode"
	case p.named:
		return "not looked up: --connect names the server"
	}
	return ""
}

// publishes notes a URL that agents read, if it is at this site.
func (p *patient) publishes(url string) {
	if path, here := strings.CutPrefix(url, p.url.Origin()); here && !slices.Contains(p.found, path) {
		p.found = append(p.found, path)
	}
}

const soon = 14 * 24 * time.Hour

// ending returns a warning if something ends soon, and an error if it has ended.
func (p *patient) ending(what string, ends time.Time, fix string) []lookleap.Finding {
	day := ends.UTC().Format("2006-01-02 15:04 UTC")
	switch left := ends.Sub(p.host.Time()); {
	case ends.IsZero() || left > soon:
		return nil
	case left <= 0:
		return []lookleap.Finding{{Code: lookleap.CodeStale, Message: what + " ended on " + day, Fix: fix}}
	}
	return []lookleap.Finding{warning(lookleap.CodeStale, what+" ends on "+day, fix)}
}
