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
	codeInsecureScheme     lookleap.Code = "insecure-scheme"
	codePortNotSpecified   lookleap.Code = "port-not-specified"
	codeBadEntry           lookleap.Code = "bad-entry"
	codeBadRegistry        lookleap.Code = "bad-registry"
	codeUnregisteredName   lookleap.Code = "unregistered-name"
	codeGenericName        lookleap.Code = "generic-name"
	CodeExtraPath          lookleap.Code = "extra-path"
	CodeAbsent             lookleap.Code = "absent"
	CodeProbeRate          lookleap.Code = "probe-rate"
)

// newError returns an error about a name, a URL, a registration or a file.
func newError(code lookleap.Code, subject, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Message: message, Fix: fix}
}
