package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// report collects the results of a command for continuous integration.
type report struct {
	sarif, summary string // files to write
	github         bool   // print annotations
	results        []result
}

// reportFlags adds the flags of commands that report to continuous integration.
func reportFlags(flags *flag.FlagSet) *report {
	r := new(report)
	flags.StringVar(&r.sarif, "sarif", "", "write the findings to this `FILE` as SARIF 2.1.0")
	flags.StringVar(&r.summary, "summary", "", "append a summary in Markdown to this `FILE`, such as $GITHUB_STEP_SUMMARY")
	flags.BoolVar(&r.github, "github", false, "print the findings as annotations of GitHub Actions too")
	return r
}

// add notes a result.
func (r *report) add(one result) {
	if r != nil {
		r.results = append(r.results, one)
	}
}

// write writes what the flags ask for.
func (r *report) write(stdout io.Writer) error {
	var errs []error
	if r.github {
		_, err := io.WriteString(stdout, annotations(r.results))
		errs = append(errs, err)
	}
	if r.sarif != "" {
		data, err := json.MarshalIndent(sarifOf(r.results), "", "  ")
		if err == nil {
			err = os.WriteFile(r.sarif, append(data, '\n'), 0o644)
		}
		errs = append(errs, err)
	}
	if r.summary != "" {
		f, err := os.OpenFile(r.summary, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err == nil {
			_, err = io.WriteString(f, summaryOf(r.results))
			err = errors.Join(err, f.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Outcomes of one input. The exit codes of commands that report tell them apart.
type outcome uint8

const (
	passed outcome = iota
	refusedOutcome
	changedOutcome
	uncheckedOutcome
)

// outcome says what became of an input.
func (r *result) outcome() outcome {
	switch {
	case r.OK:
		return passed
	case r.changed:
		return changedOutcome
	case slices.Contains(uncheckedCodes, r.Code):
		return uncheckedOutcome
	}
	return refusedOutcome
}

// uncheckedCodes say that something could not be found out: another run may succeed.
var uncheckedCodes = []lookleap.Code{
	lookleap.CodeIO, lookleap.CodeInternal, lookleap.CodeTimeout, lookleap.CodeUnreachable, lookleap.CodeDNSError,
	lookleap.CodeNoAddress, lookleap.CodeBadStatus,
	lookleap.CodeCancelled, lookleap.CodeTruncated, lookleap.CodeConnRefused, lookleap.CodeConnReset,
	lookleap.CodeTooSlow, dvs.CodeFeedStale,
}

// exit returns the exit code for all results: the most serious one counts.
func (r *report) exit() int {
	code := exitAccepted
	for i := range r.results {
		switch r.results[i].outcome() {
		case refusedOutcome:
			return exitRefused
		case uncheckedOutcome:
			code = exitUnchecked
		case changedOutcome:
			if code != exitUnchecked {
				code = exitChanged
			}
		}
	}
	return code
}

// reported is one finding with its place, for all forms of report.
type reported struct {
	lookleap.Finding
	uri string
}

// findings returns the findings of a result. A refusal without a finding is one.
func (r *result) findings() (all []reported) {
	for _, f := range r.Findings {
		all = append(all, reported{f, place(r.Input, f.Path)})
	}
	if !r.OK && !slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == r.Code }) {
		all = append(all, reported{lookleap.Finding{Severity: lookleap.SeverityError, Code: r.Code, Message: r.Message},
			place(r.Input, "")})
	}
	return all
}

// place returns the file of a finding as a URI reference: below the input, which is a URL or a
// path.
func place(input, file string) string {
	if u, err := url.Parse(input); err == nil && u.Scheme == "https" && u.Host != "" {
		u.RawQuery, u.Fragment, u.User = "", "", nil
		if file != "" && !strings.Contains(file, "://") {
			u.Path, u.RawPath = path.Join(path.Dir(u.Path), file), ""
		}
		return u.String()
	}
	name := filepath.ToSlash(input)
	if info, err := os.Stat(input); err == nil && info.IsDir() {
		name = path.Join(name, cmp.Or(file, dvs.EntryFile))
	}
	return (&url.URL{Path: name}).EscapedPath()
}

// annotations returns the findings as commands of GitHub Actions, which its log shows at the
// lines of the files.
func annotations(results []result) string {
	var b strings.Builder
	for i := range results {
		for _, f := range results[i].findings() {
			word := map[lookleap.Severity]string{lookleap.SeverityError: "error", lookleap.SeverityWarning: "warning"}[f.Severity]
			fmt.Fprintf(&b, "::%s file=%s", cmp.Or(word, "notice"), annotationValue(f.uri))
			if f.Line > 0 {
				fmt.Fprintf(&b, ",line=%d,col=%d", f.Line, max(f.Column, 1))
			}
			fmt.Fprintf(&b, ",title=%s::%s\n", annotationValue(string(f.Code)), annotationText(f.text()))
		}
	}
	return b.String()
}

// text returns the message with its fix, as one line.
func (f *reported) text() string {
	text := f.Message
	if f.Fix != "" {
		text += "; " + f.Fix
	}
	return plaintext.Line(text)
}

var annotationText = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace

func annotationValue(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotationText(text))
}

// summaryOf returns the results in Markdown. Foreign text is in code blocks and code spans only.
func summaryOf(results []result) string {
	var b strings.Builder
	for i := range results {
		r := &results[i]
		word := [...]string{"accepted", "refused", "changed", "could not be checked"}[r.outcome()]
		fmt.Fprintf(&b, "### %s: %s\n\n", codeSpan(r.Input), word)
		if !r.OK {
			fmt.Fprintf(&b, "%s (`%s`)\n\n", codeSpan(r.Message), r.Code)
		}
		for _, f := range r.findings() {
			fmt.Fprintf(&b, "- %s: %s\n", f.Severity, codeSpan(strings.TrimSpace(f.Position.String()+" "+f.text())))
		}
		if r.change != nil && !r.change.IsZero() {
			shown := r.change.String()
			fence := strings.Repeat("`", longestTicks(shown)+3)
			fmt.Fprintf(&b, "\n%sdiff\n%s%s\n", fence, strings.ReplaceAll("\n"+shown, "\n| ", "\n")[1:], fence)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// codeSpan returns a text as a code span, which neither Markdown nor HTML reads.
func codeSpan(text string) string {
	text = plaintext.Line(text)
	fence := strings.Repeat("`", longestTicks(text)+1)
	return fence + " " + text + " " + fence
}

// longestTicks returns the length of the longest run of backquotes.
func longestTicks(text string) (most int) {
	for run := range strings.FieldsFuncSeq(text, func(c rune) bool { return c != '`' }) {
		most = max(most, len(run))
	}
	return most
}
