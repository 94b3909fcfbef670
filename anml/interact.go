package anml

import (
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap/internal/coded"
)

// Why an action cannot be meant or executed, for errors.Is.
var (
	ErrNoAction        = coded.New("unknown-action", "anml: no action has this id")
	ErrAmbiguousAction = coded.New("ambiguous-action", "anml: several actions have this id")
)

// Interact holds the actions of a site (section 8.6). Every executable
// operation is one of them; nothing else in a document is.
type Interact struct{ Node }

// Actions yields the usable actions in document order. Check Executable before
// offering one.
func (i Interact) Actions() iter.Seq[Action] { return each[Action](i.Node, kAction) }

// Action finds the action that a reference means: exactly one of this site.
func (i Interact) Action(id string) (Action, error) {
	if !i.n.ok() {
		return Action{}, ErrNoAction
	}
	i.d.acting.Do(i.d.indexActions)
	a := Action{Node{node{i.n.t, i.d.actions[scope{i.n.i, id}]}, i.d}}
	switch {
	case !a.Exists():
		return Action{}, ErrNoAction
	case a.n.flags()&ambiguous != 0:
		return Action{}, ErrAmbiguousAction
	}
	return a, nil
}

// indexActions collects the ids of the actions that may be used, of all sites.
func (d *Document) indexActions() {
	d.actions = make(map[scope]int32)
	for site := range d.Containers() {
		i := site.Interact()
		for a := range i.Actions() {
			d.actions[scope{i.n.i, a.ID()}] = a.n.i
		}
	}
}

// Action is one operation: an HTTP method on an endpoint (section 8.6.1).
type Action struct{ Node }

func (a Action) ID() string          { return a.n.value("id") }
func (a Action) Description() string { return a.n.value("description") }

// Method is the HTTP method in upper case, or "" for one that is not executed:
// CONNECT, TRACE and anything that HTTP does not define.
func (a Action) Method() string {
	m, _ := knownMethod(a.n.value("method"))
	return m
}

// Endpoint is the URI reference as written. It is resolved on the final URL of
// the document, and subject to the agent's rules on origins.
func (a Action) Endpoint() string { return a.n.value("endpoint") }

// EncType is the media type for direct execution, without its parameters.
func (a Action) EncType() string {
	t, _, _ := strings.Cut(a.n.value("enctype"), ";")
	if t = strings.ToLower(strings.TrimSpace(t)); t != "" {
		return t
	}
	return "application/x-www-form-urlencoded"
}

// Auth is none when absent and required when unknown.
func (a Action) Auth() Auth {
	if at := a.n.lookup("auth"); !at.ok() {
		return AuthNone
	}
	return parse[Auth](authWords[:], a.n.value("auth"))
}

// Idempotent is false unless the document says "true".
func (a Action) Idempotent() bool { return a.boolean("idempotent", false, false) }

// Confirm reports whether the document demands confirmation, and whether it says
// anything. An invalid value demands it. Saying nothing is no permission.
func (a Action) Confirm() (confirm, stated bool) {
	_, stated = a.Attr("confirm")
	return a.boolean("confirm", false, true), stated
}

// Params yields the parameters in document order.
func (a Action) Params() iter.Seq[Param] { return each[Param](a.Node, kParam) }

// Response describes the answer; its type is ANML when absent.
func (a Action) Response() Response { return child[Response](a.Node, kResponse) }

// Executable says why the action cannot be executed, or nil. It looks at the
// action alone, not at trust, origin or consent.
func (a Action) Executable() error {
	switch {
	case !a.Exists():
		return ErrNoAction
	case a.n.flags()&ambiguous != 0:
		return ErrAmbiguousAction
	case a.Method() == "":
		return errors.New("anml: the action's method is not one that is executed")
	case !usableTarget(a.Endpoint()):
		return errors.New("anml: the action's endpoint is no URI reference that is executed")
	case a.lostParam():
		return errors.New("anml: a required parameter of the action is malformed or accepts no value")
	case !a.d.Executable():
		return ErrUnsupportedVersion
	}
	return nil
}

// lostParam reports whether a required parameter was dropped or accepts no value.
func (a Action) lostParam() bool {
	for n := a.n.first(); n.ok(); n = n.next() {
		if n.kind() == kParam && !n.usable() && (Node{n, a.d}).boolean("required", false, true) && n.flags()&malformed != 0 {
			return true
		}
	}
	for p := range a.Params() {
		if p.Required() && p.unfillable() {
			return true
		}
	}
	return false
}

// unfillable reports whether no value fits the parameter: an enum without
// options.
func (p Param) unfillable() bool {
	if p.Type() != TypeEnum {
		return false
	}
	for range p.Options() {
		return false
	}
	return true
}

// knownMethod reads a method; exact says that it was written in upper case.
func knownMethod(s string) (method string, exact bool) {
	upper := strings.ToUpper(s)
	switch upper {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
		return upper, upper == s
	}
	return "", false
}

// usableTarget reports whether a URI reference may be resolved and requested:
// the characters of a URI, no user information, no scheme but http and https.
func usableTarget(s string) bool {
	if s == "" || !isURIReference(s) {
		return false
	}
	rest := s
	if scheme, after, found := strings.Cut(s, ":"); found && isURI(s) {
		switch strings.ToLower(scheme) {
		case "http", "https":
			rest = after
			if !strings.HasPrefix(rest, "//") {
				return false
			}
		default:
			return false
		}
	} else if i := strings.IndexAny(s, ":/?#"); i >= 0 && s[i] == ':' {
		return false // neither a scheme nor a path segment that could start a reference
	}
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority = authority[:i]
		}
		if authority == "" || strings.Contains(authority, "@") {
			return false
		}
	}
	return true
}

// Response is section 8.6.4.
type Response struct{ Node }

func (r Response) Description() string { return r.n.value("description") }

// Type is the expected media type.
func (r Response) Type() string {
	if t := r.n.value("type"); t != "" {
		return t
	}
	return MediaTypeXML
}

// Param is one parameter (section 8.6.2).
type Param struct{ Node }

func (p Param) Name() string        { return p.n.value("name") }
func (p Param) Type() Type          { return ParseType(p.n.value("type")) }
func (p Param) Required() bool      { return p.boolean("required", false, false) }
func (p Param) Description() string { return p.n.value("description") }
func (p Param) Pattern() string     { return p.n.value("pattern") }

// Default is document data, never the user's: it is used only when the host
// gives no value.
func (p Param) Default() (string, bool) { return p.Attr("default") }
func (p Param) Min() (string, bool)     { return p.Attr("min") }
func (p Param) Max() (string, bool)     { return p.Attr("max") }

// Options yields the permitted values of an enum.
func (p Param) Options() iter.Seq[Option] { return each[Option](p.Node, kOption) }

// Option is one permitted value (section 8.6.3).
type Option struct{ Node }

func (o Option) Value() string { return o.n.value("value") }

// Label is for display, and the value when absent.
func (o Option) Label() string {
	if l := o.n.value("label"); l != "" {
		return l
	}
	return o.Value()
}
