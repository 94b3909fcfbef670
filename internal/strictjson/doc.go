// Package strictjson parses JSON documents on which trust decisions depend. It accepts only texts
// that all parsers read in the same way.
//
// RFC 8259 does not say what duplicate names, invalid UTF-8, huge numbers and deep nesting mean,
// and attackers use parsers that disagree. [Parse] refuses all of these with position, reason code
// and fix. Names are case-sensitive, the order is kept, and every [Value] knows its position.
// [Decode] stores a record of this module in a Go value with the same strictness.
//
// The grammar is that of jsontext. A parsed document is one copy of its text and one flat table
// with 20 bytes for each value. A Value is a handle into that table. Strings without escapes are
// substrings of the text and keep all of it in memory; clone those that you store.
package strictjson
