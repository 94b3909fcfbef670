package domain

import (
	"bytes"
	"strings"
)

// Resolve resolves a reference against u by the zero [Rules]: see [Rules.Resolve].
func (u URL) Resolve(ref string) (URL, error) { return Rules{}.Resolve(u, ref) }

// Resolve returns the canonical URL that a reference in the resource base stands for (RFC 3986,
// section 5.2): the target of a redirect, a link, an endpoint. It refuses what [Rules.Parse]
// refuses, with offsets into ref. References with a scheme and those that begin with "//" are
// judged by r as absolute URLs; the others stay on the origin of base.
//
// Relative paths such as "../b/x.md" are the one place where "." and ".." have a meaning: they
// are resolved, and end at the root of the host however often they climb. In a path that begins
// with "/" they are refused. Whether the result lies where it may is the caller's question
// ([URL.Under]).
func (r Rules) Resolve(base URL, ref string) (URL, error) {
	if base.IsZero() {
		return URL{}, fail(CodeBadURL, 0, "", "there is no base URL to resolve against", "")
	}
	if schemeLength(ref) > 0 {
		return r.Parse(ref)
	}
	if err := r.checkText(ref); err != nil {
		return URL{}, err
	}
	if strings.HasPrefix(ref, "//") {
		if err := r.checkScheme(base.Scheme()); err != nil {
			return URL{}, err
		}
		return r.parseAuthority(base.Scheme(), ref, 0)
	}
	t, err := r.parseTail(ref, 0, !strings.HasPrefix(ref, "/"))
	if err != nil {
		return URL{}, err
	}
	switch {
	case t.path == "":
		t.path = base.Path()
		if t.query == "" && base.HasQuery() {
			if r.RefuseQuery {
				return URL{}, fail(CodeQuery, 0, "", "the base has a query, which is not allowed here", "")
			}
			t.query = "?" + base.RawQuery()
		}
	case t.path[0] != '/':
		t.path = mergePath(base.Path(), t.path)
	}
	return r.build("", base.Scheme(), base.Host(), base.Port(), t)
}

// mergePath resolves the canonical relative path ref against the directory of base (RFC 3986,
// sections 5.2.3 and 5.2.4).
func mergePath(base, ref string) string {
	out := []byte(base[:strings.LastIndexByte(base, '/')+1]) // ends with "/" wherever a segment is due
	for i := 0; i < len(ref); {
		segment, _, inner := strings.Cut(ref[i:], "/")
		switch segment {
		case ".":
		case "..":
			if len(out) > len("/") {
				out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
			}
		default:
			out = append(out, segment...)
			if inner {
				out = append(out, '/')
			}
		}
		i += len(segment) + 1
	}
	return string(out)
}
