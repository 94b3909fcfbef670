package anml

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/beevik/etree"
	jsonv2 "github.com/go-json-experiment/json"
)

// benchDocument makes a result list of about size bytes.
func benchDocument(size int) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<anml xmlns="` + Namespace + `" version="1.0" role="service" ttl="3600">` + "\n  <head><title>Flights</title></head>\n  <body>\n    <data id=\"d\">\n")
	for i := 0; b.Len() < size-60; i++ {
		fmt.Fprintf(&b, "      <item id=\"f%d\">\n        <field name=\"airline\" type=\"string\">Example Air &amp; Sons %d</field>\n        <field name=\"departure\" type=\"datetime\">2026-05-01T08:00:00Z</field>\n        <field name=\"seats\" type=\"number\">%d</field>\n      </item>\n", i, i, 300+i%100)
	}
	b.WriteString("    </data>\n  </body>\n</anml>\n")
	return []byte(b.String())
}

// Types for the peers that hold what a [Document] holds of these elements: their
// attributes, and whatever the draft does not know, kept for the next writer.
type (
	peerExtra struct {
		Attrs    []xml.Attr    `xml:",any,attr" json:"-"`
		Elements []peerUnknown `xml:",any" json:"-"`
	}
	peerUnknown struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		Inner   string     `xml:",innerxml"`
	}
	peerField struct {
		Lang    string `xml:"lang,attr,omitempty" json:"lang,omitempty"`
		Name    string `xml:"name,attr" json:"name"`
		Type    string `xml:"type,attr" json:"type"`
		Content string `xml:",chardata" json:"content"`
		peerExtra
	}
	peerItem struct {
		Lang  string      `xml:"lang,attr,omitempty" json:"lang,omitempty"`
		ID    string      `xml:"id,attr" json:"id"`
		Field []peerField `xml:"field" json:"field"`
		peerExtra
	}
	peerData struct {
		Lang  string     `xml:"lang,attr,omitempty" json:"lang,omitempty"`
		ID    string     `xml:"id,attr" json:"id"`
		Label string     `xml:"label,attr,omitempty" json:"label,omitempty"`
		Usage string     `xml:"usage,attr,omitempty" json:"usage,omitempty"`
		Item  []peerItem `xml:"item" json:"item"`
		peerExtra
	}
	peerDocument struct {
		Version string `xml:"version,attr" json:"anml"`
		Role    string `xml:"role,attr" json:"role"`
		TTL     int    `xml:"ttl,attr" json:"ttl"`
		Head    struct {
			Title string `xml:"title" json:"title"`
			peerExtra
		} `xml:"head" json:"head"`
		Body struct {
			Content string     `xml:",chardata" json:"content"`
			Data    []peerData `xml:"data" json:"data"`
			peerExtra
		} `xml:"body" json:"body"`
		peerExtra
	}
)

// BenchmarkCodecs reads, writes and converts a document, and so do the usual peers,
// which check less. What stays in memory during a benchmark is the document's text only,
// since the garbage collector would charge its owner's time to the others.
func BenchmarkCodecs(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"4KB", 4 << 10}, {"100KB", 100 << 10}, {"1MB", 1<<20 - 2048}} {
		x := benchDocument(size.n)
		j := must(MarshalJSON(must(ParseXML(x, ReadOptions{})), WriteOptions{}))
		run := func(name string, n int, prepare func() func() error) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				f := prepare()
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		read := func(name string, data []byte, f func() error) {
			run(name, len(data), func() func() error { return f })
		}
		read("xml", x, func() error { _, err := ParseXML(x, ReadOptions{}); return err })
		read("xml-etree", x, func() error { return etree.NewDocument().ReadFromBytes(x) })
		read("xml-encoding", x, func() error { return xml.Unmarshal(x, new(peerDocument)) })
		read("json", j, func() error { _, err := ParseJSON(j, ReadOptions{}); return err })
		read("json-encoding", j, func() error { return json.Unmarshal(j, new(peerDocument)) })
		read("json-v2", j, func() error { return jsonv2.Unmarshal(j, new(peerDocument)) })
		run("write-xml", len(x), func() func() error {
			d := must(ParseXML(x, ReadOptions{}))
			return func() error { _, err := MarshalXML(d, WriteOptions{}); return err }
		})
		run("write-xml-etree", len(x), func() func() error {
			tree := etree.NewDocument()
			if err := tree.ReadFromBytes(x); err != nil {
				b.Fatal(err)
			}
			return func() error { _, err := tree.WriteToBytes(); return err }
		})
		run("write-json", len(j), func() func() error {
			d := must(ParseXML(x, ReadOptions{}))
			return func() error { _, err := MarshalJSON(d, WriteOptions{}); return err }
		})
		read("convert-to-json", x, func() error {
			_, err := MarshalJSON(must(ParseXML(x, ReadOptions{})), WriteOptions{})
			return err
		})
		read("convert-to-json-encoding", x, func() error {
			var p peerDocument
			if err := xml.Unmarshal(x, &p); err != nil {
				return err
			}
			_, err := json.Marshal(p)
			return err
		})
		read("convert-to-xml", j, func() error {
			_, err := MarshalXML(must(ParseJSON(j, ReadOptions{})), WriteOptions{})
			return err
		})
		read("convert-to-xml-encoding", j, func() error {
			var p peerDocument
			if err := json.Unmarshal(j, &p); err != nil {
				return err
			}
			_, err := xml.Marshal(p)
			return err
		})
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkLinear reads much of one thing, and fifty times as much: a piece takes
// no longer in the large document.
func BenchmarkLinear(b *testing.B) {
	body := func(s string) func(int) string {
		return func(n int) string { return service("<body>" + strings.Repeat(s, n) + "</body>") }
	}
	for name, c := range map[string]struct {
		make func(n int) string
		n    int
	}{
		"elements": {body("<link href='u'/>"), 600},
		"unknown":  {body("<x:y xmlns:x='u'/>"), 600},
		"escapes":  {body("&amp;"), 2400},
		"pieces":   {body("x<!---->"), 2400},
		"findings": {body("<link/>"), 600},
		"different": {func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "<b%d c%d=''/>", i, i)
			}
			return body(b.String())(1)
		}, 600},
	} {
		for _, n := range []int{c.n, 50 * c.n} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				doc := []byte(c.make(n))
				b.ReportAllocs()
				for b.Loop() {
					j := must(MarshalJSON(must(ParseXML(doc, ReadOptions{})), WriteOptions{Verbatim: true}))
					must(ParseJSON(j, ReadOptions{Limits: Limits{Bytes: 1 << 22}}))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/piece")
			})
		}
	}
}
