package anml

import (
	"slices"
	"strings"

	"github.com/beevik/etree"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Limits bounds the size of a document (sections 7.5 and 13.7). A zero field has its default,
// so that no limit is off by omission. A document above a limit is refused as a whole, since
// cutting it could drop a restriction.
type Limits struct {
	Bytes    int // 1 MiB, after content decoding
	Depth    int // 32 nested elements, in XML and in JSON; the root is the first
	Actions  int // 64 on all sites together
	Asks     int // 32 on all sites together
	Elements int // 50,000, unknown elements included
	Attrs    int // 64 on one element
	Value    int // 64 KiB in one XML attribute
	Steps    int // 256 in one flow
	Sites    int // 64
	SiteRefs int // 64
	Findings int // 200 kept; further findings are counted and do not refuse the document
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

// ReadOptions says how to read a document, and what the exchange says about it. The zero value is
// strict and right for most callers.
type ReadOptions struct {
	Limits Limits

	// Role is the role that the exchange implies: a body that an agent receives is a service
	// document, a body that a service receives is an agent response (section 8.1). A document
	// that names another role is refused. RoleUnspecified accepts every role.
	Role Role
	// Self lists the domains of the serving party: its host and registrable domain. A multi-site
	// document without a site of one of them gets a finding. An empty list means no check.
	Self []string
	// WellKnown says that the document is from /.well-known/anml, where a title is required
	// (section 6.5.1).
	WellKnown bool

	Charset string // parameter of the Content-Type; XML only
	Version string // parameter of the Content-Type; the namespace decides, a difference is a finding

	AcceptMissingNamespace bool     // read <anml> without a namespace as ANML 1.0, with a finding
	Aliases                []string // further namespace URIs to read as ANML 1.0
	StrictLexical          bool     // refuse single quotes, CDATA sections and processing instructions
	RejectDoctype          bool     // refuse a document type declaration instead of skipping it
	AcceptGenericTypes     bool     // Parse accepts application/xml, text/xml and application/json too
}

// Parse reads a document with its Content-Type header field. Only the media type selects the
// parser, never the content. Parse returns an [ErrNotANML] for other media types.
func Parse(contentType string, data []byte, o ReadOptions) (*Document, error) {
	format, params, ok := matchMediaType(contentType, o.AcceptGenericTypes)
	if !ok {
		return nil, &lookleap.Error{Code: lookleap.CodeMediaType,
			Message: "the media type " + plaintext.Quote(contentType, maxQuoted) + " is not one of ANML",
			Fix:     "send " + MediaTypeXML + " or " + MediaTypeJSON, Err: ErrNotANML}
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

// reader is what both parsers share while they build a tree.
type reader struct {
	findings
	options  ReadOptions
	limits   Limits
	doc      *Document
	t        *tree // of doc
	elements int
}

func newReader(format Format, o ReadOptions) *reader {
	r := &reader{options: o, limits: o.Limits.withDefaults(), doc: &Document{format: format}}
	r.findings.limit = r.limits.Findings
	r.doc.tree = tree{notes: make(map[*etree.Element]note), rare: make(map[*etree.Element]rareParts)}
	r.t = &r.doc.tree
	return r
}

// addRoot adds the root element.
func (r *reader) addRoot(offset int) node {
	n := r.t.add(nil, kAnml, Name{Namespace, "anml"}, offset)
	r.doc.Site = Site{Node{n, r.doc}}
	return n
}

// refuse returns the error that ends reading. The position is that of the node, or the offset if
// that is not negative.
func (r *reader) refuse(class error, code lookleap.Code, at node, offset int, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Position: r.doc.position(at, offset), Message: message, Fix: fix, Err: class}
}

// refuseTooMany returns the error for a count above its limit.
func (r *reader) refuseTooMany(at node, offset int, what string, limit int) *lookleap.Error {
	return r.refuse(ErrLimit, lookleap.CodeLimit, at, offset, "the document has more than "+itoa(limit)+" "+what, "")
}

// isANML reports whether this reader treats a namespace as that of ANML 1.0.
func (r *reader) isANML(space string) bool {
	if space == Namespace {
		return true
	}
	return slices.Contains(r.options.Aliases, space) || space == "" && r.options.AcceptMissingNamespace
}

// addElement appends an element to its parent. An element that the draft does not allow there is
// kept and not processed.
func (r *reader) addElement(parent node, name Name, offset int) node {
	inside := parent.kind()
	if r.isANML(name.Space) {
		if k := schema[inside].child(name.Local); k != kUnknown {
			return r.t.add(parent.e, k, Name{Namespace, name.Local}, offset)
		}
		if name.Space != "" {
			name.Space = Namespace
		}
	}
	n := r.t.add(parent.e, kUnknown, name, offset)
	n.mark(ignored)
	if inside != kUnknown { // the content of an unknown element is not reported again
		r.reportUnknown(n, parent, name)
	}
	return n
}

func (r *reader) reportUnknown(n, parent node, name Name) {
	if r.full() {
		return
	}
	what := "the element " + plaintext.Quote(name.Local, maxQuoted)
	lower := strings.ToLower(name.Local)
	switch {
	case parent.kind() == kConstraints:
		r.add(n, lookleap.SeverityWarning, codeConstraint, "ANML-9.5-02",
			what+" in constraints is unknown, so every ask needs explicit consent", "")
	case r.isANML(name.Space) && name.Local != lower && kindNamed(lower):
		r.add(n, lookleap.SeverityInfo, codeCase, "ANML-5.2.1-01", what+" is not in lower case, so it is ignored", "write "+lower)
	case r.isANML(name.Space) && kindNamed(name.Local):
		r.add(n, lookleap.SeverityWarning, codeMisplaced, "ANML-8-01",
			what+" is not allowed in "+schema[parent.kind()].name+", so it is ignored", "")
	case r.isANML(name.Space):
		r.add(n, lookleap.SeverityInfo, codeANMLNamespace, "ANML-5.3.4-03", what+" is not an element of ANML, so it is ignored",
			"use another namespace for extensions")
	case name.Space == "":
		r.add(n, lookleap.SeverityWarning, codeUnqualified, "ANML-5.3.4-02", what+" has no namespace, so it is ignored",
			"use a namespace for extensions")
	default:
		r.add(n, lookleap.SeverityInfo, codeUnknownElement, "ANML-5.2.7-01", what+" is from another vocabulary, so it is ignored", "")
	}
}

// addText appends a piece of text to an element and returns it. Text without a meaning there is
// dropped with a finding.
func (r *reader) addText(n node, text string) etree.Token {
	switch {
	case text == "":
	case schema[n.kind()].hasText():
		return n.e.CreateText(text)
	case trimSpace(text) != "" && !r.full():
		r.add(n, lookleap.SeverityWarning, codeStrayText, "ANML-8-02",
			schema[n.kind()].name+" contains text, which has no meaning there", "")
	}
	return nil
}

// foreignAttrs handles the attributes of an element that the draft does not define there. It
// replaces two accepted spellings by those of the draft, and reports the others.
func (r *reader) foreignAttrs(n node) {
	switch n.kind() {
	case kTrust, kSiteRef:
		r.replaceSite(n)
	case kAnml, kAudio, kVideo:
		if a := n.e.SelectAttr("xml:lang"); a != nil && !n.lookup("lang").ok() {
			a.Space = ""
		}
	}
	for a := range n.attrs() {
		if a.spec == nil {
			r.reportForeign(n, a.name)
		}
	}
}

// replaceSite reads the attribute site of trust and site-ref as domain (section 12.7).
func (r *reader) replaceSite(n node) {
	alias, domain := n.foreign(Name{"", "site"}), n.lookup("domain")
	i := plainAttr(n.e, "site")
	switch {
	case !alias.ok():
		return
	case !domain.ok():
		n.e.Attr[i].Key = "domain"
	case domain.value != alias.value:
		n.mark(ignored | malformed)
		r.add(n, lookleap.SeverityError, codeClaim, "ANML-12.5-05", "the attributes domain and site name different sites",
			"write only domain")
		return
	default:
		n.e.Attr = slices.Delete(n.e.Attr, i, i+1)
	}
	r.add(n, lookleap.SeverityWarning, codeAlias, "ANML-12.7-14", "the attribute site is read as domain", "write domain")
}

func (r *reader) reportForeign(n node, name Name) {
	if n.kind() == kUnknown || name.Space == xmlNamespace || r.full() {
		return
	}
	what := "the attribute " + plaintext.Quote(name.Local, maxQuoted) + " of " + schema[n.kind()].name
	lower := strings.ToLower(name.Local)
	switch {
	case name.Space == Namespace:
		r.add(n, lookleap.SeverityInfo, codeANMLNamespace, "ANML-5.3.4-03",
			what+" is in the ANML namespace, which has no attributes, so it is ignored", "write it without a prefix")
	case name.Space != "":
		r.add(n, lookleap.SeverityInfo, codeUnknownAttribute, "ANML-5.3.4-01", what+" is from another vocabulary, so it is ignored", "")
	case name.Local != lower && schema[n.kind()].attr(lower) != nil:
		r.add(n, lookleap.SeverityInfo, codeCase, "ANML-5.2.1-01", what+" is not in lower case, so it is ignored", "write "+lower)
	default:
		r.add(n, lookleap.SeverityInfo, codeUnqualified, "ANML-5.3.4-02", what+" is not an attribute of ANML, so it is ignored",
			"use a namespace for extensions")
	}
}
