package anml

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// vectorFile is one file of testdata/vectors.
type vectorFile[T any] struct {
	Draft string `json:"draft"`
	Input string `json:"input"`
	Cases []T    `json:"cases"`
}

// documentVector is a document in both serializations and what follows from it.
type documentVector struct {
	Name        string         `json:"name"`
	Requirement string         `json:"requirement"`
	XML         string         `json:"xml"`
	JSON        string         `json:"json"`
	Errors      []string       `json:"errors"`
	Decisions   decisionVector `json:"decisions"`
}

type decisionVector struct {
	Version    string       `json:"version"`
	Role       string       `json:"role"`
	Executable bool         `json:"executable"`
	TTL        *int64       `json:"ttl"`
	Sites      []siteVector `json:"sites"`
}

type siteVector struct {
	Domain      string         `json:"domain"`
	Title       string         `json:"title"`
	Trust       string         `json:"trust"`
	CurrentStep string         `json:"currentStep"`
	Result      string         `json:"result"`
	Text        string         `json:"text"`
	Usage       string         `json:"usage"`
	Asks        []askVector    `json:"asks"`
	Actions     []actionVector `json:"actions"`
	Informs     []informVector `json:"informs"`
}

type askVector struct {
	Field    string `json:"field"`
	Action   string `json:"action"`
	Usable   bool   `json:"usable"`
	Required bool   `json:"required"`
	Type     string `json:"type"`
	Rule     string `json:"rule"`
}

type actionVector struct {
	ID         string   `json:"id"`
	Method     string   `json:"method"`
	Endpoint   string   `json:"endpoint"`
	EncType    string   `json:"enctype"`
	Auth       string   `json:"auth"`
	Idempotent bool     `json:"idempotent"`
	Confirm    string   `json:"confirm"`
	Executable bool     `json:"executable"`
	Params     []string `json:"params"`
}

type informVector struct {
	Text            string `json:"text"`
	Usage           string `json:"usage"`
	Confidentiality string `json:"confidentiality"`
	Priority        string `json:"priority"`
}

// decide draws the conclusions of section 7.6 from a document.
func decide(d *Document) decisionVector {
	v := decisionVector{Version: d.Version(), Role: d.Role().String(), Executable: d.Executable(), Sites: []siteVector{}}
	if ttl, ok := d.TTL(); ok {
		seconds := int64(ttl.Seconds())
		v.TTL = &seconds
	}
	for c := range d.Containers() {
		s := siteVector{Domain: c.Domain(), Title: c.Head().Title(), Trust: c.Head().Trust(), CurrentStep: c.State().CurrentStep().ID(),
			Text: c.Body().Text(), Asks: []askVector{}, Actions: []actionVector{}, Informs: []informVector{}}
		if c.Status().Exists() {
			s.Result = c.Status().Result().String()
		}
		if c.Body().Exists() {
			s.Usage = c.Body().Usage().String()
		}
		for a := range c.Knowledge().Asks() {
			s.Asks = append(s.Asks, askVector{a.Field(), a.Action(), !a.Dangling(), a.Required(), a.Type().String(), c.Constraints().Rule(a.Field(), nil).Requires.String()})
		}
		for a := range c.Interact().Actions() {
			av := actionVector{a.ID(), a.Method(), a.Endpoint(), a.EncType(), a.Auth().String(), a.Idempotent(), "unstated", a.Executable() == nil, []string{}}
			if confirm, stated := a.Confirm(); stated {
				av.Confirm = map[bool]string{true: "yes", false: "no"}[confirm]
			}
			for p := range a.Params() {
				av.Params = append(av.Params, p.Name()+" "+p.Type().String())
			}
			s.Actions = append(s.Actions, av)
		}
		for i := range c.Knowledge().Informs() {
			s.Informs = append(s.Informs, informVector{i.Text(), i.Usage().String(), i.Confidentiality().String(), i.Priority().String()})
		}
		v.Sites = append(v.Sites, s)
	}
	return v
}

// faults lists the codes of a document's error findings, each once.
func faults(d *Document) []string {
	codes := []string{}
	for _, f := range d.Findings() {
		if f.Severity == lookleap.SeverityError {
			codes = append(codes, string(f.Code))
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// refusalVector is a document that is refused as a whole.
type refusalVector struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	ContentType string `json:"contentType"`
	Role        string `json:"role,omitempty"`
	File        string `json:"file,omitempty"`
	Base64      []byte `json:"base64,omitempty"`
	Repeat      int    `json:"repeat,omitempty"`
	Class       string `json:"class"`
	Code        string `json:"code"`
}

// valueVector is a text that is, or is no, value of a type.
type valueVector struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	Type        string `json:"type"`
	Text        string `json:"text"`
	Valid       bool   `json:"valid"`
}

// vectorClasses names the classes of refusal.
var vectorClasses = map[string]error{
	"not-well-formed": ErrNotWellFormed, "encoding": ErrEncoding, "limit": ErrLimit, "not-anml": ErrNotANML,
	"unsupported-version": ErrUnsupportedVersion, "role-conflict": ErrRoleConflict, "mixed-model": ErrMixedModel,
}

func readVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile[T]
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Draft != Draft || file.Input == "" || len(file.Cases) < 10 {
		t.Fatalf("%s: %d cases for %q", name, len(file.Cases), file.Draft)
	}
	return file.Cases
}

func TestVectorDocuments(t *testing.T) {
	for _, c := range readVectors[documentVector](t, "documents.json") {
		t.Run(c.Requirement+"/accept-vector-"+c.Name, func(t *testing.T) {
			x, err := ParseXML([]byte(c.XML), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			j, err := ParseJSON([]byte(c.JSON), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !Equal(x, j) {
				t.Error("the serializations are not one document")
			}
			for _, d := range []*Document{x, j} {
				if got := decide(d); !reflect.DeepEqual(got, c.Decisions) {
					t.Errorf("%s\ngot  %+v\nwant %+v", d.Format(), got, c.Decisions)
				}
				if got := faults(d); !slices.Equal(got, c.Errors) {
					t.Errorf("%s: errors %v, want %v", d.Format(), got, c.Errors)
				}
			}
			if out, err := MarshalJSON(x, WriteOptions{Verbatim: true}); err != nil || strings.TrimSuffix(string(out), "\n") != c.JSON {
				t.Errorf("written as %s, %v", out, err)
			}
		})
	}
}

func TestVectorRefusals(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range readVectors[refusalVector](t, "refusals.json") {
		seen[c.Class] = true
		t.Run(c.Requirement+"/reject-vector-"+c.Name, func(t *testing.T) {
			data := []byte(c.File)
			if c.Base64 != nil {
				data = c.Base64
			}
			if before, rest, ok := strings.Cut(c.File, "[*]"); ok {
				again, after, _ := strings.Cut(rest, "[/*]")
				data = []byte(before + strings.Repeat(again, c.Repeat) + after)
			}
			var e *lookleap.Error
			d, err := Parse(c.ContentType, data, ReadOptions{Role: parse[Role](roleWords[:], c.Role)})
			if d != nil || !errors.As(err, &e) || string(e.Code) != c.Code || vectorClasses[c.Class] == nil || !errors.Is(err, vectorClasses[c.Class]) {
				t.Errorf("%v, %v", d, err)
			}
		})
	}
	for class := range vectorClasses {
		if !seen[class] {
			t.Errorf("no case of class %s", class)
		}
	}
}

func TestVectorValues(t *testing.T) {
	for _, c := range readVectors[valueVector](t, "values.json") {
		name := "/accept-vector-"
		if !c.Valid {
			name = "/reject-vector-"
		}
		t.Run(c.Requirement+name+c.Name, func(t *testing.T) {
			if err := CheckValue(ParseType(c.Type), c.Text); (err == nil) != c.Valid || ParseType(c.Type).String() != c.Type {
				t.Errorf("%s %q: %v", c.Type, c.Text, err)
			}
		})
	}
}

// TestVectorsAreReadable: other implementations have to read them too.
func TestVectorsAreReadable(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	readme, err := os.ReadFile(filepath.Join("testdata", "vectors", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(data, func(c byte) bool { return c >= 0x80 || c == '\r' }); i >= 0 {
			t.Errorf("%s: octet %d is not plain ASCII", name, i)
		}
		if !strings.Contains(string(readme), "`"+filepath.Base(name)+"`") {
			t.Errorf("the README does not mention %s", name)
		}
	}
	for class := range vectorClasses {
		if !strings.Contains(string(readme), "`"+class+"`") {
			t.Errorf("the README does not mention the class %s", class)
		}
	}
}
