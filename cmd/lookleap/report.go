package main

import (
	"bytes"
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

	against string // the file of the checkout that what is not in it was held against: lockfile or policy
	entries []byte // of a lockfile
}

func reportFlags(flags *flag.FlagSet) *report {
	r := new(report)
	flags.StringVar(&r.sarif, "sarif", "", "write the findings to this `FILE` as SARIF 2.1.0")
	flags.StringVar(&r.summary, "summary", "", "append a summary in Markdown to this `FILE`, such as $GITHUB_STEP_SUMMARY")
	flags.BoolVar(&r.github, "github", false, "print the findings as annotations of GitHub Actions too")
	return r
}

func (r *report) asked() bool { return r.sarif != "" || r.summary != "" || r.github }

// write writes what the flags ask for.
func (r *report) write(stdout io.Writer) error {
	if r == nil {
		return nil
	}
	var errs []error
	if r.github {
		_, err := io.WriteString(stdout, r.annotations())
		errs = append(errs, err)
	}
	if r.sarif != "" {
		data, err := json.MarshalIndent(r.sarifLog(), "", "  ")
		if err == nil {
			err = os.WriteFile(r.sarif, append(data, '\n'), 0o644)
		}
		errs = append(errs, err)
	}
	if r.summary != "" {
		f, err := os.OpenFile(r.summary, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err == nil {
			_, err = io.WriteString(f, r.markdown())
			err = errors.Join(err, f.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *result) exit() int {
	switch {
	case r.OK:
		return exitAccepted
	case r.changed:
		return exitChanged
	case slices.Contains(uncheckedCodes, r.Code):
		return exitUnchecked
	}
	return exitRefused
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
	for _, code := range []int{exitRefused, exitUnchecked, exitChanged} {
		if slices.ContainsFunc(r.results, func(one result) bool { return one.exit() == code }) {
			return code
		}
	}
	return exitAccepted
}

type reported struct {
	lookleap.Finding
	uri string // of a file of the checkout, or "" for what no file of it is about
}

// findings returns the findings of a result. A refusal without a finding is one.
func (r *report) findings(of *result) (all []reported) {
	for _, f := range of.Findings {
		all = append(all, r.placed(of, f))
	}
	if !of.OK && !slices.ContainsFunc(of.Findings, func(f lookleap.Finding) bool { return f.Code == of.Code }) {
		all = append(all, r.placed(of, lookleap.Finding{Code: of.Code, Message: of.Message}))
	}
	return all
}

// placed returns a finding at its place in the checkout, since code hosts refuse other places. That
// of a skill at a URL is in the lockfile or policy, and the message names the skill.
func (r *report) placed(of *result, f lookleap.Finding) reported {
	input := of.Input
	if of.base != "" {
		return reported{f, fileURI(filepath.Join(of.base, filepath.FromSlash(f.Path)))}
	}
	if u, err := url.Parse(input); err == nil && u.Scheme == "https" && u.Host != "" {
		u.RawQuery, u.Fragment, u.User = "", "", nil
		if f.Path != "" && !strings.Contains(f.Path, "://") {
			u.Path, u.RawPath = path.Join(path.Dir(u.Path), f.Path), ""
		}
		about := u.String()
		if f.Line > 0 {
			about += fmt.Sprintf(":%d", f.Line)
		}
		f.Message = about + ": " + f.Message
		f.Position = lookleap.Position{Line: r.lineOf(input, f.Path)}
		return reported{f, fileURI(r.against)}
	}
	if info, err := os.Stat(input); err == nil && info.IsDir() {
		input = filepath.Join(input, filepath.FromSlash(cmp.Or(f.Path, dvs.EntryFile)))
	}
	return reported{f, fileURI(input)}
}

// lineOf returns the line of the lockfile about a skill, or one of its files; 0 if there is none.
func (r *report) lineOf(skill, file string) int {
	u, err := dvs.ParseSkillURL(skill, dvs.Rules{})
	if err != nil {
		return 0
	}
	at := bytes.Index(r.entries, fmt.Appendf(nil, "%q", u))
	if at < 0 {
		return 0
	}
	if file != "" {
		if next := bytes.Index(r.entries[at:], fmt.Appendf(nil, "%q", file)); next > 0 {
			at += next
		}
	}
	return 1 + bytes.Count(r.entries[:at], []byte("\n"))
}

// fileURI returns a file as a URI reference, from the working directory if it is below it.
func fileURI(name string) string {
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(name) {
		if below, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(below) {
			name = below
		}
	}
	return (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath()
}

// annotations returns the findings as commands of GitHub Actions, which shows them at the lines.
func (r *report) annotations() string {
	var b strings.Builder
	for i := range r.results {
		for _, f := range r.findings(&r.results[i]) {
			fmt.Fprintf(&b, "::%s ", f.level("notice"))
			if f.uri != "" {
				fmt.Fprintf(&b, "file=%s,", annotationValue(f.uri))
			}
			if f.Line > 0 {
				fmt.Fprintf(&b, "line=%d,col=%d,", f.Line, max(f.Column, 1))
			}
			fmt.Fprintf(&b, "title=%s::%s\n", annotationValue(string(f.Code)), annotationText(f.text()))
		}
	}
	return b.String()
}

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

// markdown returns the results in Markdown. Foreign text is in code blocks and code spans only.
func (all *report) markdown() string {
	var b strings.Builder
	for i := range all.results {
		r := &all.results[i]
		word := map[int]string{exitAccepted: "accepted", exitRefused: "refused", exitChanged: "changed",
			exitUnchecked: "could not be checked"}[r.exit()]
		fmt.Fprintf(&b, "### %s: %s\n\n", codeSpan(r.Input), word)
		if !r.OK {
			fmt.Fprintf(&b, "%s (`%s`)\n\n", codeSpan(r.Message), r.Code)
		}
		for _, f := range all.findings(r) {
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

func longestTicks(text string) (most int) {
	for run := range strings.FieldsFuncSeq(text, func(c rune) bool { return c != '`' }) {
		most = max(most, len(run))
	}
	return most
}

func (f *reported) level(low string) string {
	switch f.Severity {
	case lookleap.SeverityError:
		return "error"
	case lookleap.SeverityWarning:
		return "warning"
	}
	return low
}

type object map[string]any

// sarifLog returns the results as a SARIF 2.1.0 log. What could not be checked is a notification of
// the run, which then counts as failed: it is not a finding about the skill.
func (all *report) sarifLog() object {
	rules, results := []object{}, []object{}
	var notifications []object
	indexOf := map[lookleap.Code]int{}
	for i := range all.results {
		r := &all.results[i]
		if r.exit() == exitUnchecked {
			text := fmt.Sprintf("%s could not be checked: %s (%s)", r.Input, r.Message, r.Code)
			notifications = append(notifications, object{"level": "error", "message": object{"text": text}})
			continue
		}
		for _, f := range all.findings(r) {
			if _, known := indexOf[f.Code]; !known {
				indexOf[f.Code] = len(rules)
				rules = append(rules, object{"id": f.Code, "shortDescription": object{"text": f.Code.Title()}})
			}
			one := object{
				"ruleId": f.Code, "ruleIndex": indexOf[f.Code], "level": f.level("note"), "message": object{"text": f.text()},
				"partialFingerprints": object{
					"lookleap/v1": lookleap.Digest(fmt.Appendf(nil, "%s\n%s\n%s", f.Code, f.uri, f.Message))},
			}
			if f.uri != "" {
				place := object{"artifactLocation": object{"uri": f.uri}}
				if f.Line > 0 {
					region := object{"startLine": f.Line}
					if f.Column > 0 {
						region["startColumn"] = f.Column
					}
					place["region"] = region
				}
				one["locations"] = []object{{"physicalLocation": place}}
			}
			results = append(results, one)
		}
	}
	invocation := object{"executionSuccessful": len(notifications) == 0}
	if len(notifications) > 0 {
		invocation["toolExecutionNotifications"] = notifications
	}
	tool := object{"driver": object{"name": "lookleap", "version": buildVersion(),
		"informationUri": "https://github.com/lookleap/lookleap", "rules": rules}}
	return object{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		"version": "2.1.0",
		"runs": []object{{"tool": tool, "invocations": []object{invocation}, "results": results,
			"columnKind": "unicodeCodePoints"}},
	}
}
