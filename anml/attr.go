package anml

// attr is one attribute of an element, or none.
type attr struct {
	spec    *attrSpec // nil: there is none
	value   string
	unknown Name // of an attribute that the draft does not know
}

// foreignSpec describes every attribute that the draft does not know.
var foreignSpec = attrSpec{foreign: true}

func (a attr) ok() bool { return a.spec != nil }

// known reports whether the draft knows the attribute on its element.
func (a attr) known() bool { return !a.spec.foreign }

// name is the expanded name.
func (a attr) name() Name {
	if a.known() {
		return Name{"", a.spec.name}
	}
	return a.unknown
}

// attr gives the text and meaning of a cell.
func (t *tree) attr(c cell) attr {
	if c.spec < 0 {
		return attr{&foreignSpec, t.string(c.value), t.names[^c.spec]}
	}
	return attr{spec: &specs[c.spec], value: t.string(c.value)}
}

// cells gives the attributes as they are stored.
func (n node) cells() []cell {
	if !n.ok() {
		return nil
	}
	r := n.row()
	return n.t.cells[r.cells : r.cells+int32(r.count)]
}

// attrs gives the attributes in document order.
func (n node) attrs() []attr {
	cells := n.cells()
	out := make([]attr, len(cells))
	for i, c := range cells {
		out[i] = n.t.attr(c)
	}
	return out
}

// lookup finds an attribute of the draft by name.
func (n node) lookup(name string) attr {
	for _, c := range n.cells() {
		if c.spec >= 0 && specs[c.spec].name == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}

// value gives an attribute's text, "" when it is absent.
func (n node) value(name string) string { return n.lookup(name).value }

// foreign finds an attribute that the draft does not know.
func (n node) foreign(name Name) attr {
	for _, c := range n.cells() {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}

// drop removes an attribute that the draft does not know.
func (n node) drop(name Name) {
	cells := n.cells()
	for i, c := range cells {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			copy(cells[i:], cells[i+1:])
			n.row().count--
			return
		}
	}
}

// adopt gives an attribute that the draft does not know one of its meanings.
func (n node) adopt(name Name, spec int32) {
	cells := n.cells()
	for i, c := range cells {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			cells[i].spec = spec
		}
	}
}
