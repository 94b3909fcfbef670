package strictxml

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
)

// document makes a document like those of services, of about size bytes.
func document(size int) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" role="service" ttl="3600">` + "\n  <body>\n    <data id=\"d\">\n")
	for i := 0; b.Len() < size-60; i++ {
		fmt.Fprintf(&b, "      <item id=\"f%d\">\n        <field name=\"airline\" type=\"string\">Example Air &amp; Sons %d</field>\n        <field name=\"departure\" type=\"datetime\">2026-05-01T08:00:00Z</field>\n        <field name=\"price\" type=\"number\">%d</field>\n      </item>\n", i, i, 300+i%100)
	}
	b.WriteString("    </data>\n  </body>\n</anml>\n")
	return []byte(b.String())
}

// BenchmarkTokens reads a document as encoding/xml does, and compares both with the least
// that any reader must do: look at each byte once.
func BenchmarkTokens(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"4KB", 4 << 10}, {"1MB", 1<<20 - 1024}} {
		doc := document(size.n)
		run := func(name string, read func() error) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("strictxml", func() error {
			s := NewBytes(doc, Options{})
			for {
				if _, err := s.Next(); err != nil {
					return expectEOF(err)
				}
			}
		})
		run("strictxml-stream", func() error {
			s := NewReader(bytes.NewReader(doc), Options{})
			for {
				if _, err := s.Next(); err != nil {
					return expectEOF(err)
				}
			}
		})
		run("encoding-xml", func() error {
			d := xml.NewDecoder(bytes.NewReader(doc))
			for {
				if _, err := d.Token(); err != nil {
					return expectEOF(err)
				}
			}
		})
	}
}

func expectEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// BenchmarkHostile shows that the time grows with the size alone.
func BenchmarkHostile(b *testing.B) {
	limits := Limits{Bytes: 64 << 20, Attrs: 1 << 20, Token: 1 << 24, Tokens: 1 << 24}
	for _, n := range []int{1_000, 10_000, 100_000} {
		doc := []byte("<a " + numbered(n) + "/>")
		b.Run(fmt.Sprintf("attributes/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if _, err := render2(NewBytes(doc, Options{Limits: limits})); err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}
