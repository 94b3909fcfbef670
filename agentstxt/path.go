package agentstxt

import (
	"bytes"
	"slices"

	"github.com/lookleap/lookleap/internal/domain"
)

// Paths are compared in the normal form of RFC 3986, section 6.2.2:
// percent-encoded unreserved characters decoded, hex digits upper-case, all that
// is not a path character encoded, dot segments removed. "%2F" is not "/".

// appendNormal appends the normal form of a path that begins with "/". ok is false if
// the path has a control character, a blank, or a "%" without two hex digits, because
// servers interpret such paths differently.
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
		switch {
		case c <= ' ' || c == 0x7f:
			return dst, false
		case c == '%':
			octet, ok := domain.Unescape(path, i)
			if !ok {
				return dst, false
			}
			dst = domain.AppendNormal(dst, octet)
			i += 2
		case octets[c] != 0:
			dst = domain.AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
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

// segmentEnd returns the end of the segment whose slash is at i.
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
		n := len(out) - len("%XX")
		octet, ok := domain.Unescape(out, n)
		switch {
		case !ok:
		case octet == '%':
			if rest := path[i+1:]; len(rest) >= 2 && leadingHex(rest[:2]) == 2 {
				out = append(out[:n], '%')
			}
		case octet != '/' && octets[octet] == 0:
			out = append(out[:n], octet)
		default:
			out = domain.AppendEscape(out[:n], octet)
		}
	}
	return out
}

// Servers interpret paths differently. They decode them never, once or several times.
// Before or after that they resolve dot segments, merge slashes, read a backslash as a
// slash, remove segment parameters, remove trailing dots and blanks as Windows does, cut
// the path at a NUL, or read "//name" as an authority. A server does several of these
// steps in some order. So the readings of a path are the results of these steps in any
// order.
//
// Each step works in place. No step makes the path longer.
var readingSteps = []func([]byte) []byte{
	decodeOnce, turnBackslashes, removeDots, mergeSlashes, dropAuthority, dropParams, dropTrailing, dropBreaks, cutEnd,
}

// A path with more readings than these limits is denied by every policy that
// denies anything: only an attacker writes such a path.
const (
	maxReadings    = 64
	maxReadingText = 256 << 10 // bytes that the steps may produce for one path
)

// readingsOf returns all readings of a path. The first one is the path itself. Each one is the
// path at some point in a server, so "%" may begin an encoding or be literal. ok is false if there
// are too many.
func readingsOf(path string) (all [][]byte, ok bool) {
	all = [][]byte{[]byte(path)}
	known := map[string]bool{path: true}
	produced := 0
	for i := 0; i < len(all); i++ {
		for _, step := range readingSteps {
			next := step(bytes.Clone(all[i]))
			produced += len(all[i])
			if known[string(next)] {
				continue
			}
			if len(all) == maxReadings || produced > maxReadingText {
				return all, false
			}
			known[string(next)] = true
			all = append(all, next)
		}
	}
	return all, true
}

// appendKey appends a reading in the form in which rules are looked up.
func appendKey(dst, reading []byte) []byte {
	for i := 0; i < len(reading); i++ {
		c := reading[i]
		switch octet, ok := domain.Unescape(reading, i); {
		case ok:
			dst = domain.AppendNormal(dst, octet)
			i += 2
		case c == '%', octets[c] != 0:
			dst = domain.AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// decodeOnce decodes every percent-encoding.
func decodeOnce(path []byte) []byte {
	out := path[:0]
	for i := 0; i < len(path); i++ {
		c := path[i]
		if octet, ok := domain.Unescape(path, i); ok {
			c = octet
			i += 2
		}
		out = append(out, c)
	}
	return out
}

// turnBackslashes reads a backslash as a slash, as Windows and browsers do.
func turnBackslashes(path []byte) []byte {
	for i, c := range path {
		if c == '\\' {
			path[i] = '/'
		}
	}
	return path
}

// dropAuthority removes "//name" at the beginning, as programs do that resolve
// the request target as a reference.
func dropAuthority(path []byte) []byte {
	if !bytes.HasPrefix(path, []byte("//")) {
		return path
	}
	rest := bytes.TrimLeft(path, "/")
	slash := bytes.IndexByte(rest, '/')
	if slash < 0 {
		return path[:1]
	}
	return append(path[:0], rest[slash:]...)
}

// dropParams removes what follows a ";" in each segment, as servlet containers
// do.
func dropParams(path []byte) []byte {
	out, dropping := path[:0], false
	for _, c := range path {
		if c == '/' {
			dropping = false
		} else if c == ';' {
			dropping = true
		}
		if !dropping {
			out = append(out, c)
		}
	}
	return out
}

// dropTrailing removes trailing blanks of each segment, and trailing dots of
// segments that are not "." or "..", as Windows does with file names.
func dropTrailing(path []byte) []byte {
	out := path[:0]
	for i := 0; i < len(path); {
		end := i + 1
		for end < len(path) && path[end] != '/' {
			end++
		}
		segment := bytes.TrimRight(path[i:end], " ")
		if name := bytes.TrimPrefix(segment, []byte("/")); string(name) != "." && string(name) != ".." {
			segment = bytes.TrimRight(segment, ". ")
		}
		out = append(out, segment...)
		i = end
	}
	return out
}

// dropBreaks removes tabs and line breaks, as browsers do with every URL.
func dropBreaks(path []byte) []byte {
	return slices.DeleteFunc(path, func(c byte) bool { return c == '\t' || c == '\n' || c == '\r' })
}

// cutEnd ends the path at a NUL, as programs with C strings do, and at a decoded
// "?" or "#", as programs do that read a decoded path as a URL.
func cutEnd(path []byte) []byte {
	if end := bytes.IndexAny(path, "\x00?#"); end >= 0 {
		return path[:end]
	}
	return path
}

// hasReadings reports whether a path, as in a URL, may have more than one reading.
func hasReadings(path string) bool {
	spelled, ok := appendSpelled(nil, path)
	return !ok || isAmbiguous(spelled)
}

// isAmbiguous reports whether a path with normal encodings may have more than
// one reading that matters.
func isAmbiguous(path []byte) bool {
	for i, c := range path {
		last := i+1 == len(path) || path[i+1] == '/'
		switch c {
		case ';':
			return true
		case '/':
			if i+1 < len(path) && path[i+1] == '/' {
				return true
			}
		case '.':
			if last {
				return true // a dot segment, or a name that Windows reads without its dot
			}
		case '%':
			octet, _ := domain.Unescape(path, i)
			if octets[octet] == 0 {
				return true
			}
			switch octet {
			case 0, '\\', '%', '?', '#', '\t', '\n', '\r', ' ':
				return true
			}
		}
	}
	return false
}

// hasDots reports whether a path has a dot segment.
func hasDots(path []byte) bool {
	for i := 0; i < len(path); i = segmentEnd(path, i) {
		if name := path[i+1 : segmentEnd(path, i)]; string(name) == "." || string(name) == ".." {
			return true
		}
	}
	return false
}
