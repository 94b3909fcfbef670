package modelsig_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // of hashes by their numbers
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs/modelsig"
)

// now is when the tests verify. The certificates are valid for a year from the day before.
var now = time.Date(2026, 6, 2, 12, 0, 0, 0, time.UTC)

const sigFile = "skill.oms.sig"

// skill returns the files of a small skill.
func skill() map[string][]byte {
	return map[string][]byte{
		"SKILL.md":       []byte("---\nname: refund\ndescription: Refunds an order.\n---\nRun scripts/run.sh.\n"),
		"scripts/run.sh": []byte("#!/bin/sh\necho done\n"),
		"data/empty.csv": {},
	}
}

// party is a signer or an authority.
type party struct {
	key  crypto.Signer
	cert *x509.Certificate
	up   *party // the authority that issued cert; nil: itself
}

func newKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a party with a certificate of this authority. The authority nil makes a root.
func (up *party) issue(t testing.TB, name string, key crypto.Signer, edit func(c *x509.Certificate)) *party {
	t.Helper()
	if key == nil {
		key = newKey(t, elliptic.P256())
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name, Organization: []string{"Example"}},
		NotBefore:    now.AddDate(0, 0, -1), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if edit != nil {
		edit(template)
	}
	p := &party{key: key, up: up}
	parent, by := template, key
	if up != nil {
		parent, by = up.cert, up.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err == nil {
		p.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func authority(c *x509.Certificate) {
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
}

// publisher returns a signer below an intermediate authority below a root.
func publisher(t testing.TB, edit func(c *x509.Certificate)) *party {
	t.Helper()
	root := (*party)(nil).issue(t, "Root of example.com", newKey(t, elliptic.P384()), authority)
	return root.issue(t, "Authority of example.com", nil, authority).issue(t, "Skills of example.com", nil, edit)
}

// chain returns the certificates from the party to its root.
func (p *party) chain() (all []*x509.Certificate) {
	for ; p != nil; p = p.up {
		all = append(all, p.cert)
	}
	return all
}

func (p *party) root() *party {
	for p.up != nil {
		p = p.up
	}
	return p
}

// trust returns a Trust in certificates and public keys.
func trust(t testing.TB, anchors ...any) modelsig.Trust {
	t.Helper()
	trust, err := modelsig.ParseTrust(pems(t, anchors...))
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func pems(t testing.TB, anchors ...any) (text []byte) {
	t.Helper()
	for _, anchor := range anchors {
		if c, ok := anchor.(*x509.Certificate); ok {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
		} else {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der(t, anchor)})...)
		}
	}
	return text
}

func der(t testing.TB, public any) []byte {
	t.Helper()
	data, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func hexDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

type object = map[string]any

// edits change a bundle while it is made.
type edits struct {
	statement func(s object)                // before it is signed
	payload   func(p []byte) []byte         // before it is signed
	sign      func(pae []byte) []byte       // instead of the party's signature
	bundle    func(b object)                // after it is signed
	text      func(b []byte) []byte         // after it is signed
	material  func(p *party) object         // instead of the party's chain
	files     func(files map[string][]byte) // after they are signed
}

// keyMaterial names the party's key as OMS 1.1 does.
func keyMaterial(t testing.TB) func(p *party) object {
	return func(p *party) object { return object{"publicKey": object{"hint": hexDigest(pems(t, p.key.Public()))}} }
}

// resources lists files as a signer does.
func resources(files map[string][]byte) (list []any) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		list = append(list, object{"name": name, "algorithm": "sha256", "digest": hexDigest(files[name])})
	}
	return list
}

// total returns the digest of the subject for a list of resources.
func total(list []any) string {
	var all []byte
	for _, r := range list {
		if resource, ok := r.(object); ok {
			decoded, _ := hex.DecodeString(resource["digest"].(string))
			all = append(all, decoded...)
		}
	}
	return hexDigest(all)
}

// signed returns the files with a bundle of the party.
func signed(t testing.TB, p *party, files map[string][]byte, e edits) map[string][]byte {
	t.Helper()
	list := resources(files)
	predicate := object{"resources": list, "serialization": object{
		"method": "files", "hash_type": "sha256", "allow_symlinks": false,
		"ignore_paths": []any{".git", ".gitignore", ".gitattributes", ".github"},
	}}
	statement := object{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://model_signing/signature/v1.0",
		"subject": []any{object{"name": "refund", "digest": object{"sha256": total(list)}}}, "predicate": predicate,
	}
	if e.statement != nil {
		e.statement(statement)
	}
	payload := encode(t, statement)
	if e.payload != nil {
		payload = e.payload(payload)
	}
	const kind = "application/vnd.in-toto+json"
	pae := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
	sign := func(pae []byte) []byte { return signature(t, p.key, 0, pae) }
	if e.sign != nil {
		sign = e.sign
	}
	material := func(p *party) object {
		var certificates []any
		for _, c := range p.chain() {
			certificates = append(certificates, object{"rawBytes": c.Raw})
		}
		return object{"x509CertificateChain": object{"certificates": certificates}, "tlogEntries": []any{}}
	}
	if e.material != nil {
		material = e.material
	}
	b := object{
		"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "verificationMaterial": material(p),
		"dsseEnvelope": object{"payload": payload, "payloadType": kind, "signatures": []any{object{"sig": sign(pae), "keyid": ""}}},
	}
	if e.bundle != nil {
		e.bundle(b)
	}
	text := encode(t, b)
	if e.text != nil {
		text = e.text(text)
	}
	files = maps.Clone(files)
	files[sigFile] = text
	if e.files != nil {
		e.files(files)
	}
	return files
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// signature signs with the hash that belongs to the key, or with another one.
func signature(t testing.TB, key crypto.Signer, hash crypto.Hash, data []byte) []byte {
	t.Helper()
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, data)
	case *rsa.PrivateKey:
		hash = crypto.SHA256
	case *ecdsa.PrivateKey:
		if hash == 0 {
			hash = map[int]crypto.Hash{224: crypto.SHA256, 256: crypto.SHA256, 384: crypto.SHA384, 521: crypto.SHA512}[k.Params().BitSize]
		}
	}
	h := hash.New()
	h.Write(data)
	signature, err := key.Sign(rand.Reader, h.Sum(nil), hash)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

// at returns the object at a path of names in a tree.
func at(o object, path ...string) object {
	for _, name := range path {
		o = o[name].(object)
	}
	return o
}

func parseURL(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// wantCode checks the code of an error, and that it says what to do.
func wantCode(t testing.TB, s *modelsig.Signature, err error, want lookleap.Code) {
	t.Helper()
	if s != nil || lookleap.CodeOf(err) != want {
		t.Fatalf("%+v, %v, want the code %s", s, err, want)
	}
	if e, ok := err.(*lookleap.Error); !ok || e.Message == "" || e.Fix == "" || !want.Known() {
		t.Errorf("the error lacks a message, a fix or a title: %#v", err)
	}
}
