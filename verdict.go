package lookleap

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// VerdictMediaType is the media type of a [Verdict] in JSON. The version rises when a member changes
// its meaning. Members may be added within a version, so an older release may not read a newer verdict.
const VerdictMediaType = "application/vnd.lookleap.verdict+json;version=1"

// Status is the result of one [Check]. The zero value is Failed.
type Status uint8

const (
	// Failed: the check failed, so the answer is no.
	Failed Status = iota
	// Skipped: the check was not needed, or an earlier check already failed.
	Skipped
	// Noted: the check passed, with something that is worth showing.
	Noted
	// Passed: the check passed.
	Passed
)

var (
	statusNames = [...]string{"failed", "skipped", "noted", "passed"}
	statusMarks = [...]string{"x", "-", "!", "+"}
)

// String returns the status in lower case.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return statusNames[Failed]
}

// MarshalText returns the status in lower case.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text that MarshalText returns.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if string(text) == name {
			*s = Status(i)
			return nil
		}
	}
	return usageError("unknown status " + quote(string(text), 100))
}

// Verdict explains one decision: it lists all checks in order, including skipped ones,
// with their evidence. It marshals to JSON as [VerdictMediaType], logs as a group, and
// prints as a short tree. A returned Verdict does not change and may be shared.
type Verdict struct {
	Document  string    `json:"document"`         // the draft that was applied, such as draft-zzn-dvs-00
	Subject   string    `json:"subject"`          // what was checked: a canonical URL, or a claim in the document's words
	OK        bool      `json:"ok"`               // whether the answer is yes
	Code      Code      `json:"code"`             // why
	Summary   string    `json:"summary"`          // one sentence; remote text in it is quoted
	Checks    []Check   `json:"checks"`           // in the order of the procedure
	CheckedAt time.Time `json:"checkedAt"`        // when it was decided
	Expires   time.Time `json:"expires,omitzero"` // until when the verdict is valid; zero: for this decision only
	Record    []byte    `json:"record,omitempty"` // claim and evidence in the form of the deciding package, for checking again offline
	Findings  []Finding `json:"findings,omitempty"`
}

// Check is one step of a decision.
type Check struct {
	Requirement string     `json:"requirement,omitempty"` // id in docs/conformance, or for ANML trust a row of docs/trust-procedure.md
	Code        Code       `json:"code"`
	Status      Status     `json:"status"`
	Message     string     `json:"message"` // one sentence; remote text in it is quoted
	Evidence    []Evidence `json:"evidence,omitempty"`
	Until       time.Time  `json:"until,omitzero"` // until when the result of this check is valid
}

// Evidence is what a check used. Only the members that apply are set.
type Evidence struct {
	URL       string        `json:"url,omitempty"`       // canonical
	Status    int           `json:"status,omitempty"`    // HTTP status
	MediaType string        `json:"mediaType,omitempty"` // as the server declared it
	Address   string        `json:"address,omitempty"`   // address of the connection
	TLS       string        `json:"tls,omitempty"`       // protocol version
	Route     string        `json:"route,omitempty"`     // how the connection reached the server, if not directly
	DNSName   string        `json:"dnsName,omitempty"`   // question
	DNSType   string        `json:"dnsType,omitempty"`
	TTL       time.Duration `json:"ttl,omitempty"` // nanoseconds
	DNSSEC    *DNSSEC       `json:"dnssec,omitempty"`
	Digest    string        `json:"digest,omitempty"` // "sha256:" and lower-case hex
	KeyID     string        `json:"keyId,omitempty"`
	Text      string        `json:"text,omitempty"` // remote text, untrusted
}

// MarshalJSON returns the verdict as JSON with a type member, which tells readers of
// stored verdicts what they are.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type plain Verdict
	return json.Marshal(struct {
		Type        string `json:"type"`
		Development bool   `json:"development,omitempty"`
		plain
	}{VerdictMediaType, v.Development(), plain(v)})
}

// Development reports whether the verdict rests on a server of the development mode, whose
// connection and names were not checked. Programs in production must not act on it.
func (v *Verdict) Development() bool {
	for _, c := range zero.Or(v).Checks {
		for _, e := range c.Evidence {
			if e.Route == RouteDevelopment {
				return true
			}
		}
	}
	return false
}

// UnmarshalJSON parses the JSON that MarshalJSON returns. It returns an error for another
// type or version, whose members may have another meaning.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	type plain Verdict
	var in struct {
		Type        string `json:"type"`
		Development bool   `json:"development"` // as its evidence says
		plain
	}
	if err := strictjson.Decode(data, &in); err != nil {
		return usageError("the verdict cannot be read: " + err.Error())
	}
	if in.Type != VerdictMediaType {
		return usageError("a verdict of type " + quote(in.Type, 80) + " cannot be read as " + VerdictMediaType)
	}
	*v = Verdict(in.plain)
	return nil
}

// String returns the verdict as a short tree with a line for the answer, for each check
// and for each piece of evidence. Remote text in it cannot hide or forge a line.
func (v *Verdict) String() string {
	if v == nil {
		return "no verdict"
	}
	var b strings.Builder
	answer := "no"
	if v.OK {
		answer = "yes"
	}
	fmt.Fprintf(&b, "%s: %s (%s): %s\n", answer, line(v.Subject), line(string(v.Code)), line(v.Summary))
	for i, c := range v.Checks {
		branch, trunk := "├─", "│ "
		if i == len(v.Checks)-1 {
			branch, trunk = "└─", "  "
		}
		fmt.Fprintf(&b, "%s %s %s", branch, mark(c.Status), line(c.Message))
		if c.Code != CodeOK && c.Code != "" {
			fmt.Fprintf(&b, " (%s)", line(string(c.Code)))
		}
		if c.Requirement != "" {
			fmt.Fprintf(&b, " [%s]", line(c.Requirement))
		}
		b.WriteByte('\n')
		for _, e := range c.Evidence {
			fmt.Fprintf(&b, "%s    %s\n", trunk, e)
		}
	}
	if v.Development() {
		b.WriteString("made in development mode: nothing of the connection was checked\n")
	}
	if v.OK && !v.Expires.IsZero() {
		fmt.Fprintf(&b, "holds until %s\n", v.Expires.UTC().Format(time.RFC3339))
	}
	return b.String()
}

// mark returns an ASCII character, which logs and screen readers keep.
func mark(s Status) string {
	if int(s) < len(statusMarks) {
		return statusMarks[s]
	}
	return statusMarks[Failed]
}

// String returns the evidence in one line, with its members in a fixed order.
func (e Evidence) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+word(value))
		}
	}
	add("url", e.URL)
	if e.Status != 0 {
		add("status", fmt.Sprint(e.Status))
	}
	add("type", e.MediaType)
	add("address", e.Address)
	add("tls", e.TLS)
	add("route", e.Route)
	if e.DNSName != "" {
		parts = append(parts, strings.TrimSpace("dns="+word(e.DNSName)+" "+line(e.DNSType)))
	}
	if e.TTL != 0 {
		add("ttl", e.TTL.String())
	}
	if e.DNSSEC != nil {
		add("dnssec", e.DNSSEC.String())
	}
	add("digest", e.Digest)
	add("key", e.KeyID)
	if e.Text != "" {
		parts = append(parts, "text="+quote(e.Text, 80))
	}
	return plaintext.Isolate(strings.Join(parts, " "))
}

// LogValue returns the answer, its code, and the checks that failed or were noted.
func (v *Verdict) LogValue() slog.Value {
	if v == nil {
		return slog.StringValue("no verdict")
	}
	attrs := []slog.Attr{
		slog.Bool("ok", v.OK),
		slog.String("code", string(v.Code)),
		slog.String("subject", v.Subject),
		slog.String("summary", v.Summary),
	}
	if !v.Expires.IsZero() {
		attrs = append(attrs, slog.Time("expires", v.Expires))
	}
	for _, c := range v.Checks {
		if c.Status == Failed || c.Status == Noted {
			attrs = append(attrs, slog.Group(c.Status.String(),
				slog.String("code", string(c.Code)), slog.String("requirement", c.Requirement), slog.String("message", c.Message)))
		}
	}
	return slog.GroupValue(attrs...)
}

// VerifyError is the error of a check that ended with "no". Its Verdict explains why.
// Callers branch on [CodeOf] or on the Verdict.
type VerifyError struct {
	Verdict *Verdict
	Err     error // the cause, if any: a transport error, [ErrBogus], or the error of a context
}

// Error returns subject, summary and code of the Verdict, and the fix of the cause if it
// has one.
func (e *VerifyError) Error() string {
	if e == nil || e.Verdict == nil {
		return "not verified"
	}
	text := fmt.Sprintf("%s: %s (%s)", line(e.Verdict.Subject), line(e.Verdict.Summary), line(string(e.Verdict.Code)))
	if fix := fixOf(e.Err); !strings.Contains(e.Verdict.Summary, fix) {
		text += "; " + line(fix)
	}
	return text
}

// fixOf returns the first fix in the tree of an error.
func fixOf(err error) string {
	for e := (*Error)(nil); errors.As(err, &e) && e != nil; err = e.Err {
		if e.Fix != "" {
			return e.Fix
		}
	}
	return ""
}

// Unwrap returns the cause, so that errors.Is finds [ErrBogus], [ErrDenied] or the error
// of a context.
func (e *VerifyError) Unwrap() error { return zero.Or(e).Err }

// ReasonCode returns the code of the Verdict.
func (e *VerifyError) ReasonCode() Code {
	if e == nil || e.Verdict == nil {
		return CodeInternal
	}
	return e.Verdict.Code
}

// line makes a sentence, in which remote text is already quoted, safe to print in one
// line. Words that are written from right to left do not change its order.
func line(s string) string { return plaintext.Isolate(plaintext.Line(unisolated.Replace(s))) }

// wholeLine is line without its limit.
func wholeLine(s string) string { return plaintext.Isolate(plaintext.WholeLine(unisolated.Replace(s))) }

// unisolated removes the isolates of a sentence that line has returned before.
var unisolated = strings.NewReplacer("\u2068", "", "\u2069", "")

// quote returns at most limit characters of untrusted text, in quotation marks.
func quote(s string, limit int) string { return plaintext.Quote(s, limit) }

// word returns a value for a line that has several values: quoted, unless it is one word
// of printable ASCII without a quotation mark.
func word(s string) string {
	for _, c := range []byte(s) {
		if c <= ' ' || c == '"' || c > '~' {
			return plaintext.Quote(s, 0)
		}
	}
	return plaintext.Line(s)
}

// Severity says how a [Finding] affects the result. The zero value is SeverityError.
type Severity uint8

const (
	// SeverityError: the input is refused.
	SeverityError Severity = iota
	// SeverityWarning: the input is accepted, but its author or operator should look at it.
	SeverityWarning
	// SeverityInfo: the input is accepted.
	SeverityInfo
)

var severityNames = [...]string{"error", "warning", "info"}

// String returns error, warning or info.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[SeverityError]
}

// MarshalText returns error, warning or info.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text that MarshalText returns.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severityNames {
		if string(text) == name {
			*s = Severity(i)
			return nil
		}
	}
	return usageError("unknown severity " + quote(string(text), 100))
}

// Finding is something that a parser or check noticed: what, where, and how to fix it.
type Finding struct {
	Severity    Severity `json:"severity"`
	Code        Code     `json:"code"`
	Requirement string   `json:"requirement,omitempty"` // id in docs/conformance
	Message     string   `json:"message"`               // one sentence; remote text in it is quoted
	Fix         string   `json:"fix,omitempty"`         // what the author of the input can do
	Position
}

// Position is a place in an input. Lines and columns count from 1; columns count bytes.
// The zero value means that the place is unknown.
type Position struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Offset int    `json:"offset,omitempty"` // bytes before the place
	Path   string `json:"path,omitempty"`   // element path or JSON pointer
}

// String returns line:column and path, as far as they are known.
func (p Position) String() string {
	var parts []string
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("%d:%d", p.Line, p.Column))
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(parts, " ")
}

// String returns the finding as one line: position, severity, message, code and fix.
// Remote text in it cannot hide or forge anything.
func (f Finding) String() string {
	var b strings.Builder
	if place := f.Position.String(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s: %s (%s)", f.Severity, f.Message, f.Code)
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return line(b.String())
}
