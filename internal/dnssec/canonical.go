package dnssec

import (
	"errors"

	"github.com/miekg/dns"
)

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

// canonicalData is the record data with the names in it in lower case, for the types whose names count as names
// (RFC 4034 section 6.2 as corrected by RFC 6840 section 5.1).
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

// A layout lists the fields of a record up to its last name: so many plain bytes, a name, or a character-string.
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

// skipName is the offset behind an uncompressed name, -1 if there is none.
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
