package anml

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

var xmlSeeds = []string{
	`<anml xmlns="` + Namespace + `"/>`,
	service(`<head><title>T</title><meta name="a" value="b"/></head><constraints><disclosure field="email" requires="none"/></constraints>` + bookAction + `<knowledge><inform ttl="60">x</inform><ask field="email" action="book.flight" purpose="p"/></knowledge><body>a<section id="s">b</section>c<x:y xmlns:x="urn:x" x:z="1"/></body><footer><rights scope="s"/></footer>`),
	service(`<state><context><step>a</step></context><flow><step id="a" next="b"/><step id="b" next="a"/></flow></state>`),
	`<anml xmlns="` + Namespace + `"><site domain="example.com"><body/></site><site domain="example.com"><body/></site></anml>`,
	response(`<answer field="f" value="v&#13;"/><refuse field="g" reason="x"/>`),
}

var jsonSeeds = []string{
	`{"anml":"1.0"}`,
	`{"anml":"1.0","role":"service","constraints":{"disclosure":{"field":"email","requires":"none"},"zzz":1},"knowledge":{"ask":[{"field":"email","action":"a"}],"inform":["x"]},"body":{"content":"ab","link":[{"href":"u"}],"$order":[1,"link",1]},"{urn:x}y":[{"@{urn:x}z":"1"}],"zzz":[{"a":1}]}`,
	`{"anml":1,"ttl":1e400,"lang":null,"head":[{"title":"T"}],"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","confirm":{}}]}}`,
	`{"anml":"1.0","head":{"title":{"content":"ab","$order":[1,1]}},"body":{"content":"abc","link":{"href":"u"},"$order":[1,1,"link",1]}}`,
	`{"version":"2.0","site":[{"domain":"example.com","body":"x"}]}`,
}

// FuzzXML reads anything: a document or a reason, never both, and no panic.
func FuzzXML(f *testing.F) {
	for _, s := range xmlSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d := readable(t, data, XML); d != nil {
			exercise(d)
		}
	})
}

// FuzzJSON reads anything, and holds that what is read is JSON to the judge too.
func FuzzJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d := readable(t, data, JSON); d != nil {
			exercise(d)
			if _, err := strictjson.Parse(data, strictjson.Limits{SkipBOM: true, Depth: 64, Values: len(data) + 1}); err != nil {
				t.Fatalf("%v\n%q", err, data)
			}
		}
	})
}

// FuzzDifferential holds that both serializations of a document agree on every
// decision of section 7.6, whichever it came in.
func FuzzDifferential(f *testing.F) {
	for _, s := range append(xmlSeeds, jsonSeeds...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d := readable(t, data, XML); d != nil && d.tree.src == string(data) { // not UTF-16, which checkRoundTrip does not read
			checkRoundTrip(t, string(data))
		}
		if d := readable(t, data, JSON); d != nil {
			checkImages(t, data, d)
		}
	})
}

// readable reads a document, and checks the reason when it is refused.
func readable(t *testing.T, data []byte, f Format) *Document {
	d, err := parseAs(f, string(data), ReadOptions{})
	if err == nil {
		return d
	}
	var e *lookleap.Error
	if d != nil || !errors.As(err, &e) || e.Code == "" || e.Message == "" {
		t.Fatalf("%v, %v", d, err)
	}
	return nil
}

// checkImages holds that a JSON document keeps its content in JSON, and every
// decision in XML.
func checkImages(t *testing.T, data []byte, d *Document) {
	j, err := MarshalJSON(d, WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseJSON(j, ReadOptions{Limits: Limits{Bytes: 1 << 24}})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, data, j)
	}
	if !Equal(d, again) {
		t.Fatalf("JSON changed:\n%s\n%s", data, j)
	}
	x, err := MarshalXML(d, WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatal(err)
	}
	twin, err := ParseXML(x, ReadOptions{Limits: Limits{Bytes: 1 << 24}})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, data, x)
	}
	if unusable(d.root()) {
		return // a number that no reader may use: XML cannot say so
	}
	if a, b := decisions(d), decisions(twin); a != b {
		t.Fatalf("decisions differ:\n%s\n%s\n%s\n%s", data, x, a, b)
	}
}

// unusable finds attributes whose text is never used.
func unusable(n node) (found bool) {
	n.walk(func(n node) bool {
		for at := range n.attrs() {
			found = found || at.unusable
		}
		return true
	})
	return found
}

// exercise calls what hosts call, for panics.
func exercise(d *Document) {
	_ = d.Text(TextOptions{Bytes: 2000})
	_ = d.Findings()
	_ = decisions(d)
	_ = d.Claims()
	for tool := range d.Tools(StrictSchema) {
		_, _ = tool.Action.ArgsJSON([]byte(`{"a":1}`))
		if args, err := tool.Action.Args(nil); err == nil {
			_, _ = tool.Action.Encode(args)
		}
	}
	for s := range d.Containers() {
		_ = s.State().Flow().Mermaid()
	}
	_, _ = MarshalXML(d, WriteOptions{Role: RoleService, Indent: "\t", Canonical: true})
}
