// Package strictjson reads JSON for documents that decide about trust: one
// reading, or none.
//
// RFC 8259 leaves to its readers what duplicate names, broken UTF-8, huge
// numbers and deep nesting mean, and two readers that disagree are a way in.
// [Parse] refuses all of them, with the place, the reason code and the fix, and
// gives a [Value] only for a text that is right from its first octet to its
// last. Names are case-sensitive, order is kept, every value knows its place.
//
// A parsed document is one copy of its text and one flat table with 16 octets
// for each value. A [Value] is a handle into that table, so that typed decoders
// written on [Value.Members] and [Value.Elements] allocate for their own results
// only: strings without escapes are parts of the text. They keep the text alive;
// who stores a few of many clones them.
//
// # Why it does not read through jsontext
//
// The structure is scanned here, and jsontext unescapes strings and serves the
// tests as the oracle: fuzzing holds the two to the same verdict on every input.
// Checking with jsontext.Value.IsValid first and indexing the text afterwards
// takes 1.5 times as long, its token reader about as much, and typed decoders
// on either miss the goals (a quarter of encoding/json's time, half of json/v2's);
// the benchmarks of this package show the figures. Writing needs no help: a
// jsontext.Encoder refuses duplicates and invalid UTF-8 and is deterministic.
package strictjson
