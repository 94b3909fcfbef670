package kit

import (
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Decisions are the conclusions of section 7.6 from a document: what an agent does must not depend on
// the serialization.
type Decisions struct {
	Version    string          `json:"version"`
	Role       string          `json:"role"`
	Executable bool            `json:"executable"`
	TTL        *int64          `json:"ttl"`
	Sites      []SiteDecisions `json:"sites"`
}

// SiteDecisions are those about one site.
type SiteDecisions struct {
	Domain      string            `json:"domain"`
	Title       string            `json:"title"`
	Trust       string            `json:"trust"`
	CurrentStep string            `json:"currentStep"`
	Result      string            `json:"result"`
	Text        string            `json:"text"`
	Usage       string            `json:"usage"`
	Asks        []AskDecisions    `json:"asks"`
	Actions     []ActionDecisions `json:"actions"`
	Informs     []InformDecisions `json:"informs"`
}

// AskDecisions are those about an ask.
type AskDecisions struct {
	Field    string `json:"field"`
	Action   string `json:"action"`
	Usable   bool   `json:"usable"`
	Required bool   `json:"required"`
	Type     string `json:"type"`
	Rule     string `json:"rule"`
}

// ActionDecisions are those about an action.
type ActionDecisions struct {
	ID         string   `json:"id"`
	Method     string   `json:"method"`
	Endpoint   string   `json:"endpoint"`
	EncType    string   `json:"enctype"`
	Auth       string   `json:"auth"`
	Idempotent bool     `json:"idempotent"`
	Confirm    string   `json:"confirm"`
	Executable bool     `json:"executable"`
	Params     []string `json:"params"`
}

// InformDecisions are those about an inform.
type InformDecisions struct {
	Text            string `json:"text"`
	Usage           string `json:"usage"`
	Confidentiality string `json:"confidentiality"`
	Priority        string `json:"priority"`
}

// DecisionsOf returns the decisions for a document.
func DecisionsOf(d *anml.Document) Decisions {
	v := Decisions{Version: d.Version(), Role: d.Role().String(), Executable: d.Executable(), Sites: []SiteDecisions{}}
	if ttl, ok := d.TTL(); ok {
		seconds := int64(ttl.Seconds())
		v.TTL = &seconds
	}
	for c := range d.Containers() {
		s := SiteDecisions{Domain: c.Domain(), Title: c.Head().Title(), Trust: c.Head().Trust(), CurrentStep: c.State().CurrentStep().ID(),
			Text: c.Body().Text(), Asks: []AskDecisions{}, Actions: []ActionDecisions{}, Informs: []InformDecisions{}}
		if c.Status().Exists() {
			s.Result = c.Status().Result().String()
		}
		if c.Body().Exists() {
			s.Usage = c.Body().Usage().String()
		}
		for a := range c.Knowledge().Asks() {
			s.Asks = append(s.Asks, AskDecisions{a.Field(), a.Action(), !a.Dangling(), a.Required(), a.Type().String(),
				c.Constraints().Rule(a.Field(), nil).Requires.String()})
		}
		for a := range c.Interact().Actions() {
			av := ActionDecisions{a.ID(), a.Method(), a.Endpoint(), a.EncType(), a.Auth().String(), a.Idempotent(),
				"unstated", a.Executable() == nil, []string{}}
			if confirm, stated := a.Confirm(); stated {
				av.Confirm = map[bool]string{true: "yes", false: "no"}[confirm]
			}
			for p := range a.Params() {
				av.Params = append(av.Params, p.Name()+" "+p.Type().String())
			}
			s.Actions = append(s.Actions, av)
		}
		for i := range c.Knowledge().Informs() {
			s.Informs = append(s.Informs, InformDecisions{i.Text(), i.Usage().String(), i.Confidentiality().String(),
				i.Priority().String()})
		}
		v.Sites = append(v.Sites, s)
	}
	return v
}

// Faults returns the codes of the error findings of a document, each once.
func Faults(d *anml.Document) []string {
	codes := []string{}
	for _, f := range d.Findings() {
		if f.Severity == lookleap.SeverityError {
			codes = append(codes, string(f.Code))
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
