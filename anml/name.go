package anml

import "unicode/utf8"

// isNCName reports whether s is a name of XML without a colon.
func isNCName(s string) bool {
	for i, r := range s {
		if !nameStart(r) && (i == 0 || !nameRest(r)) {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

func nameStart(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
	case r < 0xC0 || r == 0xD7 || r == 0xF7 || r >= 0x300 && r < 0x370 || r == 0x37E:
		return false
	case r <= 0x1FFF || r == 0x200C || r == 0x200D:
		return true
	}
	return r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF || r >= 0x3001 && r <= 0xD7FF ||
		r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD || r >= 0x10000 && r <= 0xEFFFF
}

func nameRest(r rune) bool {
	return r >= '0' && r <= '9' || r == '-' || r == '.' || r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// isXMLText reports whether XML can hold every character of s.
func isXMLText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}
