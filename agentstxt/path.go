package agentstxt

import "bytes"

// Paths are compared in the normal form of RFC 3986, section 6.2.2:
// percent-encoded unreserved characters decoded, hex digits upper-case, all that
// is no path character encoded, dot segments removed. "%2F" is not "/".

// appendNormal appends the normal form of a path that begins with "/". ok is
// false if the path has a control character, a blank, or a "%" that encodes
// nothing: then nobody can tell what a server makes of it.
func appendNormal[S []byte | string](dst []byte, path S) (normal []byte, ok bool) {
	start := len(dst)
	if dst, ok = appendSpelled(dst, path); !ok {
		return dst, false
	}
	return dst[:start+len(removeDots(dst[start:]))], true
}

// appendSpelled is appendNormal without the removal of dot segments.
func appendSpelled[S []byte | string](dst []byte, path S) (spelled []byte, ok bool) {
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch bits := octets[c]; {
		case c <= ' ' || c == 0x7f:
			return dst, false
		case bits&percent != 0:
			if i+2 >= len(path) || unhex(path[i+1]) < 0 || unhex(path[i+2]) < 0 {
				return dst, false
			}
			c = byte(unhex(path[i+1])<<4 | unhex(path[i+2]))
			i += 2
			if isUnreserved(c) {
				dst = append(dst, c)
			} else {
				dst = appendEncoded(dst, c)
			}
		case bits&(notPath|highBit) != 0:
			dst = appendEncoded(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
}

func isUnreserved(c byte) bool {
	return isAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func appendEncoded(dst []byte, c byte) []byte {
	const upper = "0123456789ABCDEF"
	return append(dst, '%', upper[c>>4], upper[c&15])
}

// removeDots removes "." and ".." segments in place (RFC 3986, section 5.2.4).
func removeDots(path []byte) []byte {
	out := path[:0]
	for i := 0; i < len(path); {
		end := segmentEnd(path, i)
		switch segment := path[i+1 : end]; {
		case len(segment) == 1 && segment[0] == '.':
		case len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
		default:
			out = append(out, path[i:end]...)
			i = end
			continue
		}
		if end == len(path) {
			out = append(out, '/')
		}
		i = end
	}
	if len(out) == 0 {
		out = append(out, '/')
	}
	return out
}

// segmentEnd is where the segment ends whose slash stands at i.
func segmentEnd(path []byte, i int) int {
	if n := bytes.IndexByte(path[i+1:], '/'); n >= 0 {
		return i + 1 + n
	}
	return len(path)
}

// mergeSlashes replaces runs of slashes by one slash, in place.
func mergeSlashes(path []byte) []byte {
	out := path[:0]
	for _, c := range path {
		if c != '/' || len(out) == 0 || out[len(out)-1] != '/' {
			out = append(out, c)
		}
	}
	return out
}

// decodeMore decodes what is still encoded in a path with normal encodings:
// encodings of encodings, and encodings of path characters. Slashes and
// backslashes stay encoded. It works in place.
func decodeMore(path []byte) []byte {
	out := path[:0]
	for i, c := range path {
		out = append(out, c)
		n := len(out) - 3
		if n < 0 || out[n] != '%' || unhex(out[n+1]) < 0 || unhex(out[n+2]) < 0 {
			continue
		}
		switch c := byte(unhex(out[n+1])<<4 | unhex(out[n+2])); {
		case c == '%':
			if i+2 < len(path) && unhex(path[i+1]) >= 0 && unhex(path[i+2]) >= 0 {
				out = append(out[:n], '%')
			}
		case c != '/' && octets[c]&(notPath|highBit) == 0:
			out = append(out[:n], c)
		default:
			out = appendEncoded(out[:n], c)
		}
	}
	return out
}
