package adapter

import (
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// Tool is an action in the form in which an adapter offers it.
type Tool struct {
	agent.Tool
	Session    *agent.Session
	Definition agent.Definition // for the vendor
}

// Tools returns the actions of pages of one session as tools for a vendor. Two actions with the same
// name are an error in any letter case, because frameworks let the last one win.
func Tools(v agent.Vendor, pages ...*agent.Page) ([]Tool, error) {
	var out []Tool
	seen := make(map[string]bool)
	for _, page := range pages {
		for _, t := range page.Tools() {
			d := t.Definition(v)
			if name := strings.ToLower(d.Name); !seen[name] {
				seen[name] = true
			} else {
				return nil, &lookleap.Error{Code: lookleap.CodeUsage, Subject: d.Name, Message: "two actions have the same tool name",
					Fix: "offer the actions of one page of a site at a time"}
			}
			out = append(out, Tool{t, page.Session(), d})
		}
	}
	return out, nil
}
