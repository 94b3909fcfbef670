package lookleap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/zero"
)

// ConsentSection is a part of a [ConsentRequest] as a user reads it. The first
// section says who wants what, and until when the user can decide; its first line
// is a headline that begins with the origin. Each further one holds the items of
// one class, the most unusual class first. The last one has no items but Details.
type ConsentSection struct {
	Title   string        `json:"title,omitempty"`   // our words
	Class   ItemClass     `json:"class,omitempty"`   // of all items in the section
	Items   []string      `json:"items,omitempty"`   // the ids of the items in the section, in order
	Details bool          `json:"details,omitempty"` // ids, digests and what else a machine needs: a page may fold it
	Lines   []ConsentLine `json:"lines"`
}

// ConsentLine is one line. The texts of its parts, one after another, are the
// line in a terminal; nothing in them can move, hide or forge anything. A page
// escapes them for HTML and may style each part by its kind.
type ConsentLine struct {
	Item   string        `json:"item,omitempty"`   // id of the item that the line is about
	Indent int           `json:"indent,omitempty"` // 0 for the first line of an item, 1 and 2 for what belongs to it
	Parts  []ConsentPart `json:"parts"`
}

// String returns the line without its indent.
func (l ConsentLine) String() string {
	var b strings.Builder
	for _, p := range l.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// ConsentPart is a part of a line.
type ConsentPart struct {
	Kind PartKind `json:"kind,omitempty"`
	Text string   `json:"text"`
}

// PartKind says whose words a [ConsentPart] is.
type PartKind string

// The kinds of part.
const (
	PartOurs   PartKind = ""       // words of this library or the host; foreign words in them are quoted
	PartQuote  PartKind = "quote"  // foreign words or a value, in quotation marks or after a "|" in the margin
	PartHost   PartKind = "host"   // a host without its registrable domain
	PartDomain PartKind = "domain" // the registrable domain of a host, in brackets: the part that has an owner
)

// rank returns the place of a class in the order.
func (c ItemClass) rank() int {
	return slices.IndexFunc(itemClasses[:], func(k classTitle) bool { return k.class == c })
}

type classTitle struct {
	class ItemClass
	title string
	noun  string // for a count
}

var itemClasses = [...]classTitle{
	{ItemPayment, "This spends money", "payment"},
	{ItemCode, "This runs a program or changes files", "program"},
	{ItemTrust, "This trusts someone from now on", "lasting trust"},
	{ItemOtherRecipient, "This goes to another site", "for another site"},
	{ItemUnencrypted, "This is sent without encryption", "unencrypted"},
	{ItemSensitive, "This is sensitive", "sensitive"},
	{ItemOrdinary, "What you agree to", "ordinary"},
}

// title returns the title of a class.
func (c ItemClass) title() string {
	if i := c.rank(); i >= 0 {
		return itemClasses[i].title
	}
	return "This is unusual: " + quote(string(c), 40)
}

func (c ItemClass) noun() string {
	if i := c.rank(); i >= 0 {
		return itemClasses[i].noun
	}
	return "unusual"
}

// groupKey is what makes items equal for a reader.
type groupKey struct {
	class              ItemClass
	recipient, shape   string
	optional, required bool
}

func (i *ConsentItem) group() groupKey {
	return groupKey{i.Class, i.Recipient, shapeOf(i.Summary), i.Optional, i.Required}
}

// arrange puts items into groups of equal ones, in the order in which they are
// shown: by class, then rare ones before frequent ones, so that one odd item
// does not drown among hundreds, then as they were.
func arrange(items []ConsentItem) [][]ConsentItem {
	index := make(map[groupKey]int)
	var groups [][]ConsentItem
	for _, item := range items {
		key := item.group()
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], item)
	}
	slices.SortStableFunc(groups, func(a, b []ConsentItem) int {
		return cmp.Or(cmp.Compare(a[0].Class.rank(), b[0].Class.rank()), cmp.Compare(len(a), len(b)))
	})
	return groups
}

// shapeOf returns a sentence without what differs between sentences that say the
// same of different things: quoted words and digits.
func shapeOf(sentence string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range sentence {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
			b.WriteRune(c)
		case !quoted && (c < '0' || c > '9'):
			b.WriteRune(c)
		}
	}
	return b.String()
}

// foreign reports whether an item's recipient belongs to another site than the
// origin of the request.
func (r *ConsentRequest) foreign(item *ConsentItem) bool {
	host, ok := recipientHost(item.Recipient)
	asks, known := hostOf(r.Origin)
	return ok && known && siteOf(host) != siteOf(asks)
}

// Sections lays the request out for a reader. A value of more than [MaxShown]
// bytes is shown in part, unless complete is set; the text says how much is left
// out and that the complete request shows it.
func (r *ConsentRequest) Sections(complete bool) []ConsentSection {
	v := view{request: zero.Or(r), complete: complete}
	groups := arrange(v.request.Items)
	sections := []ConsentSection{v.head(groups)}
	for _, group := range groups {
		last := &sections[len(sections)-1]
		if len(sections) == 1 || last.Class != group[0].Class {
			sections = append(sections, ConsentSection{Title: group[0].Class.title(), Class: group[0].Class})
			last = &sections[len(sections)-1]
		}
		for i := range group {
			last.Items = append(last.Items, group[i].ID)
		}
		last.Lines = append(last.Lines, v.group(group)...)
	}
	if last := &sections[len(sections)-1]; last.Class == ItemOrdinary && len(sections) > 2 {
		last.Title = "What else you agree to"
	}
	return append(sections, ConsentSection{Title: "Details", Details: true, Lines: v.details})
}

// Questions returns a line about each item, for a dialogue that asks about one
// after the other. Order and numbers are those of Sections.
func (r *ConsentRequest) Questions() (lines []ConsentLine) {
	v := view{request: zero.Or(r)}
	for _, item := range slices.Concat(arrange(v.request.Items)...) {
		v.number++
		lines = append(lines, ConsentLine{Item: item.ID, Parts: v.question(&item, item.Summary)})
	}
	return lines
}

// String returns the request as text for a terminal. The first line begins with
// the origin, and the details are at the end.
func (r *ConsentRequest) String() string { return sectionText(r.Sections(false)) }

// Complete is String with all that the request holds of what is approved.
func (r *ConsentRequest) Complete() string { return sectionText(r.Sections(true)) }

// Abridged reports whether String leaves out a part of what is approved. A
// dialogue then has to offer [ConsentRequest.Complete].
func (r *ConsentRequest) Abridged() bool {
	return slices.ContainsFunc(zero.Or(r).Items, func(i ConsentItem) bool {
		return slices.ContainsFunc(i.Values, func(v ConsentValue) bool {
			return max(v.Size, len(v.value())) > MaxShown || !v.Command && len(foldedRows(v.value())) > MaxShownLines
		})
	})
}

// sectionText is the one text form of sections.
func sectionText(sections []ConsentSection) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteByte('\n')
		}
		if s.Title != "" {
			b.WriteString(s.Title + ":\n")
		}
		for _, l := range s.Lines {
			if s.Title != "" {
				b.WriteString("  ")
			}
			b.WriteString(strings.Repeat("    ", l.Indent) + l.String() + "\n")
		}
	}
	return b.String()
}
