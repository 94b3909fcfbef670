// Package strictjson parses JSON documents on which trust decisions depend. It accepts only texts
// that all parsers read in the same way.
//
// RFC 8259 does not say what duplicate names, invalid UTF-8, huge numbers and deep nesting mean,
// and attackers use parsers that disagree. [Parse] refuses all of these with position, reason code
// and fix. Names are case-sensitive, the order is kept, and every [Value] knows its position.
//
// A parsed document is one copy of its text and one flat table with 16 bytes for each value. A
// Value is a handle into that table. Strings without escapes are substrings of the text and keep
// all of it in memory; clone those that you store.
//
// # Why it does not use jsontext for parsing
//
// The tests compare Parse with jsontext on every fuzzed input, and jsontext unescapes the strings.
// But the token reader of jsontext, or its validation alone, takes as long as Parse takes for the
// whole table. Typed decoders on top of it would miss the goals: a quarter of the time of
// encoding/json, half of that of json/v2. The benchmarks of this package compare all of them.
package strictjson
