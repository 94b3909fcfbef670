package modelsig

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"strings"
)

// sigstoreArc is the arc of the extensions of a certificate that Sigstore's authority issued.
const sigstoreArc = "1.3.6.1.4.1.57264.1."

// identity reports whether the signer is a Sigstore identity. Bundles before version 0.3 put its
// certificate into a chain.
func (b *bundle) identity() bool {
	leaf := b.leaf()
	return b.Material.Certificate != nil || leaf != nil && slices.ContainsFunc(leaf.Extensions, func(e pkix.Extension) bool {
		return strings.HasPrefix(e.Id.String(), sigstoreArc)
	})
}

// leaf returns the certificate of the signer, or nil if there is none that can be read.
func (b *bundle) leaf() *x509.Certificate {
	var der []byte
	switch m := b.Material; {
	case m.Certificate != nil:
		der = m.Certificate.RawBytes
	case m.Chain != nil && len(m.Chain.Certificates) > 0:
		der = m.Chain.Certificates[0].RawBytes
	}
	leaf, _ := x509.ParseCertificate(der)
	return leaf
}

// claimedIdentity returns, for a message, whose identity the certificate claims to be.
func (b *bundle) claimedIdentity() string {
	if leaf := b.leaf(); leaf != nil {
		if names := alternativeNames(leaf); len(names) > 0 {
			return " (it claims to be " + shown(names[0]) + ")"
		}
	}
	return ""
}
