package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// benchNotice and benchEntry are what the documents of the benchmarks hold: an
// ANML inform section of 1 MB, and a trust manifest of 100,000 entries.
type benchNotice struct {
	ID              string `json:"id"`
	TTL             int64  `json:"ttl"`
	Scope           string `json:"scope"`
	Priority        string `json:"priority"`
	Confidentiality string `json:"confidentiality"`
	Content         string `json:"content"`
}

type benchNotices struct {
	Version string        `json:"anml"`
	Inform  []benchNotice `json:"inform"`
}

type benchEntry struct {
	Domain  string   `json:"domain"`
	Tier    int64    `json:"tier"`
	Scope   []string `json:"scope"`
	Expires string   `json:"expires"`
}

type benchManifest struct {
	Site    string       `json:"site"`
	Entries []benchEntry `json:"authorized-domains"`
}

func noticesText() []byte {
	var b bytes.Buffer
	b.WriteString(`{"anml":"1.0","inform":[`)
	for i := 0; b.Len() < 1<<20-300; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		escapes := ""
		if i%4 == 0 {
			escapes = `\n\"late risers\" ask the kitchen`
		}
		fmt.Fprintf(&b, `{"id":"notice-%d","ttl":3600,"scope":"rooms-%d","priority":"normal","confidentiality":"public",`+
			`"content":"Rooms with a view of the sea, breakfast from 7 to 10 o’clock.%s"}`, i, i%10, escapes)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func manifestText() []byte {
	var b bytes.Buffer
	b.WriteString(`{"site":"example.com","authorized-domains":[`)
	for i := range 100_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"domain":"cdn%d.example.net","tier":2,"scope":["body","interact"],"expires":"2027-01-01T00:00:00Z"}`, i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func decodeNotices(root Value) (doc benchNotices) {
	for name, v := range root.Members() {
		switch name {
		case "anml":
			doc.Version = must(v.Text())
		case "inform":
			doc.Inform = make([]benchNotice, 0, v.Len())
			for item := range v.Elements() {
				doc.Inform = append(doc.Inform, decodeNotice(item))
			}
		}
	}
	return doc
}

func decodeNotice(item Value) (n benchNotice) {
	for name, v := range item.Members() {
		switch name {
		case "id":
			n.ID = must(v.Text())
		case "ttl":
			n.TTL = must(v.Int())
		case "scope":
			n.Scope = must(v.Text())
		case "priority":
			n.Priority = must(v.Text())
		case "confidentiality":
			n.Confidentiality = must(v.Text())
		case "content":
			n.Content = must(v.Text())
		}
	}
	return n
}

func decodeManifest(root Value) (m benchManifest) {
	for name, v := range root.Members() {
		switch name {
		case "site":
			m.Site = must(v.Text())
		case "authorized-domains":
			m.Entries = make([]benchEntry, 0, v.Len())
			for item := range v.Elements() {
				m.Entries = append(m.Entries, decodeEntry(item))
			}
		}
	}
	return m
}

func decodeEntry(item Value) (e benchEntry) {
	for name, v := range item.Members() {
		switch name {
		case "domain":
			e.Domain = must(v.Text())
		case "tier":
			e.Tier = must(v.Int())
		case "scope":
			for s := range v.Elements() {
				e.Scope = append(e.Scope, must(s.Text()))
			}
		case "expires":
			e.Expires = must(v.Text())
		}
	}
	return e
}

func benchmark(b *testing.B, data []byte, into func() any, decode func(Value)) {
	limits := Limits{Size: len(data), Values: len(data)}
	run := func(name string, read func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("strictjson-typed", func() error {
		root, err := Parse(data, limits)
		decode(root)
		return err
	})
	run("strictjson-parse", func() error { _, err := Parse(data, limits); return err })
	run("encoding-json-typed", func() error { return json.Unmarshal(data, into()) })
	run("json-v2-typed", func() error { return jsonv2.Unmarshal(data, into()) })
	run("jsontext-valid", func() error {
		if !jsontext.Value(data).IsValid() {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	run("jsontext-tokens", func() error {
		d := jsontext.NewDecoder(bytes.NewBuffer(data))
		for {
			if _, err := d.ReadToken(); err != nil {
				if err == io.EOF {
					return nil
				}
				return err
			}
		}
	})
}

func BenchmarkNotices1MB(b *testing.B) {
	benchmark(b, noticesText(), func() any { return new(benchNotices) }, func(v Value) { decodeNotices(v) })
}

func BenchmarkManifest100000(b *testing.B) {
	benchmark(b, manifestText(), func() any { return new(benchManifest) }, func(v Value) { decodeManifest(v) })
}
