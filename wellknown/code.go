package wellknown

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Codes about well-known URIs, the registry of their names, and reading the documents.
const (
	CodeNotWellKnown       lookleap.Code = "not-well-known"
	CodeSchemeUnsupported  lookleap.Code = "scheme-unsupported"
	CodeSchemeNotFetchable lookleap.Code = "scheme-not-fetchable"
	CodeInsecureScheme     lookleap.Code = "insecure-scheme"
	CodePortNotSpecified   lookleap.Code = "port-not-specified"
	CodeBadEntry           lookleap.Code = "bad-entry"
	CodeBadRegistry        lookleap.Code = "bad-registry"
	CodeUnregisteredName   lookleap.Code = "unregistered-name"
	CodeGenericName        lookleap.Code = "generic-name"
	CodeExtraPath          lookleap.Code = "extra-path"
	CodeAbsent             lookleap.Code = "absent"
	CodeProbeRate          lookleap.Code = "probe-rate"
)

// newError returns an error about a name, a URL, a registration or a file.
func newError(code lookleap.Code, subject, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Message: message, Fix: fix}
}
