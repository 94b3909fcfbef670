package wellknown

import (
	"strings"

	"github.com/lookleap/lookleap"
)

// CheckName reports whether name can be a well-known name: one non-empty path
// segment of RFC 3986 (section 3), which leaves out slashes, also encoded ones,
// and the dot segments, which a reader would remove. Names are compared letter
// by letter. Every error is an [*Error] with the code bad-name.
func CheckName(name string) error {
	bad := func(reason, fix string) error {
		return &Error{Code: lookleap.CodeBadName, Input: name, Reason: reason, Fix: fix}
	}
	switch name {
	case "":
		return bad("the name is empty", "name a registered suffix")
	case ".", "..":
		return bad("a dot segment is removed from every path", "name a registered suffix")
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '%':
			if i+2 >= len(name) || !isHex(name[i+1]) || !isHex(name[i+2]) {
				return bad("a percent sign is not followed by two hex digits", "write %25 for a percent sign")
			}
			switch strings.ToUpper(name[i+1 : i+3]) {
			case "2F", "5C", "2E":
				return bad("an encoded slash, backslash or dot is read differently by different servers", "use another name")
			}
			i += 2
		case !isPchar(c):
			return bad("a character is not allowed in a path segment", "encode it as UTF-8 and percent signs")
		}
	}
	return nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isPchar is the rule pchar of RFC 3986 without its percent-encoding.
func isPchar(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

// generic are words too general for a name: another application might mean
// something else by each (section 3).
var generic = map[string]bool{
	"agent": true, "agents": true, "ai": true, "api": true, "app": true, "config": true, "configuration": true, "data": true,
	"discovery": true, "index": true, "info": true, "manifest": true, "metadata": true, "policy": true, "service": true,
	"services": true, "settings": true, "site": true, "skills": true, "status": true, "trust": true, "version": true,
}
