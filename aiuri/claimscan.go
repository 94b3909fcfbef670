package aiuri

import (
	"bytes"
	"encoding/binary"
)

// mayClaim finds out cheaply whether a payload is a JSON object in which a claim
// could stand, so that large results are read once, to be hashed.
func mayClaim(payload []byte) bool {
	trimmed := bytes.TrimLeft(payload, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return false
	}
	if bytes.IndexByte(payload, '\\') >= 0 && bytes.Contains(payload, []byte(`\u00`)) {
		return true // a name may be written in escapes
	}
	if bytes.Contains(payload, []byte(`scope"`)) && bytes.Contains(payload, []byte(`"scope"`)) { // the first is rare and quickly found out
		return true
	}
	return holdsShortName(payload)
}

// holdsShortName looks for the claims of three letters. Their quotation marks
// stand four octets apart, and sixteen places are looked at in one step, since
// payloads are large and almost never have any.
func holdsShortName(p []byte) bool {
	const step = 16
	for len(p) >= step+4 {
		first := pairs(binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[4:]))
		second := pairs(binary.LittleEndian.Uint64(p[8:]), binary.LittleEndian.Uint64(p[12:]))
		if (first|second)&0x8080808080808080 != 0 && shortNameIn(p[:step+4]) {
			return true
		}
		p = p[step:]
	}
	return shortNameIn(p)
}

// pairs sets the highest bit of each octet that is a quotation mark in both, and
// sometimes of the one after it.
func pairs(a, b uint64) uint64 {
	const marks, ones = 0x2222222222222222, 0x0101010101010101
	x := (a ^ marks) | (b ^ marks) // zero where both are
	return (x - ones) &^ x
}

func shortNameIn(p []byte) bool {
	for i := 0; i+4 < len(p); i++ {
		if p[i] != '"' || p[i+4] != '"' {
			continue
		}
		switch string(p[i+1 : i+4]) {
		case "iss", "aud", "exp", "iat", "req":
			return true
		}
	}
	return false
}
