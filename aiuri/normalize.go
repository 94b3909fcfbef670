package aiuri

import "strings"

// Normalize gives the normal form (RFC 3986 sections 6.2.2 and 6.2.3): scheme
// and host in lower case, no empty port, and in the path upper-case escapes, no
// escapes of unreserved characters, no dot segments, and "/" where an authority
// has no path. Query and fragment keep their octets. It is idempotent.
func (u URI) Normalize() URI {
	if u.IsZero() || u.isNormal() {
		return u
	}
	var b strings.Builder
	b.Grow(len(u.text) + 1)
	b.WriteString("ai:")
	if u.kind == Authority {
		b.WriteString("//")
		b.WriteString(u.Authority())
	}
	b.WriteString(normalPath(u.path, u.kind))
	if u.hasQuery {
		b.WriteByte('?')
		b.WriteString(u.query)
	}
	if u.hasFragment {
		b.WriteByte('#')
		b.WriteString(u.fragment)
	}
	n, err := Rules{AllowIP: true}.Parse(b.String())
	if err != nil {
		panic(err) // a normal form is well-formed: TestNormalize, FuzzParse
	}
	return n
}

// isNormal finds out without allocating.
func (u URI) isNormal() bool {
	if u.text[0] != 'a' || u.text[1] != 'i' || lower(u.host) != u.host {
		return false
	}
	if u.kind == Authority {
		written := len("ai://") + len(u.host)
		if u.port != "" {
			written += 1 + len(u.port)
		}
		if u.path == "" || written < len(u.text) && u.text[written] == ':' {
			return false
		}
	}
	for i := 0; i < len(u.path); i++ {
		switch c := u.path[i]; {
		case c == '%':
			a, b := u.path[i+1], u.path[i+2]
			if a > 'F' || b > 'F' || class[unhex(a, b)]&unreserved != 0 {
				return false
			}
			i += 2
		case c == '.' && (i == 0 || u.path[i-1] == '/'):
			rest := u.path[i:]
			if end := strings.IndexByte(rest, '/'); end >= 0 {
				rest = rest[:end]
			}
			if rest == "." || rest == ".." {
				return false
			}
		}
	}
	return true
}

// unhex gives the octet that two hexadecimal digits stand for.
func unhex(a, b byte) byte { return nibble(a)<<4 | nibble(b) }

func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&7 + 9
}

func normalPath(path string, kind Kind) string {
	path = normalEscapes(path)
	if kind == Rootless {
		return path // its dot segments are relative to nothing
	}
	path = removeDotSegments(path)
	switch {
	case kind == Authority && path == "":
		return "/"
	case kind == Absolute && strings.HasPrefix(path, "//"):
		return "/." + path // or the path would read as an authority
	}
	return path
}

// normalEscapes writes escapes in upper case and decodes unreserved characters.
func normalEscapes(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			out = append(out, path[i])
			continue
		}
		c := unhex(path[i+1], path[i+2])
		if class[c]&unreserved != 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
		i += 2
	}
	return string(out)
}

// removeDotSegments works on a path that is empty or begins with a slash
// (RFC 3986 section 5.2.4).
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for len(path) > 0 {
		end := strings.IndexByte(path[1:], '/') + 1
		if end == 0 {
			end = len(path)
		}
		segment := path[:end]
		path = path[end:]
		switch segment {
		case "/.":
		case "/..":
			out = out[:max(0, strings.LastIndexByte(string(out), '/'))]
		default:
			out = append(out, segment...)
			continue
		}
		if path == "" {
			out = append(out, '/') // a dot segment at the end leaves its slash
		}
	}
	return string(out)
}
