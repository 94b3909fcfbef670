package anml

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of section 16.1 and the usual file extensions.
const (
	MediaTypeXML   = "application/anml+xml"
	MediaTypeJSON  = "application/anml+json"
	MediaTypeTrust = "application/anml-trust+json" // a trust manifest, not a document

	ExtensionXML  = ".anml"
	ExtensionJSON = ".anml.json"
)

// Format is one of the two serializations of a document.
type Format uint8

const (
	XML Format = iota
	JSON
)

// String returns "XML" or "JSON".
func (f Format) String() string {
	if f == JSON {
		return "JSON"
	}
	return "XML"
}

// MediaType returns the media type of the serialization.
func (f Format) MediaType() string {
	if f == JSON {
		return MediaTypeJSON
	}
	return MediaTypeXML
}

// Support says which documents a package reads and writes. [Capabilities] returns it.
type Support struct {
	Version        string   `json:"version"`        // of ANML
	Serializations []string `json:"serializations"` // media types, the preferred one first
}

// Capabilities returns what this package supports (section 7): ANML 1.0 in both serializations.
func Capabilities() Support {
	return Support{Version, []string{XML.MediaType(), JSON.MediaType()}}
}

// FormatOf returns the serialization that a Content-Type names, and false for other media
// types. Case and parameters do not matter.
func FormatOf(contentType string) (Format, bool) {
	format, _, ok := matchMediaType(contentType, false)
	return format, ok
}

// matchMediaType is FormatOf that returns the parameters too. If generic is set, it accepts
// the general media types of XML and JSON.
func matchMediaType(contentType string, generic bool) (f Format, params map[string]string, ok bool) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, nil, false
	}
	switch mediaType {
	case MediaTypeXML:
		return XML, params, true
	case MediaTypeJSON:
		return JSON, params, true
	case "application/xml", "text/xml":
		return XML, params, generic
	case "application/json":
		return JSON, params, generic
	}
	return 0, nil, false
}

// Accept returns the Accept header field for requesting documents: both serializations, the
// preferred one with the higher weight.
func Accept(preferred Format) string {
	if preferred == JSON {
		return MediaTypeXML + ";q=0.9, " + MediaTypeJSON + ";q=1.0"
	}
	return MediaTypeXML + ", " + MediaTypeJSON + ";q=0.9"
}

// Negotiate returns the serialization that an Accept header field prefers (section 6.3), and
// XML if both have the same weight. It returns false if the field accepts neither. An empty
// field accepts both.
func Negotiate(accept string) (Format, bool) {
	if strings.TrimSpace(accept) == "" {
		return XML, true
	}
	var weights [2]float64
	var specificity [2]int // of the media range that set the weight
	for part := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			q, _ = strconv.ParseFloat(text, 64) // 0 if it is not a number
			if !(q >= 0 && q <= 1) {            // also NaN
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
			if match > specificity[f] {
				specificity[f], weights[f] = match, q
			}
		}
	}
	best := XML
	if weights[JSON] > weights[XML] {
		best = JSON
	}
	return best, weights[best] > 0
}
