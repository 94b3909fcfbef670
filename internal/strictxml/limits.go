package strictxml

// Limits bounds what a document may make the scanner do. A zero field takes
// the default beside it; there is no way to switch a limit off. Lengths are in
// octets of the document as UTF-8.
type Limits struct {
	Bytes   int // whole document, 1 MiB; set it for streams
	Depth   int // nested elements, 32; the root is level 1
	Attrs   int // attributes of one element, namespace declarations included, 64
	Name    int // one name, 256
	Value   int // one attribute value, 64 KiB
	Text    int // one run of text, one CDATA section, 1 MiB
	Token   int // any other token: a tag, a comment, a processing instruction, 1 MiB
	Doctype int // the document type declaration, 64 KiB
	Tokens  int // tokens of all kinds, 1,000,000
}

func (l Limits) withDefaults() Limits {
	set := func(field *int, def int) {
		if *field <= 0 {
			*field = def
		}
	}
	set(&l.Bytes, 1<<20)
	set(&l.Depth, 32)
	set(&l.Attrs, 64)
	set(&l.Name, 256)
	set(&l.Value, 64<<10)
	set(&l.Text, 1<<20)
	set(&l.Token, 1<<20)
	set(&l.Doctype, 64<<10)
	set(&l.Tokens, 1_000_000)
	return l
}
