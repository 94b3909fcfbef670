package htmlreport

import (
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Node is a party in a picture.
type Node int

// The parties, in the order in which a reader meets them.
const (
	User Node = iota
	Agent
	ServingHost
	DNS
	Manifest
	Site
	nodes
)

// place is where a party is drawn.
var place = [nodes]struct {
	title string
	x, y  int
}{
	User: {"User", 10, 20}, Agent: {"Agent", 350, 20}, ServingHost: {"Serving host", 690, 20},
	DNS: {"DNS", 10, 220}, Manifest: {"Manifest", 350, 220}, Site: {"Site", 690, 220},
}

// The size of a box, and of the picture.
const (
	boxWidth, boxHeight = 240, 70
	width, height       = 940, 310
)

// Picture shows who vouches for what.
type Picture struct {
	Names [nodes]string // what each party is called; "" if it takes no part
	Edges []Edge
}

// Edge is what one party does for another one, and what was checked about it.
type Edge struct {
	From, To Node
	Status   lookleap.Status
	Text     string
}

// Box is a party as it is drawn.
type Box struct {
	X, Y, TextX, TitleY, NameY int
	Title, Name                string
}

// Width returns the width of the picture.
func (Picture) Width() int { return width }

// Height returns the height of the picture.
func (Picture) Height() int { return height }

// BoxWidth returns the width of a box.
func (Picture) BoxWidth() int { return boxWidth }

// BoxHeight returns the height of a box.
func (Picture) BoxHeight() int { return boxHeight }

// Boxes returns the parties. A name that is too long for its box is cut; the list below
// the picture has it whole.
func (p Picture) Boxes() (boxes []Box) {
	for n := range nodes {
		at := place[n]
		name := plaintext.Line(p.Names[n])
		if r := []rune(name); len(r) > maxName {
			name = "…" + string(r[len(r)-maxName+1:]) // the end of a host says who owns it
		}
		boxes = append(boxes, Box{at.x, at.y, at.x + boxWidth/2, at.y + 28, at.y + 52, at.title, name})
	}
	return boxes
}

const maxName = 30

// Line is an edge as it is drawn.
type Line struct {
	Number           int
	X1, Y1, X2, Y2   int
	TextX, TextY     int
	Class, Mark, Say string
}

// Lines returns the edges, numbered as in the list below the picture.
func (p Picture) Lines() (lines []Line) {
	for i, e := range p.Edges {
		x1, y1 := anchor(e.From, e.To)
		x2, y2 := anchor(e.To, e.From)
		say := place[e.From].title + " to " + strings.ToLower(place[e.To].title[:1]) + place[e.To].title[1:]
		if e.To == DNS {
			say = place[e.From].title + " to DNS"
		}
		lines = append(lines, Line{i + 1, x1, y1, x2, y2, (x1 + x2) / 2, (y1 + y2) / 2, e.Status.String(), marks[e.Status], say})
	}
	return lines
}

// anchor returns the point on the border of a box that is nearest to another box.
func anchor(from, to Node) (x, y int) {
	a, b := place[from], place[to]
	x, y = a.x+boxWidth/2, a.y+boxHeight/2
	switch {
	case a.y == b.y && a.x < b.x:
		x = a.x + boxWidth
	case a.y == b.y:
		x = a.x
	case a.y < b.y:
		y = a.y + boxHeight
	default:
		y = a.y
	}
	if a.y != b.y && a.x != b.x { // diagonal: from the half that is nearer
		shift := boxWidth / 4
		if b.x < a.x {
			shift = -shift
		}
		x += shift
	}
	return x, y
}

// OfTrust returns the picture of a verdict about who may speak for a site. It goes by the
// sections of docs/trust-procedure.md, which the checks name: A and B are about the claim,
// C is the DNS lookup, D and F are the record, and L, M and Q are manifest and query.
func OfTrust(v *lookleap.Verdict, server, site string) *Picture {
	p := &Picture{Names: [nodes]string{User: "asks", Agent: lookleap.RecipientAgent, ServingHost: server,
		Site: site, DNS: "_anml." + site, Manifest: "of " + site}}
	p.Edges = []Edge{{User, Agent, lookleap.Passed, "asks about " + v.Subject}}
	steps := []struct {
		from, to Node
		sections string
		none     string
	}{
		{Agent, ServingHost, "A", "the claim was not checked"},
		{Agent, DNS, "CE", "the DNS was not asked"},
		{DNS, Manifest, "DF", "no record was read"},
		{Manifest, ServingHost, "LMQ", "neither a manifest nor a query endpoint was read"},
	}
	last := len(v.Checks) - 1
	for _, step := range steps {
		edge := Edge{step.from, step.to, lookleap.Skipped, step.none}
		for i, c := range v.Checks {
			if c.Requirement == "" || !strings.Contains(step.sections, c.Requirement[:1]) || c.Status == lookleap.Skipped {
				continue
			}
			if i == last && edge.Status != lookleap.Skipped {
				continue // the result repeats the row of the check that decided
			}
			edge.Status, edge.Text = c.Status, c.Message
		}
		p.Edges = append(p.Edges, edge)
	}
	result := Edge{ServingHost, Site, lookleap.Failed, v.Summary}
	if v.OK {
		result.Status = lookleap.Passed
	}
	p.Edges = append(p.Edges, result)
	return p
}
