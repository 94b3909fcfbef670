package anml

import (
	"iter"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap"
)

// Interact holds the actions of a site (section 8.6). Every executable operation of a
// document is an action.
type Interact struct{ Node }

// Actions yields the usable actions in document order. Check [Action.Executable] before
// offering one.
func (i Interact) Actions() iter.Seq[Action] { return each[Action](i.Node, kAction) }

// Action returns the action of this site with that id. It returns [ErrNoAction] if there is no
// such action, and [ErrAmbiguousAction] if there are several.
func (i Interact) Action(id string) (Action, error) {
	if !i.n.ok() {
		return Action{}, ErrNoAction
	}
	i.d.actionsIndexed.Do(i.d.indexActions)
	a := Action{Node{i.d.actions[scope{i.n.e, id}], i.d}}
	switch {
	case !a.Exists():
		return Action{}, ErrNoAction
	case a.n.flags()&ambiguous != 0:
		return Action{}, ErrAmbiguousAction
	}
	return a, nil
}

// indexActions collects the usable actions of all sites by id.
func (d *Document) indexActions() {
	d.actions = make(map[scope]node)
	for site := range d.Containers() {
		i := site.Interact()
		for a := range i.Actions() {
			d.actions[scope{i.n.e, a.ID()}] = a.n
		}
	}
}

// Action is one operation: an HTTP method on an endpoint (section 8.6.1).
type Action struct{ Node }

// ID returns the id.
func (a Action) ID() string { return a.n.value("id") }

// Description returns the service's description.
func (a Action) Description() string { return a.n.value("description") }

// Method returns the HTTP method in upper case. It returns "" for methods that are not
// executed: CONNECT, TRACE and methods that HTTP does not define.
func (a Action) Method() string {
	m, _ := knownMethod(a.n.value("method"))
	return m
}

// Endpoint returns the URI reference as it is written. It is relative to the final URL of the
// document. The agent's rules about origins apply to it.
func (a Action) Endpoint() string { return a.n.value("endpoint") }

// EncType returns the media type of the request body for direct execution, in lower case and
// without parameters. The default is application/x-www-form-urlencoded.
func (a Action) EncType() string {
	t, _, _ := strings.Cut(a.n.value("enctype"), ";")
	t = strings.ToLower(strings.TrimSpace(t))
	if t != "" {
		return t
	}
	return "application/x-www-form-urlencoded"
}

// Auth returns AuthNone if the attribute is absent, and AuthRequired for an unknown word.
func (a Action) Auth() Auth {
	if at := a.n.lookup("auth"); !at.ok() {
		return AuthNone
	}
	return parse[Auth](authWords[:], a.n.value("auth"))
}

// Idempotent reports whether the document says "true".
func (a Action) Idempotent() bool { return a.boolean("idempotent", false, false) }

// Confirm reports whether the document demands that the user confirms, and whether the
// attribute is present. An invalid value demands it. An absent attribute is not a permission
// to go without confirmation.
func (a Action) Confirm() (confirm, stated bool) {
	_, stated = a.Attr("confirm")
	return a.boolean("confirm", false, true), stated
}

// Params yields the parameters in document order.
func (a Action) Params() iter.Seq[Param] { return each[Param](a.Node, kParam) }

// Response returns the description of the response.
func (a Action) Response() Response { return child[Response](a.Node, kResponse) }

// Executable returns an error that says why the action cannot be executed, or nil. It looks
// only at the document, not at trust, origin or consent.
func (a Action) Executable() error {
	switch {
	case !a.Exists():
		return ErrNoAction
	case a.n.flags()&ambiguous != 0:
		return ErrAmbiguousAction
	case a.Method() == "":
		return &lookleap.Error{Code: codeBadValue, Message: "the action's method is not one that is executed",
			Fix: "use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS"}
	case !usableTarget(a.Endpoint()):
		return &lookleap.Error{Code: CodeTarget, Message: "the action's endpoint is not a usable URI reference",
			Fix: "write a relative reference or an http or https URL without user information"}
	case a.lacksParam():
		return &lookleap.Error{Code: CodeMalformed, Message: "a required parameter of the action is malformed or accepts no value"}
	case !a.d.Executable():
		return ErrUnsupportedVersion
	}
	return nil
}

// lacksParam reports whether a required parameter is malformed or accepts no value.
func (a Action) lacksParam() bool {
	for n := range a.n.all() {
		if n.flags()&malformed != 0 && (Node{n, a.d}).boolean("required", false, true) { // only parameters can be malformed
			return true
		}
	}
	for p := range a.Params() {
		if p.Required() && p.acceptsNothing() {
			return true
		}
	}
	return false
}

// acceptsNothing reports whether no value fits the parameter: it is an enum without options.
func (p Param) acceptsNothing() bool { return p.Type() == TypeEnum && !p.n.child(kOption).ok() }

// knownMethod returns an HTTP method in upper case, "" for one that is not executed. Exact
// reports whether it was written in upper case.
func knownMethod(s string) (method string, exact bool) {
	upper := strings.ToUpper(s)
	switch upper {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions:
		return upper, upper == s
	}
	return "", false
}

// usableTarget reports whether a URI reference may be resolved and requested: it has only
// characters of a URI, no user information, and no scheme other than http and https.
func usableTarget(s string) bool {
	if !isURIReference(s) {
		return false
	}
	rest := s
	if scheme, after, _ := strings.Cut(s, ":"); isURI(s) {
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

// Response describes the response to an action (section 8.6.4).
type Response struct{ Node }

// Description returns the service's description.
func (r Response) Description() string { return r.n.value("description") }

// Type returns the expected media type. The default is the XML serialization of ANML.
func (r Response) Type() string {
	if t := r.n.value("type"); t != "" {
		return t
	}
	return MediaTypeXML
}

// Param is one parameter of an action (section 8.6.2).
type Param struct{ Node }

// Name returns the name.
func (p Param) Name() string { return p.n.value("name") }

// Type returns the type of the value, TypeString for an unknown word.
func (p Param) Type() Type { return ParseType(p.n.value("type")) }

// Required reports whether the action cannot be executed without a value.
func (p Param) Required() bool { return p.boolean("required", false, false) }

// Description returns the service's description.
func (p Param) Description() string { return p.n.value("description") }

// Pattern returns the RE2 pattern that the whole value has to match, "" if there is no pattern.
func (p Param) Pattern() string { return p.n.value("pattern") }

// Default returns the document's default value, and false if it has no default. It is used
// only if the caller provides no value, and only if [Param.Check] accepts it.
func (p Param) Default() (string, bool) { return p.Attr("default") }

// Min returns the least value, for strings the least number of characters, and false if there
// is no such bound.
func (p Param) Min() (string, bool) { return p.Attr("min") }

// Max returns the greatest value, for strings the greatest number of characters, and false if
// there is no such bound.
func (p Param) Max() (string, bool) { return p.Attr("max") }

// Options yields the permitted values of an enum.
func (p Param) Options() iter.Seq[Option] { return each[Option](p.Node, kOption) }

// Option is one permitted value of an enum (section 8.6.3).
type Option struct{ Node }

// Value returns the value.
func (o Option) Value() string { return o.n.value("value") }

// Label returns the text to show: the label, or else the value.
func (o Option) Label() string {
	if l := o.n.value("label"); l != "" {
		return l
	}
	return o.Value()
}
