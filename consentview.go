package lookleap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// ConsentSection is a part of a [ConsentRequest] as a user reads it. The first
// section says who asks for what. Each further one holds the items of one
// class, the most unusual class first. The last one has no items: it says until
// when the user can decide.
type ConsentSection struct {
	Title string        `json:"title,omitempty"` // our words
	Class ItemClass     `json:"class,omitempty"` // of all items in the section
	Items []string      `json:"items,omitempty"` // the ids of the items in the section, in order
	Lines []ConsentLine `json:"lines"`
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
	{ItemPayment, "Spends money", "payment"},
	{ItemCode, "Runs a program or changes files", "program"},
	{ItemTrust, "Trusts someone from now on", "lasting trust"},
	{ItemOtherRecipient, "Goes to another site than the one that asks", "for another site"},
	{ItemUnencrypted, "Is sent without encryption", "unencrypted"},
	{ItemSensitive, "Is sensitive", "sensitive"},
	{ItemOrdinary, "Asks you to agree to", "ordinary"},
}

// title returns the title of a class.
func (c ItemClass) title() string {
	if i := c.rank(); i >= 0 {
		return itemClasses[i].title
	}
	return "Is unusual: " + quote(string(c), 40)
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
	return append(sections, v.foot())
}

// String returns the request as text for a terminal. The origin stands alone in
// the first line.
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

// view is one layout of a request.
type view struct {
	request  *ConsentRequest
	complete bool
	number   int // of items so far
}

func ours(format string, args ...any) ConsentPart {
	return ConsentPart{Text: wholeLine(fmt.Sprintf(format, args...))}
}

func quoted(text string) ConsentPart {
	return ConsentPart{Kind: PartQuote, Text: plaintext.Isolate(quote(text, max(1, 10*len(text))))}
}

func lineOf(parts ...ConsentPart) ConsentLine { return ConsentLine{Parts: parts} }

// head says who asks for what, and how much there is to decide.
func (v *view) head(groups [][]ConsentItem) ConsentSection {
	r := v.request
	origin := []ConsentPart{ours("From:       ")}
	switch {
	case isOrigin(r.Origin):
		origin = append(origin, partyParts(r.Origin)...)
	case r.Origin == RecipientAgent:
		origin = append(origin, ours("%s", RecipientAgent))
	default:
		origin = append(origin, quoted(r.Origin), ours(" (not an origin)"))
	}
	lines := []ConsentLine{lineOf(origin...)}
	if r.TrustRoot != "" {
		lines = append(lines, lineOf(append([]ConsentPart{ours("Trust root: ")}, partyParts(r.TrustRoot)...)...))
	}
	lines = append(lines, lineOf(ours("Asks to:    %s", r.Summary)))
	return ConsentSection{Lines: append(lines, lineOf(ours("In all:     %s", counts(groups))))}
}

// counts says how many items there are, and of which classes.
func counts(groups [][]ConsentItem) string {
	total := 0
	var parts []string
	for i := 0; i < len(groups); {
		class, n := groups[i][0].Class, 0
		for ; i < len(groups) && groups[i][0].Class == class; i++ {
			n += len(groups[i])
		}
		total += n
		parts = append(parts, fmt.Sprintf("%d %s", n, class.noun()))
	}
	text := fmt.Sprintf("%d things to agree to", total)
	if total == 1 {
		text = "1 thing to agree to"
	}
	if total > 0 && groups[0][0].Class != ItemOrdinary { // ordinary items come last
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// group shows equal items. What they share is said once if there are several.
func (v *view) group(items []ConsentItem) []ConsentLine {
	var lines []ConsentLine
	alone := len(items) == 1
	if !alone {
		parts := append([]ConsentPart{ours("%d of one kind, each %s; %s: ", len(items), items[0].choice(), items[0].verb())},
			v.recipient(&items[0])...)
		lines = append(lines, lineOf(parts...))
	}
	for i := range items {
		lines = append(lines, v.item(&items[i], alone)...)
	}
	return lines
}

// choice says whether the user may leave the item out.
func (i *ConsentItem) choice() string {
	switch {
	case !i.Optional:
		return "needed: without it nothing is done"
	case i.Required && !strings.Contains(shapeOf(i.Summary), "calls required"): // which no quoted word hides
		return "optional, although the service calls it required"
	}
	return "optional"
}

func (i *ConsentItem) verb() string {
	if i.Recipient == RecipientAgent {
		return "used by"
	}
	return "goes to"
}

// item shows one item.
func (v *view) item(item *ConsentItem, alone bool) []ConsentLine {
	v.number++
	first := []ConsentPart{ours("%d. [%s] %s", v.number, word(item.ID), item.Summary)}
	if alone {
		first = append(first, ours(" (%s)", item.choice()))
	}
	lines := []ConsentLine{lineOf(first...)}
	more := func(parts ...ConsentPart) {
		lines = append(lines, ConsentLine{Indent: 1, Parts: parts})
	}
	if alone {
		more(append([]ConsentPart{ours("%s: ", item.verb())}, v.recipient(item)...)...)
	}
	for i := range item.Values {
		if value := &item.Values[i]; !item.summarizes(value) {
			lines = append(lines, v.value(value)...)
		}
	}
	for _, said := range item.Remote {
		if item.repeats(said) {
			continue
		}
		more(append(sourceParts(said.Source), ours(" says, as %s: ", said.Label),
			ConsentPart{Kind: PartQuote, Text: plaintext.Isolate(quote(said.Text, 400))})...)
	}
	if len(item.Values) == 0 {
		more(ours("digest:  %s", shortDigest(item.Digest)))
	}
	for i := range lines {
		lines[i].Item = item.ID
	}
	return lines
}

// summarizes reports whether the summary shows a value whole. It never does for a part of a command:
// free text may name the same words.
func (i *ConsentItem) summarizes(value *ConsentValue) bool {
	return !value.Command && value.Name == "" && value.Source == "" &&
		slices.Contains(quotations(i.Summary), quote(value.value(), MaxShown))
}

// quotations returns the quotations in a sentence, with their quotation marks.
func quotations(sentence string) (all []string) {
	start, escaped := -1, false
	for i, c := range sentence {
		switch {
		case escaped:
			escaped = false
		case start >= 0 && c == '\\':
			escaped = true
		case c == '"' && start < 0:
			start = i
		case c == '"':
			all = append(all, sentence[start:i+1])
			start = -1
		}
	}
	return all
}

// repeats reports whether a remote text is among the values that are shown. A value that is not
// UTF-8 has no Text, and repeats nothing.
func (i *ConsentItem) repeats(said RemoteText) bool {
	return slices.ContainsFunc(i.Values, func(v ConsentValue) bool {
		return said.Text == v.Text || v.Name != "" && said.Text == v.Name+" = "+v.Text ||
			v.Text != "" && v.Size > len(v.Text) && strings.HasPrefix(said.Text, v.Text)
	})
}

// recipient names who gets an item, and says so if that is another site.
func (v *view) recipient(item *ConsentItem) []ConsentPart {
	if item.Recipient == RecipientAgent {
		return []ConsentPart{ours("%s", RecipientAgent)}
	}
	parts := partyParts(item.Recipient)
	if v.request.foreign(item) {
		host, _ := hostOf(v.request.Origin)
		parts = append(parts, ours(", which does not belong to "))
		parts = append(parts, hostParts(siteOf(host), "")...)
	}
	return parts
}

// foot says until when the user can decide.
func (v *view) foot() ConsentSection {
	r := v.request
	return ConsentSection{Lines: []ConsentLine{
		lineOf(ours("Decide by:  %s", r.Expires.UTC().Format(time.DateTime+" UTC"))),
		lineOf(ours("Digest:     %s", shortDigest(r.Digest))),
	}}
}

// partyParts shows a host, an origin or a URL with the registrable domain
// marked, and any other text as a quotation.
func partyParts(s string) []ConsentPart {
	u, err := partyRules.Parse(s)
	switch {
	case err == nil && u.Origin() == s:
		return hostParts(u.Host(), s[strings.Index(s, "://")+len("://")+len(u.Host()):])
	case err == nil && u.String() == s:
		return append(hostParts(u.Host(), s[strings.Index(s, "://")+len("://")+len(u.Host()):len(u.Origin())]),
			ours(" "), quoted(s[len(u.Origin()):]))
	}
	if host, ok := hostOf(s); ok {
		return hostParts(host, "")
	}
	return []ConsentPart{quoted(s)}
}

// sourceParts names who said or chose something.
func sourceParts(source string) []ConsentPart {
	if source == RecipientAgent {
		return []ConsentPart{ours("%s", source)}
	}
	return partyParts(source)
}

// hostParts shows a canonical host and what stands behind it.
func hostParts(host, port string) []ConsentPart {
	sub, site, note := plaintext.HostParts(host)
	return []ConsentPart{{Kind: PartHost, Text: sub}, {Kind: PartDomain, Text: site}, ours("%s%s", port, note)}
}

// partyRules are those of the hosts, origins and URLs that a prompt names.
var partyRules = domain.Rules{Schemes: []string{"https", "http", "ai"}, AllowIP: true, AllowSpecial: true}
