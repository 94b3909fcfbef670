package weblink

import (
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// MaxLinks is the number of links of one page that are looked at.
const MaxLinks = 100

// Link is one link, as far as anybody here asks. Its texts are untrusted.
type Link struct {
	Target string // URI reference, as written
	Rel    string // relation types, separated by blanks
	Type   string // media type of the target, perhaps with parameters; "": not said
	Anchor string // URI reference of what the link is about; "": the page
	Open   bool   // the header ends inside a quoted parameter
}

// About reports whether the link is about the page that gave it and no other
// resource (RFC 8288 section 3.2). A part of the page is another one. Where the
// page is not known (zero), every anchor is taken for another resource.
func (l Link) About(page domain.URL) bool {
	if l.Anchor == "" || page.IsZero() {
		return l.Anchor == ""
	}
	context, err := page.Resolve(l.Anchor)
	return err == nil && context.String() == page.String() && !context.FragmentDropped()
}

// HasRel reports whether a relation type is among those of the link, compared
// without regard to case (RFC 8288 section 3.3).
func (l Link) HasRel(name string) bool {
	for rel := range strings.FieldsSeq(l.Rel) {
		if strings.EqualFold(rel, name) {
			return true
		}
	}
	return false
}

// HasType reports whether the link gives a media type, whatever its parameters.
func (l Link) HasType(mediaType string) bool {
	own, _, _ := strings.Cut(l.Type, ";")
	return strings.EqualFold(strings.Trim(own, " \t\r\n\f"), mediaType)
}
