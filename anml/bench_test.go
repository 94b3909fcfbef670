package anml

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/beevik/etree"
)

// benchDocument makes a result list of about size octets.
func benchDocument(size int) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<anml xmlns="` + Namespace + `" version="1.0" role="service" ttl="3600">` + "\n  <head><title>Flights</title></head>\n  <body>\n    <data id=\"d\">\n")
	for i := 0; b.Len() < size-60; i++ {
		fmt.Fprintf(&b, "      <item id=\"f%d\">\n        <field name=\"airline\" type=\"string\">Example Air &amp; Sons %d</field>\n        <field name=\"departure\" type=\"datetime\">2026-05-01T08:00:00Z</field>\n        <field name=\"seats\" type=\"number\">%d</field>\n      </item>\n", i, i, 300+i%100)
	}
	b.WriteString("    </data>\n  </body>\n</anml>\n")
	return []byte(b.String())
}

// Types of the same shape for the peers.
type peerField struct {
	Name    string `xml:"name,attr" json:"name"`
	Type    string `xml:"type,attr" json:"type"`
	Content string `xml:",chardata" json:"content"`
}
type peerItem struct {
	ID    string      `xml:"id,attr" json:"id"`
	Field []peerField `xml:"field" json:"field"`
}
type peerData struct {
	ID   string     `xml:"id,attr" json:"id"`
	Item []peerItem `xml:"item" json:"item"`
}
type peerDocument struct {
	Version string `xml:"version,attr" json:"anml"`
	Role    string `xml:"role,attr" json:"role"`
	TTL     int    `xml:"ttl,attr" json:"ttl"`
	Head    struct {
		Title string `xml:"title" json:"title"`
	} `xml:"head" json:"head"`
	Body struct {
		Content string     `xml:",chardata" json:"content"`
		Data    []peerData `xml:"data" json:"data"`
	} `xml:"body" json:"body"`
}

// BenchmarkRead reads a document into typed form beside the usual peers.
func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"4KB", 4 << 10}, {"1MB", 1<<20 - 2048}} {
		x := benchDocument(size.n)
		d, err := ParseXML(x, ReadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		j, err := MarshalJSON(d, WriteOptions{})
		if err != nil {
			b.Fatal(err)
		}
		run := func(name string, n int, f func() error) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("xml", len(x), func() error { _, err := ParseXML(x, ReadOptions{}); return err })
		run("xml-etree", len(x), func() error { return etree.NewDocument().ReadFromBytes(x) })
		run("xml-encoding", len(x), func() error { return xml.Unmarshal(x, new(peerDocument)) })
		run("json", len(j), func() error { _, err := ParseJSON(j, ReadOptions{Limits: Limits{Bytes: 2 << 20}}); return err })
		run("json-encoding", len(j), func() error { return json.Unmarshal(j, new(peerDocument)) })
		run("write-xml", len(x), func() error { _, err := MarshalXML(d, WriteOptions{}); return err })
		tree := etree.NewDocument()
		if err := tree.ReadFromBytes(x); err != nil {
			b.Fatal(err)
		}
		run("write-xml-etree", len(x), func() error { _, err := tree.WriteToBytes(); return err })
		run("convert", len(x), func() error {
			d, err := ParseXML(x, ReadOptions{})
			if err == nil {
				_, err = MarshalJSON(d, WriteOptions{})
			}
			return err
		})
		run("convert-encoding", len(x), func() error {
			var p peerDocument
			if err := xml.Unmarshal(x, &p); err != nil {
				return err
			}
			var out bytes.Buffer
			return json.NewEncoder(&out).Encode(p)
		})
	}
}

// TestAllocations holds that reading a large document takes few allocations.
func TestAllocations(t *testing.T) {
	x := benchDocument(1<<20 - 2048)
	d, err := ParseXML(x, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := MarshalJSON(d, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(){
		"XML":  func() { _, _ = ParseXML(x, ReadOptions{}) },
		"JSON": func() { _, _ = ParseJSON(j, ReadOptions{}) },
	} {
		if n := testing.AllocsPerRun(3, read); n > 2000 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}
