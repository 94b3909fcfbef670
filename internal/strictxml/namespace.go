package strictxml

// The two namespaces that are bound without a declaration.
const (
	XMLNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// namespaces holds the declarations in force.
type namespaces struct {
	dflt    string
	dfltTop int            // innermost binding of the default namespace in stack, from 1
	stack   []binding      // every declaration of the open elements
	top     map[string]int // prefix to its innermost binding in stack, from 1
}

// binding is one declaration and what it hides.
type binding struct {
	prefix string // empty: the default namespace
	uri    string
	hides  int // the binding of the same prefix outside: its place in stack, from 1; 0 for none
}

func (n *namespaces) bind(prefix, uri string) {
	n.stack = append(n.stack, binding{prefix, uri, n.lookup(prefix)})
	n.set(prefix, len(n.stack))
}

// lookup gives the innermost binding of a prefix: its place in stack, from 1.
func (n *namespaces) lookup(prefix string) int {
	if prefix == "" {
		return n.dfltTop
	}
	return n.top[prefix]
}

func (n *namespaces) set(prefix string, top int) {
	switch {
	case prefix == "":
		if n.dfltTop, n.dflt = top, ""; top > 0 {
			n.dflt = n.stack[top-1].uri
		}
	case top == 0:
		delete(n.top, prefix)
	default:
		if n.top == nil {
			n.top = make(map[string]int)
		}
		n.top[prefix] = top
	}
}

// release forgets the declarations beyond the first bound ones.
func (n *namespaces) release(bound int) {
	for len(n.stack) > bound {
		b := n.stack[len(n.stack)-1]
		n.stack = n.stack[:len(n.stack)-1]
		n.set(b.prefix, b.hides)
	}
}

// declare enters the namespace declarations among the attributes of a tag.
func (s *Scanner) declare(attrs []Attr) error {
	for i := range attrs {
		a := &attrs[i]
		if a.Name.Space == "xmlns" {
			if err := s.declarePrefix(a); err != nil {
				return err
			}
			s.names.bind(a.Name.Local, a.Value)
		} else if a.Name == (Name{"", "xmlns"}) {
			if a.Value == XMLNamespace || a.Value == xmlnsNamespace {
				return bad(a.Offset-s.base, CodeNamespace, "a reserved namespace cannot be the default one")
			}
			s.names.bind("", a.Value)
		}
	}
	return nil
}

func (s *Scanner) declarePrefix(a *Attr) error {
	at, prefix := a.Offset-s.base, a.Name.Local
	switch {
	case prefix == "xmlns":
		return bad(at, CodeNamespace, "the prefix xmlns cannot be declared")
	case a.Value == "":
		return bad(at, CodeNamespace, "the prefix %s is bound to nothing", prefix)
	case a.Value == xmlnsNamespace, (prefix == "xml") != (a.Value == XMLNamespace):
		return bad(at, CodeNamespace, "the prefix %s cannot be bound to %q", prefix, a.Value)
	}
	return nil
}

// expand resolves the prefixed name at src[from:end] of an element or attribute.
func (s *Scanner) expand(from, colon, end int) (Name, error) {
	prefix, local := s.src[from:colon], s.src[colon+1:end]
	uri, err := s.uri(prefix, from)
	return Name{uri, local}, err
}

func (s *Scanner) uri(prefix string, at int) (string, error) {
	if prefix == "xml" {
		return XMLNamespace, nil
	}
	if prefix == "xmlns" {
		return "", bad(at, CodeNamespace, "the prefix xmlns names no element")
	}
	bound := s.names.lookup(prefix)
	if bound == 0 {
		return "", bad(at, CodeNamespace, "the prefix %s is not declared", prefix).fix("declare it with xmlns:" + prefix)
	}
	return s.names.stack[bound-1].uri, nil
}

// resolve expands the attribute names, refuses duplicates and drops the
// namespace declarations, in place.
func (s *Scanner) resolve(attrs []Attr, declares bool) ([]Attr, error) {
	for i := range attrs {
		a := &attrs[i]
		switch {
		case a.Name.Space == "xmlns":
			a.Name.Space = xmlnsNamespace
		case a.Name.Space != "":
			uri, err := s.uri(a.Name.Space, a.Offset-s.base)
			if err != nil {
				return nil, err
			}
			a.Name.Space = uri
		}
	}
	if err := s.unique(attrs); err != nil {
		return nil, err
	}
	if !declares {
		return attrs, nil
	}
	kept := attrs[:0]
	for _, a := range attrs {
		if a.Name.Space != xmlnsNamespace && a.Name != (Name{"", "xmlns"}) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// few is how many names are compared with one another before a map is cheaper.
const few = 12

// unique refuses two attributes with one expanded name.
func (s *Scanner) unique(attrs []Attr) error {
	if len(attrs) <= few {
		for i := 1; i < len(attrs); i++ {
			for j := range i {
				if attrs[i].Name == attrs[j].Name {
					return s.duplicate(&attrs[i])
				}
			}
		}
		return nil
	}
	if s.seen == nil {
		s.seen = make(map[Name]struct{}, len(attrs))
	}
	clear(s.seen)
	for i := range attrs {
		if _, twice := s.seen[attrs[i].Name]; twice {
			return s.duplicate(&attrs[i])
		}
		s.seen[attrs[i].Name] = struct{}{}
	}
	return nil
}

func (s *Scanner) duplicate(a *Attr) error {
	return bad(a.Offset-s.base, CodeDuplicateAttribute, "the attribute %s stands twice in one tag", a.Name.Local).fix("keep one of them")
}
