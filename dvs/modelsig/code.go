package modelsig

import (
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Codes of signatures in a skill's directory.
const (
	CodeNoSignature          lookleap.Code = "no-signature"
	CodeBadBundle            lookleap.Code = "bad-signature-bundle"
	CodeBadStatement         lookleap.Code = "bad-signed-statement"
	CodeUnsupportedSignature lookleap.Code = "unsupported-signature"
	CodeSigstoreIdentity     lookleap.Code = "sigstore-identity"
	CodeBadSignature         lookleap.Code = "bad-signature"
	CodeUnknownKey           lookleap.Code = "signer-unknown-key"
	CodeBadChain             lookleap.Code = "signer-bad-chain"
	CodeSignerUsage          lookleap.Code = "signer-usage"
	CodeSignerExpired        lookleap.Code = "signer-expired"
	CodeSignerNotYetValid    lookleap.Code = "signer-not-yet-valid"
	CodeFileChanged          lookleap.Code = "signed-file-changed"
	CodeFileMissing          lookleap.Code = "signed-file-missing"
	CodeFileNotSigned        lookleap.Code = "file-not-signed"
)

// maxShown bounds a name of others in a message, in characters.
const maxShown = 200

func shown(text string) string { return plaintext.Quote(text, maxShown) }

// fixPublisher is the fix where only the publisher can help.
const fixPublisher = "ask the publisher for a new signature"

func refuse(code lookleap.Code, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: message, Fix: fix}
}

// about sets the file that an error of this package is about.
func about(file string, err error) error {
	var e *lookleap.Error
	if errors.As(err, &e) && e.Subject == "" {
		e.Subject = domain.Redact(file)
	}
	return err
}

// badJSON returns an error for JSON that package strictjson refuses.
func badJSON(code lookleap.Code, err error) *lookleap.Error {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return &lookleap.Error{Code: code, Err: err, Fix: fixPublisher}
	}
	return &lookleap.Error{Code: code, Message: e.Message, Fix: fixPublisher,
		Position: lookleap.Position(e.Place())}
}
