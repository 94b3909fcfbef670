package anml

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// draftExamples are all examples of documents in the draft, in its order: how to
// find each and what its author would be told. A fragment is wrapped into
// the least document that it fits into.
var draftExamples = []struct {
	name   string
	has    string // in the example alone
	format Format
	wrap   string // the document around a fragment, %s
	role   Role   // what the exchange implies
	finds  string // findings as code:path, those of severity info in parentheses
}{
	{"5.3.1-root", "1.0\">\n  ...\n</anml>", XML, "", RoleUnspecified,
		"(xmldecl-missing) stray-text:/anml (role-missing:/anml) no-title:/anml"},
	{"5.4", "meta name=\"type\"", XML, "", RoleUnspecified,
		"(role-missing:/anml) (lint:/anml/interact/action)"},
	{"7.2.1", `"lang": "en"`, JSON, "", RoleUnspecified,
		"(role-missing:/anml) no-title:/anml malformed:/anml/status malformed:/anml/status"},
	{"7.2.3-xml", "XML:  <inform", XML, serviceOf("knowledge"), RoleUnspecified,
		"no-title:/anml"},
	{"7.2.3-json", "JSON (full):", JSON, `{"anml":"1.0","role":"service","knowledge":{"inform":[%s]}}`, RoleUnspecified,
		"no-title:/anml"},
	{"7.2.3-short", "JSON (shorthand", JSON, `{"anml":"1.0","role":"service","knowledge":{"inform":[%s]}}`, RoleUnspecified,
		"no-title:/anml"},
	{"7.2.4-xml", "XML:\n<knowledge>", XML, serviceOf(""), RoleUnspecified,
		"no-title:/anml purpose-missing:/anml/knowledge/ask (field-name:/anml/knowledge/ask) no-action:/anml/knowledge/ask"},
	{"7.2.4-json", "JSON:\n{\n  \"knowledge\"", JSON, `{"anml":"1.0","role":"service",%s}`, RoleUnspecified,
		"no-title:/anml (json-not-array:/anml/knowledge) purpose-missing:/anml/knowledge/ask (field-name:/anml/knowledge/ask) no-action:/anml/knowledge/ask"},
	{"7.2.5-xml", "XML:  <tone", XML, serviceOf("persona"), RoleUnspecified,
		"no-title:/anml"},
	{"7.2.5-json", "JSON: { \"tone\"", JSON, `{"anml":"1.0","role":"service","persona":%s}`, RoleUnspecified,
		"no-title:/anml"},
	{"7.2.5-xml-disclosure", "XML:  <disclosure", XML, serviceOf("constraints"), RoleUnspecified,
		"no-title:/anml dangling-reference:/anml/constraints/disclosure"},
	{"7.2.5-json-disclosure", "JSON: { \"disclosure\"", JSON, `{"anml":"1.0","role":"service","constraints":%s}`, RoleUnspecified,
		"no-title:/anml (json-not-array:/anml/constraints) dangling-reference:/anml/constraints/disclosure"},
	{"7.3", `"Travel Booking Service",`, JSON, "", RoleUnspecified,
		"(role-missing:/anml) (lint:/anml/interact/action) (json-not-array:/anml/knowledge) (json-not-array:/anml/knowledge)"},
	{"11.2", "User declined to share", XML, "", RoleAgentResponse,
		"(role-missing:/anml)"},
	{"11.6-response", "User prefers not to share", XML, "", RoleAgentResponse,
		"(role-missing:/anml)"},
	{"11.6-service", "Found 47 flights", XML, "", RoleUnspecified,
		"(role-missing:/anml) no-title:/anml bad-value:/anml/body/data/item[1]/field[2] (lint:/anml/body/data/item[1]/field[3]) bad-value:/anml/body/data/item[2]/field[2] (lint:/anml/body/data/item[2]/field[3]) (section-order:/anml/state) dangling-reference:/anml/state/context"},
	{"12.5-single", "<trust domain=\"example.com\"/>\n</head>", XML, serviceOf(""), RoleUnspecified, ""},
	{"12.5-multi", "<persona>...</persona>", XML, serviceOf(""), RoleUnspecified,
		"stray-text:/anml/site/persona"},
	{"12.6", `relationship="carries-products"/>` + "\n</head>", XML, serviceOf(""), RoleUnspecified, ""},
	{"12.7", "Example Retailer</title>", XML, "", RoleUnspecified,
		"(xmldecl-missing) (role-missing:/anml) alias:/anml/site[1]/head/site-ref"},
}

// serviceOf returns a service document around a fragment, which stands in a
// section or, without a name, is one.
func serviceOf(section string) string {
	if section == "" {
		return service("%s")
	}
	return service("<" + section + ">%s</" + section + ">")
}

// TestDraftExamples reads the examples of the draft itself, where its text is at
// hand: all are read, and their own faults are findings.
func TestDraftExamples(t *testing.T) {
	blocks := draftBlocks(t)
	used := make([]bool, len(blocks))
	for _, example := range draftExamples {
		t.Run(example.name, func(t *testing.T) {
			text := ""
			for i, b := range blocks {
				if strings.Contains(b, example.has) {
					if text != "" {
						t.Fatal("two blocks of the draft have the mark")
					}
					text, used[i] = b, true
				}
			}
			if text == "" {
				t.Fatal("no block of the draft has the mark")
			}
			d, err := parseAs(example.format, wrapped(text, example.wrap), ReadOptions{Role: example.role})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got := findingsOf(d); got != example.finds {
				t.Errorf("got  %s\nwant %s", got, example.finds)
			}
			if example.format == XML {
				checkRoundTrip(t, wrapped(text, example.wrap))
			}
		})
	}
	for i, b := range blocks {
		if !used[i] && strings.ContainsAny(b, "<{") && regexp.MustCompile(`<anml|"anml"|<head>|XML:|JSON:`).MatchString(b) {
			t.Errorf("an example is left out: %s", b)
		}
	}
}

// TestDraftExampleInJSON: the example of section 7.3 is the one of 5.4, except
// that its author trimmed the texts.
func TestDraftExampleInJSON(t *testing.T) {
	t.Run("ANML-7.3-01/accept-as-5.4", func(t *testing.T) {
		var docs [2]string
		for _, b := range draftBlocks(t) {
			switch {
			case strings.HasPrefix(b, "<?xml") && strings.Contains(b, `meta name="type"`):
				docs[0] = regexp.MustCompile(`>\s+|\s+<`).ReplaceAllStringFunc(b, strings.TrimSpace)
			case strings.HasPrefix(b, "{") && strings.Contains(b, `"Travel Booking Service",`):
				docs[1] = b
			}
		}
		x, err := ParseXML([]byte(docs[0]), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := ParseJSON([]byte(docs[1]), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !Equal(x, j) || decisions(x) != decisions(j) {
			a, _ := MarshalJSON(x, WriteOptions{Verbatim: true})
			b, _ := MarshalJSON(j, WriteOptions{Verbatim: true})
			t.Errorf("the two differ:\n%s%s", a, b)
		}
	})
}

// exampleLabel is what the draft writes above an example in a block of several.
var exampleLabel = regexp.MustCompile(`(?m)^(XML:|JSON:|JSON \(.*\):|<!-- (Single|Multi)-site -->)`)

// wrapped makes a document of an example: ellipses of JSON are empty objects,
// and an object that stands in another loses its braces.
func wrapped(text, wrap string) string {
	text = strings.ReplaceAll(exampleLabel.ReplaceAllString(text, ""), "{ ... }", "{}")
	if wrap == "" {
		return text
	}
	if strings.HasSuffix(wrap, ",%s}") {
		text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{"), "}")
	}
	return strings.Replace(wrap, "%s", text, 1)
}

func findingsOf(d *Document) string {
	var all []string
	for _, f := range d.Findings() {
		s := string(f.Code)
		if f.Path != "" {
			s += ":" + f.Path
		}
		if f.Severity == lookleap.SeverityInfo {
			s = "(" + s + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// draftBlocks takes the verbatim blocks out of the draft. One that shows a thing
// several times is divided.
func draftBlocks(t *testing.T) (blocks []string) {
	t.Helper()
	dir := os.Getenv("LOOKLEAP_SPECS")
	for up, err := os.Getwd(); dir == "" && err == nil && up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			dir = filepath.Join(up, "..", "shared", "specs")
			break
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "anml-01.xml"))
	if err != nil {
		t.Skip("the text of the draft is not here; name its directory in LOOKLEAP_SPECS")
	}
	for _, m := range regexp.MustCompile(`(?s)<(?:artwork|sourcecode)[^>]*><!\[CDATA\[(.*?)\]\]></`).FindAllStringSubmatch(string(text), -1) {
		block := strings.TrimSpace(m[1])
		for _, at := range slices.Backward(exampleLabel.FindAllStringIndex(block, -1)) {
			blocks = append(blocks, strings.TrimSpace(block[at[0]:]))
			block = block[:at[0]]
		}
		if block = strings.TrimSpace(block); block != "" {
			blocks = append(blocks, block)
		}
	}
	if len(blocks) < 20 {
		t.Fatalf("%d blocks", len(blocks))
	}
	return blocks
}
