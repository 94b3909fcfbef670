package dnssec

import (
	"bytes"
	"errors"
	"strings"

	"github.com/miekg/dns"
)

// name is a domain name in wire form with its ASCII letters in lower case, so that == compares
// names as the DNS does (RFC 4343) and no escape sequence can hide anything. The root is "\x00".
type name string

const rootName name = "\x00"

// nameOf reads presentation form, as miekg/dns keeps names. It fails for what no message could
// hold.
func nameOf(presentation string) (name, bool) {
	var buf [256]byte
	end, err := dns.PackDomainName(dns.Fqdn(presentation), buf[:], 0, nil, false)
	if err != nil || end > 255 {
		return "", false
	}
	return name(lowerASCII(buf[:end])), true
}

// lowerASCII lowers the letters in place. Label lengths are below 64 and so are never letters.
func lowerASCII(wire []byte) []byte {
	for i, c := range wire {
		if 'A' <= c && c <= 'Z' {
			wire[i] = c + 'a' - 'A'
		}
	}
	return wire
}

// String is the presentation form with the final dot.
func (n name) String() string {
	s, _, err := dns.UnpackDomainName([]byte(n), 0)
	if err != nil {
		return "?"
	}
	return s
}

// text is the presentation form without the final dot, and "." for the root.
func (n name) text() string {
	if n == rootName {
		return "."
	}
	return strings.TrimSuffix(n.String(), ".")
}

// parent is the name without its first label; the root is its own parent.
func (n name) parent() name {
	if n == rootName {
		return n
	}
	return n[1+n[0]:]
}

// labels counts labels without the root.
func (n name) labels() int {
	count := 0
	for ; n != rootName; n = n.parent() {
		count++
	}
	return count
}

// isBelow says whether n lies strictly below ancestor.
func (n name) isBelow(ancestor name) bool {
	for n != rootName && len(n) > len(ancestor) {
		n = n.parent()
		if n == ancestor {
			return true
		}
	}
	return false
}

// within says whether n is zone or lies below it.
func (n name) within(zone name) bool { return n == zone || n.isBelow(zone) }

// last returns the ancestor of n, or n itself, that has the given number of labels.
func (n name) last(labels int) name {
	for drop := n.labels() - labels; drop > 0; drop-- {
		n = n.parent()
	}
	return n
}

// childOf is the ancestor of n, or n itself, one label below the given one: the "next closer name"
// when that is the closest encloser (RFC 5155 section 1.3).
func (n name) childOf(ancestor name) name { return n.last(ancestor.labels() + 1) }

// wildcard is the name "*.n". It fails where that would be too long to exist.
func (n name) wildcard() (name, bool) {
	if len(n)+2 > 255 {
		return "", false
	}
	return "\x01*" + n, true
}

// isWildcard says whether the first label is "*".
func (n name) isWildcard() bool { return strings.HasPrefix(string(n), "\x01*") }

// commonAncestor is the longest name that both lie within.
func commonAncestor(a, b name) name {
	la, lb := a.labels(), b.labels()
	a, b = a.last(min(la, lb)), b.last(min(la, lb))
	for a != b {
		a, b = a.parent(), b.parent()
	}
	return a
}

// compareNames is the canonical order of RFC 4034 section 6.1: label by label from the root, bytes
// of lower case.
func compareNames(a, b name) int {
	var as, bs [128][]byte
	la, lb := splitLabels(a, &as), splitLabels(b, &bs)
	for i := 1; i <= min(la, lb); i++ {
		if c := bytes.Compare(as[la-i], bs[lb-i]); c != 0 {
			return c
		}
	}
	return la - lb
}

func splitLabels(n name, out *[128][]byte) int {
	count := 0
	for ; n != rootName; n = n.parent() {
		out[count] = []byte(n[1 : 1+n[0]])
		count++
	}
	return count
}

var errForm = errors.New("malformed record")

// rdataOf is a record's data in wire form without compression.
func rdataOf(rr dns.RR) ([]byte, error) {
	buf := make([]byte, dns.Len(rr)+1)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		return nil, err
	}
	_, at, err := dns.UnpackDomainName(buf, 0)
	if err != nil || at+10 > end {
		return nil, errForm
	}
	return buf[at+10 : end], nil
}

// canonicalData is the record data with the names in it in lower case, for the types whose names
// count as names (RFC 4034 section 6.2 as corrected by RFC 6840 section 5.1).
func canonicalData(rr dns.RR) ([]byte, error) {
	rdata, err := rdataOf(rr)
	if err != nil {
		return nil, err
	}
	layout := nameLayout(rr.Header().Rrtype)
	at := 0
	for _, field := range layout {
		switch {
		case field == nameField:
			end := skipName(rdata, at)
			if end < 0 {
				return nil, errForm
			}
			lowerASCII(rdata[at:end])
			at = end
		case field == stringField:
			if at >= len(rdata) {
				return nil, errForm
			}
			at += 1 + int(rdata[at])
		default:
			at += int(field)
		}
		if at > len(rdata) {
			return nil, errForm
		}
	}
	return rdata, nil
}

// A layout lists the fields of a record up to its last name: so many plain bytes, a name, or a
// character-string.
type layoutField int8

const (
	nameField   layoutField = -1
	stringField layoutField = -2
)

func nameLayout(rrtype uint16) []layoutField {
	switch rrtype {
	case dns.TypeNS, dns.TypeMD, dns.TypeMF, dns.TypeCNAME, dns.TypeMB, dns.TypeMG, dns.TypeMR, dns.TypePTR, dns.TypeDNAME:
		return []layoutField{nameField}
	case dns.TypeSOA, dns.TypeMINFO, dns.TypeRP:
		return []layoutField{nameField, nameField}
	case dns.TypeMX, dns.TypeAFSDB, dns.TypeRT, dns.TypeKX:
		return []layoutField{2, nameField}
	case dns.TypePX:
		return []layoutField{2, nameField, nameField}
	case dns.TypeSRV:
		return []layoutField{6, nameField}
	case dns.TypeNAPTR:
		return []layoutField{4, stringField, stringField, stringField, nameField}
	case dns.TypeSIG:
		return []layoutField{18, nameField}
	}
	return nil
}

// skipName returns the offset behind an uncompressed name, or -1 if there is no name.
func skipName(wire []byte, at int) int {
	for at < len(wire) {
		size := int(wire[at])
		at += 1 + size
		switch {
		case size > 63:
			return -1
		case size == 0:
			return at
		}
	}
	return -1
}
