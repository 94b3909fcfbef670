package modelsig

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// signer is what a bundle says about its signer, checked as far as it goes without the signature.
type signer struct {
	key     *ecdsa.PublicKey
	chain   []*x509.Certificate // leaf first; nil for a key
	trusted bool
}

// signer returns the signer of a bundle at a time.
func (b *bundle) signer(trust Trust, now time.Time) (*signer, error) {
	if b.Material.Chain != nil {
		return chainSigner(b.Material.Chain.Certificates, trust.roots, now)
	}
	return keySigner(b.Material.PublicKey, trust.keys)
}

// keySigner finds the key that a bundle names or holds.
func keySigner(written *publicKey, trusted []*ecdsa.PublicKey) (*signer, error) {
	var key *ecdsa.PublicKey
	if len(written.RawBytes) > 0 {
		der := written.RawBytes
		if block, _ := pem.Decode(der); block != nil {
			der = block.Bytes
		}
		public, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, refuse(CodeBadBundle, "the public key of the bundle cannot be read", fixPublisher)
		}
		if key, err = supported(public); err != nil {
			return nil, err
		}
	}
	isNamed := func(key *ecdsa.PublicKey) bool {
		return written.Hint == nil || slices.Contains(hints(key), *written.Hint)
	}
	if key == nil && written.Hint != nil {
		i := slices.IndexFunc(trusted, isNamed)
		if i < 0 {
			return nil, refuse(CodeUnknownKey, "the bundle only names its key, "+shown(*written.Hint)+", and that key is not trusted here",
				"get the publisher's public key and add it to the trusted keys")
		}
		key = trusted[i]
	}
	if key == nil || !isNamed(key) {
		return nil, refuse(CodeBadBundle, "the bundle does not name a key, or names another one than it holds", fixPublisher)
	}
	return &signer{key: key, trusted: slices.ContainsFunc(trusted, func(k *ecdsa.PublicKey) bool { return k.Equal(key) })}, nil
}

// hints returns the names that a bundle may use for a key. The format does not say what its
// fingerprint is of: the reference implementation hashes the PEM text, others hash the DER.
func hints(key *ecdsa.PublicKey) []string {
	der := publicDER(key)
	ofDER, ofPEM := sha256.Sum256(der), sha256.Sum256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	return []string{hex.EncodeToString(ofPEM[:]), hex.EncodeToString(ofDER[:])}
}

// publicDER returns the SubjectPublicKeyInfo of a supported key.
func publicDER(key *ecdsa.PublicKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err) // a supported key has a form
	}
	return der
}

// chainSigner builds the chain of a signer, to a trusted root or else to the last certificate of
// the bundle, and checks it at a time.
func chainSigner(written []certificate, roots []*x509.Certificate, now time.Time) (*signer, error) {
	var all []*x509.Certificate
	for _, c := range written {
		if len(c.RawBytes) > maxCertificate {
			return nil, refuse(lookleap.CodeLimit, fmt.Sprintf("a certificate is larger than %d bytes", maxCertificate), fixPublisher)
		}
		parsed, err := x509.ParseCertificate(c.RawBytes)
		if err != nil {
			return nil, refuse(CodeBadBundle, "a certificate of the bundle cannot be read", fixPublisher)
		}
		all = append(all, parsed)
	}
	leaf := all[0]
	key, err := supported(leaf.PublicKey)
	if err != nil {
		return nil, err
	}
	options := x509.VerifyOptions{Intermediates: poolOf(all[1:]), CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}
	for _, anchors := range [][]*x509.Certificate{roots, all[len(all)-1:]} {
		options.Roots = poolOf(anchors)
		var chains [][]*x509.Certificate
		if chains, err = leaf.Verify(options); err == nil {
			if err := usage(leaf); err != nil {
				return nil, err
			}
			// The shortest chain: certificates that the bundle adds cannot make another one of it.
			chain := slices.MinFunc(chains, func(a, b []*x509.Certificate) int { return cmp.Compare(len(a), len(b)) })
			return &signer{key: key, chain: chain, trusted: slices.ContainsFunc(roots, chain[len(chain)-1].Equal)}, nil
		}
	}
	return nil, chainError(err, all, now)
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// chainError says why a chain is refused. The x509 package does not always say which certificate
// has expired.
func chainError(err error, all []*x509.Certificate, now time.Time) error {
	for _, c := range all {
		name := shown(c.Subject.String())
		switch {
		case now.After(c.NotAfter):
			return refuse(CodeSignerExpired, "the certificate of "+name+" expired at "+c.NotAfter.UTC().Format(time.RFC3339), fixPublisher)
		case now.Before(c.NotBefore):
			return refuse(CodeSignerNotYetValid, "the certificate of "+name+" is not valid before "+c.NotBefore.UTC().Format(time.RFC3339),
				"check the clock of this machine")
		}
	}
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage {
		return usageError()
	}
	return &lookleap.Error{Code: CodeBadChain, Message: "the certificates of the bundle do not form a valid chain", Fix: fixPublisher, Err: err}
}

// usage refuses the certificate of a signer that its authority did not issue for signatures of
// code. As in the reference implementation, one without an extended usage needs the usage for
// digital signatures; unlike there, a certificate for another purpose is refused even with it.
func usage(leaf *x509.Certificate) error {
	if leaf.KeyUsage&x509.KeyUsageDigitalSignature == 0 && (leaf.KeyUsage != 0 || len(leaf.ExtKeyUsage) == 0) {
		return usageError()
	}
	return nil
}

func usageError() error {
	return refuse(CodeSignerUsage, "the certificate of the signer is not for signing code", fixPublisher)
}

// supported returns a key whose signatures are checked: ECDSA with the curve P-256, P-384 or P-521.
func supported(public any) (*ecdsa.PublicKey, error) {
	key, ok := public.(*ecdsa.PublicKey)
	if !ok || !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
		return nil, refuse(CodeUnsupportedSignature, "the key of the signer is not an ECDSA key with the curve P-256, P-384 or P-521", fixPublisher)
	}
	return key, nil
}

// verify reports whether a signature of the signer is valid. The curve alone decides the hash.
func (s *signer) verify(signed, signature []byte) bool {
	var digest []byte
	switch s.key.Curve {
	case elliptic.P256():
		sum := sha256.Sum256(signed)
		digest = sum[:]
	case elliptic.P384():
		sum := sha512.Sum384(signed)
		digest = sum[:]
	case elliptic.P521():
		sum := sha512.Sum512(signed)
		digest = sum[:]
	}
	return digest != nil && ecdsa.VerifyASN1(s.key, digest, signature)
}

// subject returns the names of a certificate as one text in quotation marks, or "" if it has none.
// Different names have different texts.
func subject(c *x509.Certificate) string {
	var names []string
	var rdn pkix.RDNSequence // of the raw form: pkix.Name keeps only the last of two common names
	if rest, err := asn1.Unmarshal(c.RawSubject, &rdn); err == nil && len(rest) == 0 && len(rdn) > 0 {
		names = append(names, rdn.String())
	}
	names = append(names, alternativeNames(c)...)
	for i, name := range names {
		names[i] = plaintext.Quote(name, len(`\u{10FFFF}`)*maxCertificate)
	}
	return strings.Join(names, ", ")
}

// alternativeNames returns the alternative names of a certificate, each with its kind.
func alternativeNames(c *x509.Certificate) (names []string) {
	for _, n := range c.DNSNames {
		names = append(names, "dns:"+n)
	}
	for _, n := range c.EmailAddresses {
		names = append(names, "email:"+n)
	}
	for _, n := range c.URIs {
		names = append(names, "uri:"+n.String())
	}
	return names
}

// fingerprint returns the SHA-256 of the DER of a key or certificate.
func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}

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
