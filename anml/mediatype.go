package anml

import (
	"mime"
	"strconv"
	"strings"
)

// Accept is the Accept header field of a request for documents: both
// serializations, the preferred one first, and nothing else.
func Accept(preferred Format) string {
	if preferred == JSON {
		return MediaTypeXML + ";q=0.9, " + MediaTypeJSON + ";q=1.0"
	}
	return MediaTypeXML + ", " + MediaTypeJSON + ";q=0.9"
}

// Negotiate picks the serialization for an Accept header field (section 6.3):
// the one with the higher weight, XML when they are equal. False: the field
// accepts neither. An empty field accepts anything.
func Negotiate(accept string) (Format, bool) {
	if strings.TrimSpace(accept) == "" {
		return XML, true
	}
	weights := [2]float64{-1, -1}
	exact := [2]int{}
	for part := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || q < 0 || q > 1 {
				q = 0
			}
		}
		for f := XML; f <= JSON; f++ {
			match := 0
			switch mediaType {
			case f.MediaType():
				match = 3
			case "application/*":
				match = 2
			case "*/*":
				match = 1
			}
			if match > exact[f] {
				exact[f], weights[f] = match, q
			}
		}
	}
	best := XML
	if weights[JSON] > weights[XML] {
		best = JSON
	}
	return best, weights[best] > 0
}
