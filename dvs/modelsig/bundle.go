package modelsig

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Bounds of a bundle.
const (
	maxBundle       = 4 << 20 // bytes
	maxCertificates = 8       // of a chain
	maxCertificate  = 16 << 10
)

// The types of the format.
const (
	mediaType   = "application/vnd.dev.sigstore.bundle.v0.3+json"
	payloadType = "application/vnd.in-toto+json"
)

// Find returns the names of the files that are signature bundles, sorted: JSON files directly in
// the skill's directory whose names end in ".sig", such as skill.oms.sig. The keys of files are
// paths below that directory. Find does not read the bundles, so a damaged one is found too.
//
// A skill without a bundle is unsigned. Anyone who can change its files can make it so.
func Find(files map[string][]byte) []string {
	var names []string
	for name, data := range files {
		if strings.HasSuffix(name, ".sig") && !strings.Contains(name, "/") &&
			bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// bundle is a Sigstore bundle, version 0.3, as far as OMS uses it. Nothing in it is signed except
// the payload.
type bundle struct {
	MediaType string   `json:"mediaType"`
	Material  material `json:"verificationMaterial"`
	Envelope  envelope `json:"dsseEnvelope"`
}

// material says with what the signature is verified: exactly one of the first three.
type material struct {
	PublicKey   *publicKey     `json:"publicKey"`
	Chain       *chain         `json:"x509CertificateChain"`
	Certificate *certificate   `json:"certificate"` // of a Sigstore identity
	LogEntries  jsontext.Value `json:"tlogEntries"`
	TimeStamps  jsontext.Value `json:"timestampVerificationData"`
}

type publicKey struct {
	Hint       *string `json:"hint"`       // fingerprint of the key, in hex
	RawBytes   []byte  `json:"rawBytes"`   // the key, in bundles before OMS 1.1
	KeyDetails string  `json:"keyDetails"` // says what RawBytes says
}

type chain struct {
	Certificates []certificate `json:"certificates"`
}

type certificate struct {
	RawBytes []byte `json:"rawBytes"` // DER
}

// envelope is a DSSE envelope.
type envelope struct {
	Payload     []byte `json:"payload"`
	PayloadType string `json:"payloadType"`
	Signatures  []struct {
		Signature []byte  `json:"sig"`
		KeyID     *string `json:"keyid"` // not used by OMS
	} `json:"signatures"`
}

// parseBundle reads a bundle and checks its form. It refuses members that it does not know:
// nothing signs them.
func parseBundle(data []byte) (*bundle, error) {
	if len(data) > maxBundle {
		return nil, refuse(lookleap.CodeTooLarge, fmt.Sprintf("the signature bundle is larger than %d bytes", maxBundle), fixPublisher)
	}
	b := &bundle{}
	if err := strictjson.Decode(data, b); err != nil {
		return nil, badJSON(CodeBadBundle, err)
	}
	if b.identity() {
		return nil, refuse(CodeSigstoreIdentity, "the signer is a Sigstore identity"+b.claimedIdentity()+
			", which only its transparency log can prove; that cannot be checked here",
			"verify it with cosign or model_signing, or ask the publisher for a signature with a certificate or a key")
	}
	bad := func(message string) (*bundle, error) { return nil, refuse(CodeBadBundle, message, fixPublisher) }
	switch m := b.Material; {
	case b.MediaType != mediaType:
		return bad("the media type is " + shown(b.MediaType) + " instead of " + mediaType)
	case (m.PublicKey == nil) == (m.Chain == nil):
		return bad("the bundle does not name either a key or a chain of certificates")
	case m.Chain != nil && len(m.Chain.Certificates) == 0:
		return bad("the chain has no certificate")
	case m.Chain != nil && len(m.Chain.Certificates) > maxCertificates:
		return nil, refuse(lookleap.CodeLimit, fmt.Sprintf("the chain has more than %d certificates", maxCertificates), fixPublisher)
	case !empty(m.LogEntries) || !empty(m.TimeStamps):
		return nil, refuse(CodeUnsupportedSignature, "the bundle has log entries or time stamps, which cannot be checked here", fixPublisher)
	case b.Envelope.PayloadType != payloadType:
		return bad("the type of the payload is " + shown(b.Envelope.PayloadType) + " instead of " + payloadType)
	case len(b.Envelope.Signatures) != 1:
		return bad(fmt.Sprintf("the envelope has %d signatures instead of one", len(b.Envelope.Signatures)))
	}
	if id := b.Envelope.Signatures[0].KeyID; id != nil && *id != "" {
		return bad("the signature has a keyid, which this format does not use")
	}
	return b, nil
}

// empty reports whether a member is absent or has no content.
func empty(member jsontext.Value) bool {
	return slices.Contains([]string{"", "null", "[]", "{}"}, strings.Join(strings.Fields(string(member)), ""))
}

// signedBytes returns what the signature of an envelope signs: the pre-authentication encoding of
// DSSE 1.0. The module for DSSE that others use needs an SSH library for its key names.
func (e *envelope) signedBytes() []byte {
	head := fmt.Sprintf("DSSEv1 %d %s %d ", len(e.PayloadType), e.PayloadType, len(e.Payload))
	return append([]byte(head), e.Payload...)
}
