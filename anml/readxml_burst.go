package anml

import "github.com/lookleap/lookleap/internal/strictxml"

// marks takes a burst of plain markup: elements of the default namespace whose
// attributes have no prefix.
func (x *xmlReader) marks(marks []strictxml.Mark, attrs []strictxml.MarkAttr) error {
	t, space := x.t, x.scan.DefaultSpace()
	anml := x.isANML(space)
	roomy, open := x.roomy(len(marks), len(attrs)), x.open
	for i := range marks {
		m := &marks[i]
		top := &open[len(open)-1]
		if m.Flags&strictxml.Blank == 0 || holds[top.kind].textual() || !x.run.empty() {
			x.markText(top, m)
		}
		if m.Flags&strictxml.EndTag != 0 {
			open = open[:len(open)-1]
			continue
		}
		if roomy {
			x.elements++
		} else if err := x.room(int(m.At), int(m.Attrs)); err != nil {
			return err
		}
		k := kUnknown
		if anml {
			k = words.child[top.kind][words.at(t.src, m.At+1, m.Name)]
		}
		if k == kUnknown {
			top.last = x.place(top.row, top.last, Name{space, t.src[m.At+1 : m.Name]}, int(m.At))
		} else {
			top.last = t.add(k, top.row, top.last, m.At)
		}
		if m.Attrs > 0 {
			x.markAttrs(top.last, k, attrs[:m.Attrs])
			attrs = attrs[m.Attrs:]
		}
		if m.Flags&strictxml.SelfClosing == 0 {
			open = append(open, opened{top.last, 0, k})
		}
	}
	x.open = open
	return nil
}

// roomy reports whether a burst of so many tags and attributes is within what room
// asks of each element.
func (x *xmlReader) roomy(tags, attrs int) bool {
	return x.elements+tags <= x.limits.Elements && x.limits.Attrs >= strictxml.BurstAttrs && (x.checked || x.fits(tags, attrs))
}

// holds is the content of each kind of element.
var holds = func() (t [kindCount]content) {
	for k := range t {
		t[k] = schema[k].content
	}
	return t
}()

// textual reports whether text, even white space, has a meaning there.
func (c content) textual() bool { return c == textOnly || c == mixed }

// markText takes the text before a tag.
func (x *xmlReader) markText(top *opened, m *strictxml.Mark) {
	text := span{m.From, m.At}
	if m.Flags == strictxml.EndTag && top.last == 0 && holds[top.kind] == textOnly && x.run.empty() {
		x.t.rows[top.row].text = text
		return
	}
	if m.Flags&strictxml.Escaped != 0 {
		if x.t.side.Len() == 0 {
			x.t.side.Grow(len(x.t.src) / sideShare)
		}
		from := x.t.side.Len()
		strictxml.Unescape(&x.t.side, x.t.src[m.From:m.At], false)
		text = span{^int32(from), int32(x.t.side.Len())}
	}
	if !x.run.empty() {
		x.chars(x.t.string(text), int(m.From))
		text = x.take()
	}
	top.last = x.content(top.row, top.last, text, m.Flags&strictxml.EndTag != 0 && top.last == 0)
}

func (x *xmlReader) markAttrs(i int32, k kind, attrs []strictxml.MarkAttr) {
	t := x.t
	r := &t.rows[i]
	r.cells, r.count = int32(len(t.cells)), uint16(len(attrs))
	specs := &words.attr[k]
	known := len(t.names)
	for j := range attrs {
		a := &attrs[j]
		c := cell{int32(specs[words.at(t.src, a.At, a.At+int32(a.Size))]), span{a.From, a.To}}
		if c.spec < 0 {
			c.spec = ^int32(len(t.names))
			t.names = append(t.names, Name{"", t.src[a.At : a.At+int32(a.Size)]})
		}
		if a.Escaped {
			from := t.side.Len()
			strictxml.Unescape(&t.side, t.src[a.From:a.To], true)
			c.value = span{^int32(from), int32(t.side.Len())}
		}
		t.cells = append(t.cells, c)
	}
	if len(t.names) > known {
		x.foreignAttrs(x.node(i))
	}
}
