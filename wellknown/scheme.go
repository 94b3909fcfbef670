package wellknown

import "strings"

// schemes is the column "Well-Known URI Support" of the registry of URI schemes
// as section 5.2 defines it. A scheme that is not in it has no support.
var schemes = map[string]struct {
	reference string
	port      uint16
}{
	"coap":      {"RFC7252", 5683},
	"coap+tcp":  {"RFC8323", 5683},
	"coap+ws":   {"RFC8323", 80},
	"coaps":     {"RFC7252", 5684},
	"coaps+tcp": {"RFC8323", 5684},
	"coaps+ws":  {"RFC8323", 443},
	"http":      {"RFC8615", 80},
	"https":     {"RFC8615", 443},
	"ws":        {"RFC8307", 80},
	"wss":       {"RFC8307", 443},
}

// SchemeSupported reports whether well-known URIs are defined for a scheme, in
// any letter case, and by which document (section 5.2).
func SchemeSupported(scheme string) (reference string, ok bool) {
	s, ok := schemes[strings.ToLower(scheme)]
	return s.reference, ok
}

// supportedSchemes is what the URL parser accepts.
var supportedSchemes = func() []string {
	names := make([]string, 0, len(schemes))
	for name := range schemes {
		names = append(names, name)
	}
	return names
}()
