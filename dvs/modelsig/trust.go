package modelsig

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"

	"github.com/lookleap/lookleap"
)

// Trust holds the roots and keys that the caller accepts as those of known signers. The zero Trust
// has none. It is safe for concurrent use.
type Trust struct {
	roots []*x509.Certificate
	keys  []*ecdsa.PublicKey
}

// ParseTrust reads PEM blocks of the types CERTIFICATE, for a root, and PUBLIC KEY, for a key of a
// signer. Text outside the blocks is a comment. Any other or malformed block and a key that is not
// supported are errors.
//
// Every signer to which a root's authority issues a certificate for signing code is trusted, so
// use the root that a publisher runs for its own skills, and not one of a public authority.
func ParseTrust(data []byte) (Trust, error) {
	var trust Trust
	bad := func(message string) (Trust, error) {
		return Trust{}, refuse(lookleap.CodeUsage, message, "write PEM blocks of the types CERTIFICATE and PUBLIC KEY")
	}
	blocks := 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		blocks++
		switch block.Type {
		case "CERTIFICATE":
			root, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return bad("a certificate cannot be read")
			}
			trust.roots = append(trust.roots, root)
		case "PUBLIC KEY":
			public, err := x509.ParsePKIXPublicKey(block.Bytes)
			if err != nil {
				return bad("a public key cannot be read")
			}
			key, err := supported(public)
			if err != nil {
				return Trust{}, err
			}
			trust.keys = append(trust.keys, key)
		default:
			return bad("a PEM block has the type " + shown(block.Type))
		}
	}
	if begun := bytes.Count(data, []byte("-----BEGIN ")); blocks == 0 || blocks != begun { // Decode skips malformed ones
		return bad("there is no PEM block, or one is malformed")
	}
	return trust, nil
}
