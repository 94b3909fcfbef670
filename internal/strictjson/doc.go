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
// The structure is scanned here; jsontext unescapes the strings and is the
// oracle of the tests: fuzzing holds the two to the same verdict on every input.
// Its token reader, or its check of validity alone, takes as long as Parse takes
// to build the whole table, and typed decoders on top of either miss the goals
// (a quarter of encoding/json's time, half of json/v2's). The benchmarks of this
// package measure all of them side by side. Writing needs no help: a
// jsontext.Encoder refuses duplicates and invalid UTF-8, and is deterministic.
package strictjson
