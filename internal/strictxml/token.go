package strictxml

// Kind says what a [Token] is.
type Kind uint8

const (
	StartElement Kind = iota + 1 // Name, Attrs, SelfClosing
	EndElement                   // Name; follows a self-closing start too
	Text                         // Text, references resolved, line ends normalised
	CData                        // Text of one CDATA section
	Comment                      // Text between the delimiters
	ProcInst                     // Name.Local is the target, Text the rest
	Doctype                      // nothing but its place
)

var kindNames = [...]string{"nothing", "start tag", "end tag", "text", "CDATA section", "comment", "processing instruction", "document type declaration"}

// String names the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[0]
}

// Token is one piece of a document. The token and its Attrs are valid until the
// next call of [Scanner.Next]; its strings stay valid.
type Token struct {
	Kind        Kind
	Name        Name
	Attrs       []Attr // in document order, without namespace declarations
	Text        string
	Blank       bool // Text of nothing but literal white space
	SelfClosing bool // the start tag ended with "/>"
	Offset      int  // octets of the document (as UTF-8, byte order mark included) before the token
}

// Name is an expanded name: namespace URI, empty for none, and local part.
type Name struct {
	Space, Local string
}

// Attr is one attribute with its value normalised as XML says for CDATA.
type Attr struct {
	Name   Name
	Value  string
	Quote  byte // '"' or '\''
	Offset int  // octets of the document before the name
	Start  int  // octets of the document before the value
}

// Prolog is what the document said about itself before its first tag. It is
// complete once [Scanner.Next] was called.
type Prolog struct {
	Declared   bool   // an XML declaration is there
	Encoding   string // as declared, or empty
	Standalone string // "yes", "no" or empty
	BOM        bool   // a byte order mark is there
	UTF16      bool   // the octets are UTF-16
	Overruled  bool   // the transport's charset differs from the declared encoding and won
}
