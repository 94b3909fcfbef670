package anml

import (
	"mime"
	"strings"

	"github.com/lookleap/lookleap"
)

// The media types of section 16.1 and the usual file extensions.
const (
	MediaTypeXML   = "application/anml+xml"
	MediaTypeJSON  = "application/anml+json"
	MediaTypeTrust = "application/anml-trust+json" // a trust manifest, never a document

	ExtensionXML  = ".anml"
	ExtensionJSON = ".anml.json"
)

// Format is one of the two serializations of the one document model.
type Format uint8

const (
	XML Format = iota
	JSON
)

// String gives XML or JSON.
func (f Format) String() string {
	if f == JSON {
		return "JSON"
	}
	return "XML"
}

// MediaType gives the media type of the serialization.
func (f Format) MediaType() string {
	if f == JSON {
		return MediaTypeJSON
	}
	return MediaTypeXML
}

// ReadOptions says how to read a document, and what is known about it from the
// exchange that brought it. The zero value is the strict and usual one.
type ReadOptions struct {
	Limits Limits

	// Role is what the exchange implies: a body received by an agent is a service
	// document, a body sent to an action is an agent response (section 8.1). A
	// document that names another role is refused. Unspecified: no exchange.
	Role Role
	// Self lists the domains that the serving party speaks for by itself, its host
	// and registrable domain. A multi-site document without one gets a finding.
	Self []string
	// WellKnown says that this is the answer of /.well-known/anml, where a title
	// is the least that a document holds (section 6.5.1).
	WellKnown bool

	Charset string // of the Content-Type; XML only
	Version string // of the Content-Type; the namespace decides, a difference is a finding

	AcceptMissingNamespace bool     // read <anml> without a namespace as ANML 1.0, with a finding
	Aliases                []string // further namespace URIs to read as ANML 1.0
	StrictLexical          bool     // refuse single quotes, CDATA sections and processing instructions
	RejectDoctype          bool     // refuse a document type declaration instead of skipping it
	AcceptGenericTypes     bool     // Parse: application/xml, text/xml and application/json too
}

// Parse reads a document whose Content-Type header field is given. It picks the
// codec by the media type alone and never by the octets: ErrNotANML for any
// type that is none of ANML.
func Parse(contentType string, data []byte, o ReadOptions) (*Document, error) {
	format, params, ok := matchMediaType(contentType, o.AcceptGenericTypes)
	if !ok {
		return nil, &lookleap.Error{Code: lookleap.CodeMediaType, Message: "the media type " + quoted(contentType) + " is none of ANML",
			Fix: "send " + MediaTypeXML + " or " + MediaTypeJSON, Err: ErrNotANML}
	}
	if o.Charset == "" {
		o.Charset = params["charset"]
	}
	if o.Version == "" {
		o.Version = params["version"]
	}
	if format == JSON {
		return ParseJSON(data, o)
	}
	return ParseXML(data, o)
}

// FormatOf tells which serialization a Content-Type names. Type and subtype are
// compared without regard to case and parameters; anything else is not ANML.
func FormatOf(contentType string) (Format, bool) {
	format, _, ok := matchMediaType(contentType, false)
	return format, ok
}

func matchMediaType(contentType string, generic bool) (f Format, params map[string]string, ok bool) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, nil, false
	}
	switch mediaType {
	case MediaTypeXML:
		return XML, params, true
	case MediaTypeJSON:
		return JSON, params, true
	case "application/xml", "text/xml":
		return XML, params, generic
	case "application/json":
		return JSON, params, generic
	}
	return 0, nil, false
}

// reader is what both codecs share while they build a tree.
type reader struct {
	findings
	o        ReadOptions
	limits   Limits
	doc      *Document
	t        *tree // of doc
	elements int
}

func newReader(format Format, o ReadOptions) *reader {
	r := &reader{o: o, limits: o.Limits.withDefaults()}
	r.findings.limit = r.limits.Findings
	r.doc = &Document{format: format}
	r.t = &r.doc.tree
	r.doc.Site = Site{Node{node{&r.doc.tree, root}, r.doc}}
	return r
}

// node gives a row of the tree.
func (r *reader) node(i int32) node { return node{r.t, i} }

// finish turns the tree into a document, or refuses it.
func (r *reader) finish() (*Document, error) {
	if err := r.examine(r.doc.root()); err != nil {
		return nil, err
	}
	r.doc.found = r.findings
	return r.doc, nil
}

// refuse makes the error that ends reading at a node.
func (r *reader) refuse(class error, code lookleap.Code, at node, offset int, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Position: r.doc.position(at, offset), Message: message, Fix: fix, Err: class}
}

func (r *reader) over(at node, offset int, what string, limit int) *lookleap.Error {
	return r.refuse(ErrLimit, lookleap.CodeLimit, at, offset, "the document has more than "+itoa(limit)+" "+what, "")
}

// isANML reports whether a namespace is that of ANML 1.0 for this reader.
func (r *reader) isANML(space string) bool {
	if space == Namespace {
		return true
	}
	for _, alias := range r.o.Aliases {
		if space == alias {
			return true
		}
	}
	return space == "" && r.o.AcceptMissingNamespace
}

// full counts a finding that there is no room for, before its message is made.
func (r *reader) full() bool {
	if len(r.list) < r.findings.limit {
		return false
	}
	r.lost++
	return true
}

// place makes an element behind the last child of another: a known one by its
// name and parent, or an unknown one that is kept and not processed.
func (r *reader) place(parent, last int32, name Name, offset int) int32 {
	anml, inside := r.isANML(name.Space), r.t.rows[parent].kind
	if anml { // nothing is known inside an unknown element
		if k := words.child[inside][words.id(name.Local)]; k != kUnknown {
			return r.t.add(k, parent, last, int32(offset))
		}
	}
	if anml && name.Space != "" {
		name.Space = Namespace
	}
	i := r.t.add(kUnknown, parent, last, int32(offset))
	n := r.node(i)
	n.mark(ignored)
	n.needMore().name = name
	if inside != kUnknown {
		r.noteUnknown(n, r.node(parent), name)
	}
	return i
}

func (r *reader) noteUnknown(n, parent node, name Name) {
	if r.full() {
		return
	}
	what := "the element " + quoted(name.Local)
	lower := strings.ToLower(name.Local)
	switch {
	case parent.kind() == kConstraints:
		r.add(n, lookleap.SeverityWarning, CodeConstraint, "ANML-9.5-02", what+" in constraints is unknown, so every ask needs explicit consent", "")
	case r.isANML(name.Space) && name.Local != lower && kindNamed(lower):
		r.add(n, lookleap.SeverityInfo, CodeCase, "ANML-5.2.1-01", what+" is not lower-case, so it is ignored", "write "+lower)
	case r.isANML(name.Space) && kindNamed(name.Local):
		r.add(n, lookleap.SeverityWarning, CodeMisplaced, "ANML-8-01", what+" cannot stand in "+schema[parent.kind()].name+", so it is ignored", "")
	case r.isANML(name.Space):
		r.add(n, lookleap.SeverityInfo, CodeANMLNamespace, "ANML-5.3.4-03", what+" is not one of ANML, so it is ignored", "give extensions a namespace of their own")
	case name.Space == "":
		r.add(n, lookleap.SeverityWarning, CodeUnqualified, "ANML-5.3.4-02", what+" has no namespace, so it is ignored", "give extensions a namespace")
	default:
		r.add(n, lookleap.SeverityInfo, CodeUnknownElement, "ANML-5.2.7-01", what+" is of another vocabulary, so it is ignored", "")
	}
}

// noteAttr reports an attribute that the draft does not know on this element.
func (r *reader) noteAttr(n node, name Name) {
	if n.kind() == kUnknown || name.Space == xmlNamespace || r.full() {
		return
	}
	what := "the attribute " + quoted(name.Local) + " of " + schema[n.kind()].name
	lower := strings.ToLower(name.Local)
	switch {
	case name.Space == Namespace:
		r.add(n, lookleap.SeverityInfo, CodeANMLNamespace, "ANML-5.3.4-03", what+" is in the ANML namespace, where no attribute is, so it is ignored", "write it without a prefix")
	case name.Space != "":
		r.add(n, lookleap.SeverityInfo, CodeUnknownAttribute, "ANML-5.3.4-01", what+" is of another vocabulary, so it is ignored", "")
	case name.Local != lower && words.spec(n.kind(), lower) >= 0:
		r.add(n, lookleap.SeverityInfo, CodeCase, "ANML-5.2.1-01", what+" is not lower-case, so it is ignored", "write "+lower)
	default:
		r.add(n, lookleap.SeverityInfo, CodeUnqualified, "ANML-5.3.4-02", what+" is not one of ANML, so it is ignored", "give extensions a namespace")
	}
}

// content gives a finished run of text to an element, behind its last child:
// kept where text has a meaning, dropped with a finding where it has none. It
// gives the number of the last child then. All is said of a text that is all
// that the element holds.
func (r *reader) content(of, last int32, text span, all bool) int32 {
	if text.empty() {
		return last
	}
	k := r.t.rows[of].kind
	switch schema[k].content {
	case elements, empty:
		if strings.Trim(r.t.string(text), " \t\r\n") != "" && !r.full() {
			r.add(r.node(of), lookleap.SeverityWarning, CodeStrayText, "ANML-8-02", schema[k].name+" holds text, which means nothing there", "")
		}
		return last
	case textOnly:
		if all {
			r.t.rows[of].text = text
			return last
		}
	}
	i := r.t.add(kText, of, last, max(text.from, 0))
	r.t.rows[i].text = text
	return i
}

// adopt moves the spellings that are read but not written to the ones that are:
// site to domain on trust and site-ref, xml:lang to lang where the draft has it.
func (r *reader) adopt(n node) {
	switch n.kind() {
	case kTrust, kSiteRef:
		site := Name{"", "site"}
		alias, domain := n.foreign(site), n.lookup("domain")
		if !alias.ok() {
			return
		}
		if domain.ok() && domain.value != alias.value {
			n.mark(ignored | malformed)
			r.add(n, lookleap.SeverityError, CodeClaim, "ANML-12.5-05", "the attributes domain and site name different sites", "write domain alone")
			return
		}
		if domain.ok() {
			n.drop(site)
		} else {
			n.adopt(site, words.spec(n.kind(), "domain"))
		}
		r.add(n, lookleap.SeverityWarning, CodeAlias, "ANML-12.7-14", "the attribute site is read as domain", "write domain")
	case kAnml, kAudio, kVideo:
		if !n.lookup("lang").ok() {
			n.adopt(Name{xmlNamespace, "lang"}, langSpec)
		}
	}
}

// Limits bounds what one document may hold (sections 7.5 and 13.7). A zero
// field takes the default beside it, so that no limit is switched off by leaving
// it out. A document beyond any of them is refused as a whole: cutting it could
// drop a restriction.
type Limits struct {
	Bytes    int // 1 MiB (2^20 octets), after content decoding
	Depth    int // 32 elements inside one another; the root is 1; the same in JSON
	Actions  int // 64, over all sites
	Asks     int // 32, over all sites
	Elements int // 50,000, unknown ones too
	Attrs    int // 64 of one element
	Value    int // 64 KiB in one attribute
	Steps    int // 256 in one flow
	Sites    int // 64
	SiteRefs int // 64
	Findings int // 200 kept; more are counted
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, def int) {
		if *field <= 0 {
			*field = def
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Depth, 32)
	set(&l.Actions, 64)
	set(&l.Asks, 32)
	set(&l.Elements, 50_000)
	set(&l.Attrs, 64)
	set(&l.Value, 64<<10)
	set(&l.Steps, 256)
	set(&l.Sites, 64)
	set(&l.SiteRefs, 64)
	set(&l.Findings, 200)
	return l
}
