// Package htmlreport shows verdicts and the results of commands as a page: the decision in
// one sentence, a picture of who vouches for what, and the checks as a tree with their
// evidence. The page is one file. It runs no script and loads nothing.
//
// Texts of a report are sentences of ours, in which words of others are quoted already,
// or values, which the page quotes. Either can contain anything: it is shown as text.
package htmlreport

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/webpage"
)

// Report is what one input came to.
type Report struct {
	Input    string // as it was given
	OK       bool
	Code     lookleap.Code
	Sentence string // the decision
	Picture  *Picture
	Checks   []Check
	Facts    []Fact // what the input is
	Findings []lookleap.Finding
	At       time.Time
	Until    time.Time // zero: for this decision only
}

// Check is one step, with what it used and the steps that it consists of.
type Check struct {
	Name     string // short; "" if the message says it
	Status   lookleap.Status
	Code     lookleap.Code
	Row      string // of docs/conformance
	Message  string
	Evidence [][]Fact
	Findings []lookleap.Finding
	Snippet  string // to paste
	Checks   []Check
}

// Fact is a value with its label.
type Fact struct{ Label, Text string }

// OfVerdict returns the checks of a verdict.
func OfVerdict(v *lookleap.Verdict) (checks []Check) {
	for _, c := range v.Checks {
		check := Check{Status: c.Status, Code: c.Code, Row: c.Requirement, Message: c.Message}
		for _, e := range c.Evidence {
			check.Evidence = append(check.Evidence, factsOf(e))
		}
		checks = append(checks, check)
	}
	return checks
}

// factsOf returns the members of a piece of evidence that are set.
func factsOf(e lookleap.Evidence) (facts []Fact) {
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, Fact{label, text})
		}
	}
	add("URL", e.URL)
	if e.Status != 0 {
		add("HTTP status", strconv.Itoa(e.Status))
	}
	add("media type", e.MediaType)
	add("address", e.Address)
	add("TLS", e.TLS)
	add("route", e.Route)
	add("DNS question", strings.TrimSpace(e.DNSName+" "+e.DNSType))
	if e.TTL != 0 {
		add("TTL", e.TTL.String())
	}
	if e.DNSSEC != nil {
		add("DNSSEC", e.DNSSEC.String())
	}
	add("digest", e.Digest)
	add("key", e.KeyID)
	if e.Text != "" {
		add("text of the server", plaintext.Quote(e.Text, 400))
	}
	return facts
}

// rows returns a text to paste, line by line, without characters that hide or forge.
func rows(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = plaintext.Line(l)
	}
	return strings.Join(lines, "\n")
}

//go:embed report.html
var pageText string

var (
	funcs = template.FuncMap{
		"text":   func(s string) string { return plaintext.Isolate(plaintext.Line(s)) },
		"code":   func(c lookleap.Code) string { return plaintext.Line(string(c)) },
		"quoted": func(s string) string { return plaintext.Isolate(plaintext.Quote(s, 400)) },
		"rows":   rows,
		"time":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"open":   func(c Check) bool { return c.Status == lookleap.Failed || c.Status == lookleap.Noted },
		"mark":   func(s lookleap.Status) string { return marks[s] },
	}
	marks    = map[lookleap.Status]string{lookleap.Passed: "✓", lookleap.Failed: "✗", lookleap.Noted: "!", lookleap.Skipped: "–"}
	page     = webpage.Parse(funcs, pageText+`{{define "main"}}{{template "reports" .}}{{end}}`)
	livePage = webpage.Parse(funcs, pageText+`{{define "main"}}{{template "live" .}}{{end}}`)
)

// HTML returns reports as one page.
func HTML(reports ...Report) ([]byte, error) {
	return webpage.Render(page, webpage.Page{Title: title(reports), Data: reports})
}

func title(reports []Report) string {
	if len(reports) != 1 {
		return "Reports"
	}
	answer := "No"
	if reports[0].OK {
		answer = "Yes"
	}
	return answer + ": " + plaintext.Line(reports[0].Input)
}

// Live is a page with a form, and the report on what was typed.
type Live struct {
	Commands []Command
	Command  string // that was chosen
	URL      string // that was typed
	Token    string // of the form
	Fault    string // of what was typed
	Reports  []Report
}

// Command is a choice of the form.
type Command struct{ Name, Summary string }

// WriteLive writes the page as a response.
func WriteLive(w http.ResponseWriter, status int, l Live) {
	name := "Look at a site"
	if len(l.Reports) > 0 {
		name = title(l.Reports)
	}
	webpage.Write(w, status, livePage, webpage.Page{Title: name, Data: l})
}
