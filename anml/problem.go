package anml

import (
	"fmt"
	"io"
	"mime"
	"slices"
	"strconv"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/strictxml"
	"github.com/lookleap/lookleap/internal/zero"
)

// The media types of problem details (RFC 9457).
const (
	MediaTypeProblemJSON = "application/problem+json"
	MediaTypeProblemXML  = "application/problem+xml"
)

const (
	problemNamespace = "urn:ietf:rfc:7807"
	problemBytes     = 64 << 10
	problemDepth     = 8
)

// ErrProblem is why an error answer is no problem details object.
var ErrProblem = coded.New("malformed", "anml: no problem details")

// Problem is the envelope of a 4xx or 5xx answer (RFC 9457 and section 11.3). All
// of it is untrusted text; its URIs are never followed.
type Problem struct {
	Type     string // "about:blank" when absent
	Title    string
	Status   int // 0 when absent
	Detail   string
	Instance string
	// Extensions holds the other members in alphabetical order: texts as they
	// are, everything else as JSON.
	Extensions []Extension
}

// Extension is one further member of a problem.
type Extension struct {
	Name, Value string
}

// Extension gives the value of a further member.
func (p *Problem) Extension(name string) (string, bool) {
	for _, e := range zero.Or(p).Extensions {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}

// ParseProblem reads problem details in either form, at most 64 KiB and eight
// levels deep.
func ParseProblem(contentType string, data []byte) (*Problem, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
	case mediaType == MediaTypeProblemJSON:
		return parseProblemJSON(data)
	case mediaType == MediaTypeProblemXML:
		return parseProblemXML(data)
	}
	return nil, fmt.Errorf("%w: the media type is %s", ErrProblem, quoted(contentType))
}

func parseProblemJSON(data []byte) (*Problem, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: problemBytes, Depth: problemDepth})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProblem, err)
	}
	if err := v.Expect(strictjson.Object); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProblem, err)
	}
	p := &Problem{}
	for name, value := range v.Members() {
		text := value.Source()
		if value.Kind() == strictjson.String {
			if text, err = value.Text(); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrProblem, err)
			}
		}
		p.set(name, text, value.Kind() == strictjson.String, value.Kind() == strictjson.Number)
	}
	return p.finish(), nil
}

// set keeps one member; one of the wrong type counts as absent (RFC 9457, 3.1).
func (p *Problem) set(name, text string, isText, isNumber bool) {
	fields := map[string]*string{"type": &p.Type, "title": &p.Title, "detail": &p.Detail, "instance": &p.Instance}
	switch {
	case fields[name] != nil:
		if isText {
			*fields[name] = text
		}
	case name == "status":
		if n, err := strconv.Atoi(text); err == nil && isNumber && n >= 100 && n <= 999 {
			p.Status = n
		}
	default:
		p.Extensions = append(p.Extensions, Extension{name, text})
	}
}

func (p *Problem) finish() *Problem {
	if p.Type == "" {
		p.Type = "about:blank"
	}
	slices.SortFunc(p.Extensions, func(a, b Extension) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return p
}

// parseProblemXML reads the XML form: a member is an element, and what an
// extension holds beside text is left out.
func parseProblemXML(data []byte) (*Problem, error) {
	s := strictxml.NewBytes(data, strictxml.Options{Limits: strictxml.Limits{Bytes: problemBytes, Depth: problemDepth}})
	p := &Problem{}
	seen := map[string]bool{}
	member, text, depth := "", "", 0
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return p.finish(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProblem, err)
		}
		switch tok.Kind {
		case strictxml.StartElement:
			depth++
			switch {
			case depth == 1 && (tok.Name != strictxml.Name{Space: problemNamespace, Local: "problem"}):
				return nil, fmt.Errorf("%w: the root element is not problem", ErrProblem)
			case depth == 2:
				member, text = "", ""
				if tok.Name.Space == problemNamespace {
					member = tok.Name.Local
				}
			}
		case strictxml.Text, strictxml.CData:
			if depth == 2 {
				text += tok.Text
			}
		case strictxml.EndElement:
			if depth == 2 && member != "" {
				if seen[member] {
					return nil, fmt.Errorf("%w: %s stands twice", ErrProblem, quoted(member))
				}
				seen[member] = true
				p.set(member, text, true, true)
			}
			depth--
		}
	}
}

// Marshal writes the problem in one of the two forms and gives its media type.
// An extension whose name is no name in both forms is an error.
func (p *Problem) Marshal(f Format) (data []byte, contentType string, err error) {
	p = zero.Or(p)
	members := []Extension{{"type", p.Type}, {"title", p.Title}, {"status", ""}, {"detail", p.Detail}, {"instance", p.Instance}}
	if p.Status != 0 {
		members[2].Value = strconv.Itoa(p.Status)
	}
	for _, e := range p.Extensions {
		if !isNCName(e.Name) || slices.ContainsFunc(members[:5], func(m Extension) bool { return m.Name == e.Name }) {
			return nil, "", fmt.Errorf("%w: the extension %s has no name of its own", ErrProblem, quoted(e.Name))
		}
		if !isXMLText(e.Value) {
			return nil, "", fmt.Errorf("%w: the extension %s holds a character that XML cannot", ErrProblem, quoted(e.Name))
		}
	}
	members = append(members, p.Extensions...)
	if f == JSON {
		w := &jsonWriter{}
		w.open('{')
		for i, m := range members {
			if i < 5 && m.Value == "" {
				continue
			}
			w.key(m.Name)
			if m.Name == "status" {
				w.out = append(w.out, m.Value...)
			} else {
				w.string(m.Value)
			}
		}
		w.close('}')
		return w.out, MediaTypeProblemJSON, w.err
	}
	w := &xmlWriter{}
	w.raw(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<problem xmlns="` + problemNamespace + `">`)
	for i, m := range members {
		if i < 5 && m.Value == "" {
			continue
		}
		if !isXMLText(m.Value) {
			return nil, "", fmt.Errorf("%w: %s holds a character that XML cannot", ErrProblem, m.Name)
		}
		w.raw("<" + m.Name + ">")
		w.out = appendText(w.out, m.Value)
		w.raw("</" + m.Name + ">")
	}
	w.raw("</problem>\n")
	return w.out, MediaTypeProblemXML, nil
}

// MaxPages is how many pages of one result an agent retrieves in an interaction
// without asking its user, the first document included (section 11.5). It is
// held by anml/agent.
const MaxPages = 10

// Outcome is what became of a submitted action.
type Outcome uint8

const (
	OutcomeUnknown  Outcome = iota // nobody can say; never a success
	OutcomeError                   // it failed
	OutcomePartial                 // it was done in part
	OutcomeAccepted                // it was accepted and is not finished (202)
	OutcomeSuccess                 // it was done
)

// String names the outcome.
func (o Outcome) String() string {
	return word([]string{"unknown", "error", "partial", "accepted", "success"}, o)
}

// OutcomeOf combines an HTTP status code with the status of the document that
// came with it, which may be nil: the worse of the two counts (section 11.3). A
// status that is malformed leaves the outcome unknown, whatever HTTP says.
func OutcomeOf(code int, d *Document) Outcome {
	http := OutcomeUnknown
	switch {
	case code == 202:
		http = OutcomeAccepted
	case code >= 200 && code < 300:
		http = OutcomeSuccess
	case code >= 400:
		http = OutcomeError
	}
	if d == nil || !d.root().has(kStatus) {
		return http
	}
	said := OutcomeUnknown
	if s := d.Status(); s.Exists() {
		said = [...]Outcome{ResultError: OutcomeError, ResultPartial: OutcomePartial, ResultSuccess: OutcomeSuccess}[s.Result()]
	}
	if http == OutcomeError {
		return OutcomeError
	}
	return min(http, said)
}
