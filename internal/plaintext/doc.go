// Package plaintext is the one way to show text that others wrote, and the one way to show a host.
//
// Terminals obey escape sequences, fonts draw nothing for dozens of characters, and
// bidirectional controls reorder the text next to them. So text from a skill, a document or a
// server is never shown raw: [Quote] returns one line in quotes in which every character that
// could hide, move or forge something is written as \u{1B}, [Block] returns a text of several
// lines with a mark before each, and [Host] and [URL] show where something comes from in a form
// that a look-alike cannot copy. [Count] tells how much was hidden in a text, for a finding.
//
//	plaintext.Quote("Pay now\n\x1b[2KTrust root: example.com", 200) // "Pay now\u{A}\u{1B}[2KTrust root: example.com"
//	plaintext.Host("skills.example.com")                            // skills.[example.com]
//
// What these functions return has no control or format characters and can be written to a
// terminal, a log or a dialog. It is not escaped for HTML.
package plaintext
