package agentstxt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// lines iterates over the lines of a file.
type lines struct {
	data    []byte
	rest    int    // where the next line begins
	num     int    // number of the current line, from 1
	at, end int    // bounds of the current line without its line end
	text    []byte // the current line without its line end
}

func newLines(data []byte) lines {
	if bytes.HasPrefix(data, byteOrderMark) {
		return lines{data: data, rest: len(byteOrderMark)}
	}
	return lines{data: data}
}

func (l *lines) next() bool {
	if l.rest >= len(l.data) {
		return false
	}
	l.num++
	l.at = l.rest
	if n := bytes.IndexByte(l.data[l.at:], '\n'); n < 0 {
		l.end, l.rest = len(l.data), len(l.data)
	} else {
		l.end, l.rest = l.at+n, l.at+n+1
		if n > 0 && l.data[l.end-1] == '\r' {
			l.end--
		}
	}
	l.text = l.data[l.at:l.end]
	return true
}

// position returns the position of a byte of the current line.
func (l *lines) position(column int) lookleap.Position {
	return lookleap.Position{Line: l.num, Column: column + 1, Offset: l.at + column}
}

type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	starLine
	slashLine
	otherLine
)

func kindOf(text []byte) lineKind {
	if len(text) == 0 {
		return blankLine
	}
	switch text[0] {
	case '/':
		return slashLine
	case '#':
		return commentLine
	case '*':
		return starLine
	case ' ', '\t':
		if len(bytes.TrimLeft(text, " \t")) == 0 {
			return blankLine
		}
	}
	return otherLine
}

// scan checks a file in one pass and stores little, so that a hostile file is refused
// before a policy is built from it.
type scan struct {
	limits     Limits
	text       string // the file
	directives int
	wildcards  int
	params     []Param   // of the last directive
	declared   *[32]byte // the digest of the hash line
	hashAt     lookleap.Position
	digest     [32]byte // of the directives
	meta       map[string]string
	versionAt  lookleap.Position
	bom        bool
	hashBad    bool // the hash line was refused

	// fail receives each error and reports whether to look for more.
	fail func(*lookleap.Error) bool
}

func (s *scan) run(data []byte) {
	if len(data) > s.limits.Size {
		s.fail(malformed(lookleap.CodeTooLarge, lookleap.Position{},
			fmt.Sprintf("the file has %d bytes, more than %d", len(data), s.limits.Size),
			"merge directives or drop comments"))
		return
	}
	s.text = string(data)
	// An error may come from an encoding that is not UTF-8. Checking that first would
	// cost every good file a pass of its own.
	report := s.fail
	notUTF8 := false
	s.fail = func(e *lookleap.Error) bool {
		if bad := badEncoding(data); bad != nil {
			if notUTF8 {
				return true
			}
			notUTF8, e = true, bad
		}
		return report(e)
	}
	sum := digester{hash: sha256.New(), data: data}
	l := newLines(data)
	s.bom = l.rest > 0
	for l.next() {
		text := l.text
		kind := kindOf(text)
		var bad *lookleap.Error
		switch {
		case len(text) > s.limits.Line:
			bad = s.tooLarge(&l, fmt.Sprintf("the line has %d bytes, more than %d", len(text), s.limits.Line))
		case kind == blankLine:
			continue
		case kind == commentLine:
			bad = s.comment(&l)
		case s.declared == nil:
			bad = s.hash(&l)
		default:
			sum.add(l.at, l.end)
			bad = s.directive(&l, kind)
		}
		if bad != nil && !s.fail(bad) {
			return
		}
	}
	if s.declared == nil {
		// It has only comments and blank lines.
		s.fail(malformed(CodeHashMissing, lookleap.Position{}, "the file has no hash line",
			`add "*" and the SHA-256 of the directives before them, or remove the file if there is nothing to say; `+fixForeign))
		return
	}
	s.digest = sum.sum()
	if s.digest != *s.declared && !s.hashBad {
		s.fail(mismatch(data, *s.declared, s.digest, s.hashAt))
	}
}

func (s *scan) tooLarge(l *lines, message string) *lookleap.Error {
	return malformed(lookleap.CodeTooLarge, l.position(0), message, "split or merge directives")
}

func (s *scan) comment(l *lines) *lookleap.Error {
	text := l.text
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return badEncoding(l.data)
	}
	key, value, ok := metaComment(text)
	if _, known := s.meta[key]; !ok || known || len(s.meta) >= s.limits.Findings {
		return nil
	}
	if s.meta == nil {
		s.meta = make(map[string]string)
	}
	s.meta[key] = value
	if key == "version" {
		s.versionAt = l.position(0)
	}
	return nil
}

// hash reads the first line that is neither comment nor blank.
func (s *scan) hash(l *lines) *lookleap.Error {
	text := l.text
	if digest, ok := hashLine(text); ok {
		s.declared, s.hashAt = &digest, l.position(0)
		return nil
	}
	s.declared, s.hashBad = new([32]byte), true // so the next lines are read as directives
	bad := malformed(CodeHashMissing, l.position(0), "the first line that is neither comment nor blank is not a hash line",
		`write "*" and 64 lower-case hex digits, with nothing after them`)
	switch {
	case isForeign(l.data):
		bad = foreignFile(bad.Position)
	case kindOf(text) == starLine:
		digits := 1 + leadingHex(text[1:])
		switch {
		case digits == 1+40 && len(text) == digits:
			bad.Message, bad.Fix = "the hash line holds a SHA-1 digest", "use SHA-256"
		case digits == 1+64 && len(text) > digits:
			bad.Position, bad.Message = l.position(digits), "text follows the digest in the hash line"
			bad.Fix = "end the line after the 64th digit: no blank, no backslash, no comment"
		case digits == 1+64:
			bad.Message, bad.Fix = "the hash line has upper-case digits", "write the digest in lower case"
		default:
			bad.Position = l.position(digits)
			bad.Message = fmt.Sprintf("the hash line has %d hex digits instead of 64", digits-1)
		}
	}
	return bad
}

func (s *scan) directive(l *lines, kind lineKind) *lookleap.Error {
	text := l.text
	if kind != slashLine {
		return s.notDirective(l, kind)
	}
	d, bad := parseDirective(s.text[l.at:l.end], s.limits.Params, s.params)
	if bad != nil {
		code := codeBadDirective
		if bad.tooMany {
			code = lookleap.CodeTooLarge
		}
		return malformed(code, l.position(bad.at), bad.message, bad.fix)
	}
	if !utf8.Valid(text) {
		return badEncoding(l.data)
	}
	if d.Action == Disallow && hasWildcard(d.Path) {
		s.wildcards++
	}
	s.directives++
	s.params = d.Params
	switch {
	case s.directives > s.limits.Directives:
		return s.tooLarge(l, fmt.Sprintf("the file has more than %d directives", s.limits.Directives))
	case s.wildcards > s.limits.Wildcards:
		return s.tooLarge(l, fmt.Sprintf("the file has more than %d directives with wildcards", s.limits.Wildcards))
	}
	return nil
}

func (s *scan) notDirective(l *lines, kind lineKind) *lookleap.Error {
	bad := malformed(codeBadDirective, l.position(0), `the line does not begin with "/"`,
		"a directive is a path, ALLOW or DISALLOW, and parameters")
	switch {
	case kind == starLine:
		bad.Message, bad.Fix = "the file has a second hash line", "keep one, before all directives"
	case isBlank(l.text[0]):
		bad.Message, bad.Fix = "the line begins with a blank", "remove the blank"
	case bytes.HasPrefix(l.text, byteOrderMark):
		bad.Message, bad.Fix = "the line begins with a byte order mark", "remove it"
	}
	return bad
}

// digester hashes lines as section 7 says: joined by one LF, without one at the end.
// Adjacent lines of the file that are joined like that are hashed together.
type digester struct {
	hash    hash.Hash
	data    []byte
	at, end int // a run of such lines
}

func (d *digester) add(at, end int) {
	if d.end > 0 && at == d.end+1 {
		d.end = end
		return
	}
	if d.end > 0 {
		d.hash.Write(d.data[d.at:d.end])
		d.hash.Write([]byte{'\n'})
	}
	d.at, d.end = at, end
}

func (d *digester) sum() (digest [32]byte) {
	d.hash.Write(d.data[d.at:d.end])
	d.hash.Sum(digest[:0])
	return digest
}

// badEncoding returns an error for the first byte that is NUL or not UTF-8.
func badEncoding(data []byte) *lookleap.Error {
	if bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) {
		return nil
	}
	l := newLines(data)
	for l.next() {
		text := l.text
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRune(text[i:])
			if r == 0 || r == utf8.RuneError && size == 1 {
				return malformed(lookleap.CodeNotUTF8, l.position(i), "the file is not UTF-8 text", "save it as UTF-8")
			}
			i += size
		}
	}
	return nil
}

// mismatch returns the error for a wrong digest. It tries the usual mistakes to explain it.
func mismatch(data []byte, declared, computed [32]byte, at lookleap.Position) *lookleap.Error {
	detail := &HashMismatch{Expected: hex.EncodeToString(declared[:]), Computed: hex.EncodeToString(computed[:])}
	bad := malformed(CodeHashMismatch, at, "the hash line does not match the directives",
		"put *"+detail.Computed+" in its place if the directives are right")
	bad.Err = detail
	for _, v := range []struct {
		hint, message          string
		join, final            string
		comments, blank, empty bool
	}{
		{hint: HintTrailingNewline, message: "the hash was made with a line end after the last directive", join: "\n", final: "\n"},
		{hint: HintCRLF, message: "the hash was made over CRLF line ends", join: "\r\n"},
		{hint: HintCRLF, message: "the hash was made over CRLF line ends, one after the last directive too", join: "\r\n", final: "\r\n"},
		{hint: HintBlankLines, message: "the hash was made with the blank lines left in", join: "\n", blank: true},
		{hint: HintBlankLines, message: "the hash was made with the blank lines left in", join: "\n", final: "\n", blank: true},
		{hint: HintComments, message: "the hash was made with the comments left in", join: "\n", comments: true, blank: true},
		{hint: HintComments, message: "the hash was made with the comments left in", join: "\n", final: "\n", comments: true, blank: true},
		{hint: HintEmpty, message: "the hash is that of no directives at all", empty: true},
	} {
		if declared == variant(data, v.join, v.final, v.comments, v.blank, v.empty) {
			detail.Hint, bad.Message = v.hint, v.message
			break
		}
	}
	return bad
}

// variant hashes the directives in a way that differs from section 7.
func variant(data []byte, join, final string, comments, blank, empty bool) (digest [32]byte) {
	h := sha256.New()
	l := newLines(data)
	for written, hashSeen := false, false; !empty && l.next(); {
		kind := kindOf(l.text)
		switch {
		case kind == starLine:
			hashSeen = true
			continue
		case kind == commentLine && !comments, kind == blankLine && (!blank || !hashSeen):
			continue
		}
		if written {
			h.Write([]byte(join))
		}
		h.Write(l.text)
		written = true
	}
	h.Write([]byte(final))
	h.Sum(digest[:0])
	return digest
}
