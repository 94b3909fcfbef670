package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

func doctorCommand() command {
	return command{
		name:    "doctor",
		sites:   true,
		args:    "ORIGIN…",
		summary: "what is wrong with one's own site, and how to fix it",
		about: `Looks at everything that a site can publish for agents, as its publisher would, and
then as an agent does: address and certificate, agents.txt and robots.txt, the ANML
document in both forms and the sites that it speaks for, the trust record and its
manifest, each listed skill with its files, the AI endpoint and its keys, and whether
the site's own policy lets agents read all that. Absent is fine; a fault that makes
agents turn away is refused. What expires within 14 days is a warning.

value: {
  "checks": [{"check", "state", "code", "message", "findings", "snippet"}]
}
state is fine, absent, wrong, or skipped: a check that an earlier fault prevents.
snippet is a record, a document or a command to paste.`,
		examples: []string{
			"lookleap doctor https://example.com",
			"lookleap doctor --dev localhost:8080",
			"lookleap doctor --dev --connect localhost:8080 https://example.com",
			"lookleap --json doctor https://example.com https://shop.example.com",
		},
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				host, err := s.Host()
				if err != nil {
					return err
				}
				return s.each(ctx, args, func(ctx context.Context, origin string) result {
					return examine(ctx, &patient{host: host, named: s.options.Connect != "" && len(s.options.DNS) == 0,
						dev: s.options.Dev, devServer: s.options.DevServer(), step: s.progress.step}, origin)
				})
			}
		},
	}
}

type doctorValue struct {
	Checks []diagnosis `json:"checks"`
}

// diagnosis is what one check came to.
type diagnosis struct {
	Check    string             `json:"check"`
	State    string             `json:"state"`
	Code     lookleap.Code      `json:"code"`
	Message  string             `json:"message"`
	Findings []lookleap.Finding `json:"findings"`
	Snippet  string             `json:"snippet"` // what to paste; "": nothing
}

// The states of a diagnosis.
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

// ok says that what is there is right.
func ok(message string, findings ...lookleap.Finding) diagnosis {
	d := diagnosis{State: fine, Code: lookleap.CodeOK, Message: message, Findings: findings}
	for _, f := range findings {
		if f.Severity == lookleap.SeverityError {
			d.State, d.Code, d.Message = wrong, f.Code, f.Message
			break
		}
	}
	return d
}

// notThere says that the site does not publish it.
func notThere(message string) diagnosis {
	return diagnosis{State: absent, Code: wellknown.CodeAbsent, Message: message}
}

// ill says what is wrong and how to fix it. An error that knows its own findings
// shows them instead.
func ill(err error, fix string) diagnosis {
	r := refuse(err)
	if document := (*lookleap.Error)(nil); errors.As(err, &document) {
		r = refuseDocument(document)
	}
	d := diagnosis{State: wrong, Code: r.Code, Message: r.Message}
	for _, f := range r.Findings {
		if f.Severity == lookleap.SeverityError {
			f.Fix = cmp.Or(f.Fix, fix)
			d.Findings = append(d.Findings, f)
		}
	}
	if len(d.Findings) == 0 {
		d.Findings = []lookleap.Finding{{Code: r.Code, Message: r.Message, Fix: fix}}
	}
	return d
}

// examine runs all checks. Each is on its own: one that fails spoils no other.
func examine(ctx context.Context, p *patient, origin string) result {
	u, err := domain.Parse(origin)
	if err != nil {
		return refuseDomain("", err)
	}
	p.url = u
	value := doctorValue{Checks: []diagnosis{}}
	r := accept(nil)
	troubles := 0
	for _, check := range p.checks() {
		p.step(check.name)
		d := skip("not checked: " + p.down)
		if p.down == "" {
			d = check.run(ctx)
		}
		d.Check = check.name
		if d.State == wrong && d.Snippet == "" {
			d.Snippet = p.snippet(d.Check)
		}
		if d.Findings == nil {
			d.Findings = []lookleap.Finding{}
		}
		value.Checks = append(value.Checks, d)
		if d.State == wrong { // the findings say what
			r.rows = append(r.rows, row{d.Check, d.State + " (" + string(d.Code) + ")"})
		} else {
			r.rows = append(r.rows, row{d.Check, d.State + ": " + plaintext.Line(d.Message)})
		}
		for _, f := range d.Findings {
			f.Message = d.Check + ": " + f.Message
			r = r.with(f)
		}
		if d.Snippet != "" {
			r.rows = append(r.rows, row{"paste", d.Snippet})
		}
		if d.State == wrong {
			troubles++
			if r.OK {
				r.OK, r.Code = false, d.Code
			}
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

// patient is the site that is examined.
type patient struct {
	host      *lookleap.Host
	url       domain.URL
	dev       bool              // development mode
	named     bool              // the server is that of --connect, whatever the DNS says
	devServer string            // URL of its server
	step      func(name string) // tells people which check runs
	down      string            // why the rest cannot be checked; "": it can
	oldTLS    bool              // the server has no TLS 1.3
	found     []string          // paths of what the site publishes
}

// soon is how long before its end something is reported.
const soon = 14 * 24 * time.Hour

// ending returns a warning if something ends soon, and an error if it has ended.
func (p *patient) ending(what string, ends time.Time, fix string) []lookleap.Finding {
	f := lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeStale, Fix: fix}
	day := ends.UTC().Format("2006-01-02 15:04 UTC")
	switch left := ends.Sub(p.host.Time()); {
	case ends.IsZero() || left > soon:
		return nil
	case left <= 0:
		f.Severity, f.Message = lookleap.SeverityError, what+" ended on "+day
	default:
		f.Message = what + " ends on " + day
	}
	return []lookleap.Finding{f}
}
