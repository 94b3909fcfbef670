package lookleap

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// view is one layout of a request.
type view struct {
	request  *ConsentRequest
	complete bool
	number   int // of items so far
	details  []ConsentLine
}

func ours(format string, args ...any) ConsentPart {
	return ConsentPart{Text: wholeLine(fmt.Sprintf(format, args...))}
}

func quoted(text string) ConsentPart {
	return ConsentPart{Kind: PartQuote, Text: plaintext.Isolate(quote(text, max(1, 10*len(text))))}
}

func lineOf(parts ...ConsentPart) ConsentLine { return ConsentLine{Parts: parts} }

// head says who wants what, under what trust, until when, and how much there is to decide.
func (v *view) head(groups [][]ConsentItem) ConsentSection {
	r := v.request
	sentences := clauses(r.Summary)
	var headline []ConsentPart
	switch {
	case isOrigin(r.Origin):
		headline = append(partyParts(r.Origin), ours(" wants this agent to "))
	case r.Origin == RecipientAgent:
		headline = []ConsentPart{ours("%s wants to ", capital(RecipientAgent))}
	default:
		headline = []ConsentPart{quoted(r.Origin), ours(" (not an origin) wants this agent to ")}
	}
	lines := []ConsentLine{lineOf(append(headline, ours("%s", sentences[0]))...)}
	if r.TrustRoot != "" {
		root := append([]ConsentPart{ours("The trust root is ")}, partyParts(r.TrustRoot)...)
		lines = append(lines, lineOf(append(root, ours("."))...))
	}
	for _, s := range sentences[1:] {
		lines = append(lines, lineOf(ours("%s.", capital(s))))
	}
	end := r.Expires.UTC().Format(time.DateTime + " UTC")
	lines = append(lines, lineOf(ours("Without your yes by %s, nothing is done.", end)))
	if len(r.Items) > 1 {
		lines = append(lines, lineOf(ours("%s.", counts(groups))))
	}
	v.details = append(v.details, lineOf(ours("this request, %s", shortDigest(r.Digest))))
	return ConsentSection{Lines: lines}
}

// counts says how many items there are, how many can be left out, and which are unusual.
func counts(groups [][]ConsentItem) string {
	total, optional := 0, 0
	var unusual []string
	for i := 0; i < len(groups); {
		class, n := groups[i][0].Class, 0
		for ; i < len(groups) && groups[i][0].Class == class; i++ {
			n += len(groups[i])
			if groups[i][0].Optional {
				optional += len(groups[i])
			}
		}
		total += n
		if class != ItemOrdinary {
			unusual = append(unusual, fmt.Sprintf("%d %s", n, class.noun()))
		}
	}
	text := fmt.Sprintf("%d things to agree to: ", total)
	switch optional {
	case 0:
		text += "all are needed"
	case total:
		text += "all are optional"
	default:
		text += fmt.Sprintf("%d needed, %d optional", total-optional, optional)
	}
	if unusual != nil {
		text += ". Unusual: " + strings.Join(unusual, ", ")
	}
	return text
}

// clauses splits a sentence at its semicolons. A semicolon in a quotation stays.
func clauses(sentence string) []string {
	all := []string{""}
	rest := sentence
	for _, q := range quotations(sentence) {
		before, after, _ := strings.Cut(rest, q)
		all = extend(all, before)
		all[len(all)-1] += q
		rest = after
	}
	return extend(all, rest)
}

// extend appends a text without quotations to the last clause.
func extend(all []string, text string) []string {
	parts := strings.Split(text, "; ")
	all[len(all)-1] += parts[0]
	return append(all, parts[1:]...)
}

// capital returns a sentence with its first letter in upper case, unless its first word is a host or
// another name.
func capital(sentence string) string {
	word, _, _ := strings.Cut(sentence, " ")
	if word = strings.TrimSuffix(word, ":"); word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return sentence
	}
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}

// group shows equal items. What they share is said once if there are several.
func (v *view) group(items []ConsentItem) []ConsentLine {
	var lines []ConsentLine
	alone := len(items) == 1
	if !alone {
		shared := ours("The next %d are alike: each is %s, and %s ", len(items), items[0].choice(), items[0].verb())
		lines = append(lines, lineOf(append([]ConsentPart{shared}, v.recipient(&items[0])...)...))
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
		return "needed"
	case i.Required && !strings.Contains(shapeOf(i.Summary), "calls required"): // which no quoted word hides
		return "optional, although the service calls it required"
	}
	return "optional"
}

func (i *ConsentItem) verb() string {
	switch {
	case i.Recipient == RecipientAgent:
		return "is done by"
	case i.Class == ItemCode:
		return "runs in"
	}
	return "goes to"
}

// question is what the user says yes or no to. That the only item is needed is in the head.
func (v *view) question(item *ConsentItem, text string) []ConsentPart {
	parts := []ConsentPart{ours("%d. %s", v.number, text)}
	if item.Optional || len(v.request.Items) != 1 {
		parts = append(parts, ours(" (%s)", item.choice()))
	}
	return parts
}

// item shows one item, and puts what a machine needs into the details.
func (v *view) item(item *ConsentItem, alone bool) []ConsentLine {
	v.number++
	id := quote(item.ID, max(1, 10*len(item.ID)))
	v.details = append(v.details, lineOf(ours("%d. %s, %s", v.number, id, shortDigest(item.Digest))))
	var lines []ConsentLine
	more := func(parts ...ConsentPart) {
		lines = append(lines, ConsentLine{Indent: 1, Parts: parts})
	}
	if alone {
		sentences := clauses(item.Summary)
		lines = append(lines, lineOf(v.question(item, sentences[0])...))
		more(append([]ConsentPart{ours("It %s ", item.verb())}, v.recipient(item)...)...)
		for _, s := range sentences[1:] {
			more(ours("%s.", capital(s)))
		}
	} else {
		lines = append(lines, lineOf(ours("%d. %s", v.number, item.Summary)))
	}
	for i := range item.Values {
		switch value := &item.Values[i]; {
		case item.summarizes(value):
		case value.Detail && !value.Command:
			v.details = append(v.details, v.value(value)...)
		default:
			lines = append(lines, v.value(value)...)
		}
	}
	for _, said := range item.Remote {
		if item.repeats(said) {
			continue
		}
		more(slices.Concat([]ConsentPart{ours("%s, as ", said.Label)}, sourceParts(said.Source),
			[]ConsentPart{ours(" says: "), {Kind: PartQuote, Text: plaintext.Isolate(quote(said.Text, 400))}})...)
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
		return []ConsentPart{ours("%s.", RecipientAgent)}
	}
	parts := partyParts(item.Recipient)
	if v.request.foreign(item) {
		host, _ := hostOf(v.request.Origin)
		parts = append(parts, ours(", which does not belong to "))
		parts = append(parts, hostParts(siteOf(host), "")...)
	}
	return append(parts, ours("."))
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
