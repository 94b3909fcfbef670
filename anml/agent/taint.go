package agent

import "github.com/lookleap/lookleap/anml"

// source is a service that a value came from, as far as the session remembers.
type source struct {
	Domain          string               // serving domain that told it
	Confidentiality anml.Confidentiality // the strictest under which it was told
	Deleted         bool                 // the user had the context deleted: the value goes to nobody
}

// taint lists the services that told a value, other than the serving domain to;
// a value of deleted context is listed whoever told it (sections 14.1 and 14.2).
func (c *Context) taint(to string, value string) []source { return nil }
