// Package signtest signs the files of skills for tests, as publishers do with OpenSSF Model Signing. Only
// tests import it; those of package modelsig make their bundles themselves, since most are malformed.
package signtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"
)

// File is the name of the signature.
const File = "skill.oms.sig"

// Signer signs with a certificate of its own, which is valid for ten years from 2020.
type Signer struct {
	t    testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// New makes a signer. Its certificate is its own root.
func New(t testing.TB, name string) *Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Signer{t, key, cert}
}

// Fingerprint is the one of the root.
func (s *Signer) Fingerprint() string {
	sum := sha256.Sum256(s.cert.Raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// PEM is the certificate.
func (s *Signer) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert.Raw}))
}

// Sign returns the bundle for files by their paths.
func (s *Signer) Sign(files map[string]string) string {
	s.t.Helper()
	type object = map[string]any
	var resources []any
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		all.Write(sum[:])
		resources = append(resources, object{"name": name, "algorithm": "sha256", "digest": hex.EncodeToString(sum[:])})
	}
	const kind = "application/vnd.in-toto+json"
	payload := s.encode(object{"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://model_signing/signature/v1.0",
		"subject": []any{object{"name": "skill", "digest": object{"sha256": hex.EncodeToString(all.Sum(nil))}}},
		"predicate": object{"resources": resources, "serialization": object{"method": "files", "hash_type": "sha256", "allow_symlinks": false,
			"ignore_paths": []any{".git", ".gitignore", ".gitattributes", ".github"}}}})
	digest := sha256.Sum256(fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload))
	signature, err := ecdsa.SignASN1(rand.Reader, s.key, digest[:])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(s.encode(object{"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": object{"x509CertificateChain": object{"certificates": []any{object{"rawBytes": s.cert.Raw}}}, "tlogEntries": []any{}},
		"dsseEnvelope":         object{"payload": payload, "payloadType": kind, "signatures": []any{object{"sig": signature, "keyid": ""}}}}))
}

func (s *Signer) encode(value any) []byte {
	s.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}
