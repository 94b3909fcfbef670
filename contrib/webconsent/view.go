package webconsent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// planView is a request as the page shows it: the sections of the request, with the
// lines of each item together.
type planView struct {
	ID, Digest, Token, Fault string
	Headline                 lineView
	Head, Details            []lineView
	Sections                 []sectionView
	Verdict                  string
	Abridged, Complete       bool
	TickAll                  string // query that ticks every item; "" for a few items
	Versions                 bool   // a refusal can hold for every version
	Reason                   string // what the field for the reason of a refusal asks
	MaxReason                int    // characters of that reason
	Expires                  clockView
}

type sectionView struct {
	Title  string
	Blocks []blockView
}

// blockView is an item, or without an ID a line about several.
type blockView struct {
	ID      string
	Number  int
	Needed  bool
	Checked bool
	Label   lineView
	Lines   []lineView
}

type lineView struct {
	Indent int
	Parts  []partView
}

type partView struct{ Class, Text string }

// fewItems is how many items a user ticks one by one without an offer to tick all.
const fewItems = 5

// headlineOf says who wants what.
func headlineOf(req *lookleap.ConsentRequest) lineView {
	return lineOf(req.Sections(false)[0].Lines[0], false)
}

func viewOf(req *lookleap.ConsentRequest, complete, all bool, ticked []string) planView {
	sections := req.Sections(complete)
	head, body, details := sections[0], sections[1:len(sections)-1], sections[len(sections)-1]
	v := planView{
		ID: req.ID, Digest: req.Digest, Abridged: req.Abridged(), Complete: complete,
		Headline: lineOf(head.Lines[0], false), Head: linesOf(head.Lines[1:]), Details: linesOf(details.Lines), Versions: hasVersions(req),
		Reason: lookleap.ReasonQuestion, MaxReason: lookleap.MaxReason,
	}
	if req.Verdict != nil {
		v.Verdict = req.Verdict.String()
	}
	if len(req.Items) > fewItems {
		v.TickAll = "?tick=all"
		if complete {
			v.TickAll += "&complete=1"
		}
	}
	optional := make(map[string]bool, len(req.Items))
	for _, item := range req.Items {
		optional[item.ID] = item.Optional
	}
	tick := make(map[string]bool, len(ticked))
	for _, id := range ticked {
		tick[id] = true
	}
	number := 0
	for _, s := range body {
		section := sectionView{Title: s.Title}
		for _, group := range byItem(s.Lines) {
			b := blockView{ID: group[0].Item, Lines: linesOf(group)}
			if b.ID != "" {
				number++
				b.Number, b.Needed, b.Checked = number, !optional[b.ID], all || tick[b.ID]
				b.Label, b.Lines = b.Lines[0], b.Lines[1:]
			}
			section.Blocks = append(section.Blocks, b)
		}
		v.Sections = append(v.Sections, section)
	}
	return v
}

// hasVersions reports whether a request is about one version of a skill. Package dvs stores refusals
// of these in its store; see [lookleap.ConsentDecision.AllVersions].
func hasVersions(req *lookleap.ConsentRequest) bool {
	return req.Kind == lookleap.ConsentSkill || req.Kind == lookleap.ConsentTrustRoot
}

// byItem splits lines where the item that they are about changes.
func byItem(lines []lookleap.ConsentLine) (groups [][]lookleap.ConsentLine) {
	for i, l := range lines {
		if i == 0 || l.Item != lines[i-1].Item {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], l)
	}
	return groups
}

// diffLabel ends the label of a value that shows changed lines. Labels are words of the
// library, so a text of others cannot have it.
const diffLabel = "(- before, + now)"

func linesOf(lines []lookleap.ConsentLine) (views []lineView) {
	diff := false
	for _, l := range lines {
		if l.Indent < 2 {
			diff = slices.ContainsFunc(l.Parts, func(p lookleap.ConsentPart) bool {
				return p.Kind == lookleap.PartOurs && strings.Contains(p.Text, diffLabel)
			})
		}
		views = append(views, lineOf(l, diff))
	}
	return views
}

func lineOf(l lookleap.ConsentLine, diff bool) lineView {
	v := lineView{Indent: l.Indent}
	for _, p := range l.Parts {
		if p.Text == "" {
			continue
		}
		class := string(p.Kind)
		if diff && p.Kind == lookleap.PartQuote {
			switch text := strings.TrimLeft(p.Text, "\u2068"); {
			case strings.HasPrefix(text, "| +"):
				class += " added"
			case strings.HasPrefix(text, "| -"):
				class += " removed"
			}
		}
		v.Parts = append(v.Parts, partView{class, p.Text})
	}
	return v
}

// clockView is a time until which something can be done.
type clockView struct {
	At   string // RFC 3339
	Now  string // RFC 3339: the browser's clock may differ
	Text string
	Left string // in words
}

func (p *Prompter) clock(at time.Time) clockView {
	now := p.options.Now()
	return clockView{at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339Nano), at.UTC().Format("2006-01-02 15:04 UTC"),
		leftText(at.Sub(now))}
}

// leftText says how much time is left, in two units at most. The script of the page says
// it in the same words.
func leftText(left time.Duration) string {
	left = max(left, 0)
	hours, minutes, seconds := int(left.Hours()), int(left.Minutes())%60, int(left.Seconds())%60
	switch {
	case hours > 0:
		return fmt.Sprintf("%d h %d min left", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s left", minutes, seconds)
	}
	return fmt.Sprintf("%d s left", seconds)
}
