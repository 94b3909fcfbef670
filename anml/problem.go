package anml

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"slices"
	"strconv"

	"github.com/beevik/etree"
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
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

// Problem is the problem details object of a 4xx or 5xx response (RFC 9457 and section 11.3). All
// of it is untrusted text. Its URIs are never followed.
type Problem struct {
	Type     string // "about:blank" if it is absent
	Title    string
	Status   int // 0 if it is absent
	Detail   string
	Instance string
	// Extensions has the other members in alphabetical order: strings decoded, everything else
	// as JSON.
	Extensions []Extension
}

// Extension is an extension member of a problem.
type Extension struct {
	Name, Value string
}

// Extension returns the value of an extension member, and false if it is absent.
func (p *Problem) Extension(name string) (string, bool) {
	for _, e := range zero.Or(p).Extensions {
		if e.Name == name {
			return e.Value, true
		}
	}
	return "", false
}

// ParseProblem parses problem details in JSON or XML, up to 64 KiB and eight levels. It returns an
// [ErrProblem] for anything else.
func ParseProblem(contentType string, data []byte) (*Problem, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
	case mediaType == MediaTypeProblemJSON:
		return parseProblemJSON(data)
	case mediaType == MediaTypeProblemXML:
		return parseProblemXML(data)
	}
	return nil, newError(ErrProblem, "the media type "+plaintext.Quote(contentType, maxQuoted)+" is not one of problem details",
		"send "+MediaTypeProblemJSON)
}

func parseProblemJSON(data []byte) (*Problem, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: problemBytes, Depth: problemDepth})
	if err != nil {
		return nil, problemError(err)
	}
	if err := v.Expect(strictjson.Object); err != nil {
		return nil, problemError(err)
	}
	p := &Problem{}
	for name, value := range v.Members() {
		text := value.Source()
		if value.Kind() == strictjson.String {
			if text, err = value.Text(); err != nil {
				return nil, problemError(err)
			}
		}
		p.set(name, text, value.Kind() == strictjson.String, value.Kind() == strictjson.Number)
	}
	return p.finish(), nil
}

// problemError returns a parser's error as an [ErrProblem].
func problemError(err error) error {
	var e *lookleap.Error
	if !errors.As(xmlError(err), &e) {
		e = jsonError(err, nil)
	}
	e.Code, e.Err = lookleap.CodeOf(ErrProblem), ErrProblem
	return e
}

// set sets one member. A member of the wrong type counts as absent (RFC 9457, section 3.1).
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
	slices.SortFunc(p.Extensions, func(a, b Extension) int { return cmp.Compare(a.Name, b.Name) })
	return p
}

// parseProblemXML parses the XML form, in which a member is an element. It omits elements inside an
// extension member.
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
			return nil, problemError(err)
		}
		switch tok.Kind {
		case strictxml.StartElement:
			depth++
			switch {
			case depth == 1 && (tok.Name != strictxml.Name{Space: problemNamespace, Local: "problem"}):
				return nil, newError(ErrProblem, "the root element is not problem", "")
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
					return nil, newError(ErrProblem, "the member "+plaintext.Quote(member, maxQuoted)+" appears twice", "keep one of them")
				}
				seen[member] = true
				p.set(member, text, true, true)
			}
			depth--
		}
	}
}

// Marshal returns the problem in XML or JSON with its media type. It returns an [ErrProblem] if an
// extension has the name of a standard member or a name or value that XML does not allow.
func (p *Problem) Marshal(f Format) (data []byte, contentType string, err error) {
	p = zero.Or(p)
	members := []Extension{{"type", p.Type}, {"title", p.Title}, {"status", ""}, {"detail", p.Detail}, {"instance", p.Instance}}
	if p.Status != 0 {
		members[2].Value = strconv.Itoa(p.Status)
	}
	for _, e := range p.Extensions {
		if !strictxml.IsNCName(e.Name) || slices.ContainsFunc(members[:5], func(m Extension) bool { return m.Name == e.Name }) {
			return nil, "", newError(ErrProblem, "the extension "+plaintext.Quote(e.Name, maxQuoted)+
				" has an invalid name or that of a standard member", "rename it")
		}
		if !strictxml.IsText(e.Value) {
			return nil, "", newError(ErrProblem, "the extension "+plaintext.Quote(e.Name, maxQuoted)+
				" contains a character that XML does not allow", "remove it")
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
	root := &etree.Element{Tag: "problem"}
	setAttr(root, Name{"", "xmlns"}, problemNamespace)
	for i, m := range members {
		if i < 5 && m.Value == "" {
			continue
		}
		if !strictxml.IsText(m.Value) {
			return nil, "", newError(ErrProblem, "the member "+m.Name+" contains a character that XML does not allow", "remove it")
		}
		root.CreateElement(m.Name).CreateText(m.Value)
	}
	data, err = writeXML(root)
	return data, MediaTypeProblemXML, err
}

// MaxPages is the number of pages of one result, the first document included, that an agent fetches
// in an interaction without asking its user (section 11.5). Package anml/agent enforces it.
const MaxPages = 10

// Outcome is the outcome of a submitted action (section 11.3).
type Outcome uint8

const (
	OutcomeUnknown  Outcome = iota // not known; never a success
	OutcomeError                   // it failed
	OutcomePartial                 // it was partly done
	OutcomeAccepted                // it was accepted and is not finished (HTTP status 202)
	OutcomeSuccess                 // it was done
)

// String returns "unknown", "error", "partial", "accepted" or "success".
func (o Outcome) String() string {
	return word([]string{"unknown", "error", "partial", "accepted", "success"}, o)
}

// OutcomeOf returns the outcome for an HTTP status code and the status in the response's document:
// the worse of the two (section 11.3). The document may be nil. If its status is malformed and
// HTTP reports no error, the outcome is unknown.
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
