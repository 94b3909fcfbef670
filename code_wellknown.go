package lookleap

// Codes of RFC 8615.
const (
	CodeBadName             Code = "bad-name"
	CodeNotWellKnown        Code = "not-well-known"
	CodeSchemeUnsupported   Code = "scheme-unsupported"
	CodeSchemeNotFetchable  Code = "scheme-not-fetchable"
	CodeInsecureScheme      Code = "insecure-scheme"
	CodePortNotSpecified    Code = "port-not-specified"
	CodeBadEntry            Code = "bad-entry"
	CodeBadRegistry         Code = "bad-registry"
	CodeUnregisteredName    Code = "unregistered-name"
	CodeGenericName         Code = "generic-name"
	CodeExtraPath           Code = "extra-path"
	CodeSoft404             Code = "soft-404"
	CodeRedirectCrossOrigin Code = "redirect-cross-origin"
	CodeAbsent              Code = "absent"
	CodeForbidden           Code = "forbidden"
	CodeUnavailable         Code = "unavailable"
	CodeProbeRate           Code = "probe-rate"
)

var wellknownCodes = map[Code]string{
	CodeNotWellKnown:        "the path does not begin with /.well-known/",
	CodeSchemeUnsupported:   "well-known URIs are not defined for this scheme or name",
	CodeSchemeNotFetchable:  "documents of this scheme are not fetched over HTTP",
	CodeInsecureScheme:      "the origin is plain http",
	CodePortNotSpecified:    "the name does not define this port",
	CodeBadEntry:            "the registry entry is incomplete",
	CodeBadRegistry:         "the registry file is not of the published form",
	CodeUnregisteredName:    "the name is not in the registry",
	CodeGenericName:         "the name is too general for one application",
	CodeExtraPath:           "the name defines no path below itself",
	CodeSoft404:             "a page stands in the place of the document",
	CodeRedirectCrossOrigin: "the redirect leaves the origin",
	CodeAbsent:              "the document does not exist",
	CodeForbidden:           "the server does not show the document",
	CodeUnavailable:         "the server gave no usable answer",
	CodeProbeRate:           "the origin was asked for too many names in a short time",
}
