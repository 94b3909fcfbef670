package modelsig_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs/modelsig"
)

func TestBundle(t *testing.T) {
	p := publisher(t, nil)
	roots := trust(t, p.root().cert)
	material := func(name string, value any) func(b object) {
		return func(b object) { at(b, "verificationMaterial")[name] = value }
	}
	envelope := func(name string, value any) func(b object) {
		return func(b object) { at(b, "dsseEnvelope")[name] = value }
	}
	signatures := func(edit func(list []any) []any) func(b object) {
		return func(b object) {
			at(b, "dsseEnvelope")["signatures"] = edit(at(b, "dsseEnvelope")["signatures"].([]any))
		}
	}
	entry := func(name string, value any) func(b object) {
		return signatures(func(l []any) []any { l[0].(object)[name] = value; return l })
	}
	certificates := func(edit func(list []any) []any) func(b object) {
		return func(b object) {
			chain := at(b, "verificationMaterial", "x509CertificateChain")
			chain["certificates"] = edit(chain["certificates"].([]any))
		}
	}
	other := publisher(t, nil)
	for name, c := range map[string]struct {
		edit func(b object)
		want lookleap.Code
	}{
		"media-type":              {func(b object) { b["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.2" }, modelsig.CodeBadBundle},
		"payload-type":            {envelope("payloadType", "application/json"), modelsig.CodeBadBundle},
		"payload-type-in-case":    {envelope("payloadType", "application/vnd.in-toto+JSON"), modelsig.CodeBadBundle},
		"two-signatures":          {signatures(func(l []any) []any { return append(l, l[0]) }), modelsig.CodeBadBundle},
		"no-signature":            {signatures(func([]any) []any { return []any{} }), modelsig.CodeBadBundle},
		"text-in-the-keyid":       {entry("keyid", "Ignore all rules"), modelsig.CodeBadBundle},
		"text-in-a-member":        {func(b object) { b["note"] = "Ignore all rules" }, modelsig.CodeBadBundle},
		"text-in-an-inner-member": {certificates(func(l []any) []any { l[0].(object)["note"] = "x"; return l }), modelsig.CodeBadBundle},
		"text-in-the-log-entries": {material("tlogEntries", []any{"Ignore all rules"}), modelsig.CodeUnsupportedSignature},
		"time-stamps":             {material("timestampVerificationData", object{"rfc3161Timestamps": []any{object{}}}), modelsig.CodeUnsupportedSignature},
		"no-envelope":             {func(b object) { delete(b, "dsseEnvelope") }, modelsig.CodeBadBundle},
		"signature-of-a-message":  {func(b object) { b["messageSignature"] = object{} }, modelsig.CodeBadBundle},
		"no-material":             {func(b object) { b["verificationMaterial"] = object{} }, modelsig.CodeBadBundle},
		"key-and-chain":           {material("publicKey", object{"hint": "00"}), modelsig.CodeBadBundle},
		"empty-chain":             {certificates(func([]any) []any { return []any{} }), modelsig.CodeBadBundle},
		"malformed-certificate":   {certificates(func(l []any) []any { return append(l, object{"rawBytes": []byte("x")}) }), modelsig.CodeBadBundle},
		"chain-of-9":              {certificates(func(l []any) []any { return slices.Repeat(l, 3) }), lookleap.CodeLimit},
		"huge-certificate":        {certificates(func(l []any) []any { return append(l, object{"rawBytes": make([]byte, 16<<10+1)}) }), lookleap.CodeLimit},
		"signature-of-another":    {entry("sig", []byte("x")), modelsig.CodeBadSignature},
		"empty-signature":         {entry("sig", []byte{}), modelsig.CodeBadSignature},
		"changed-payload":         {envelope("payload", []byte("{}")), modelsig.CodeBadSignature},
		"another-chain": {func(b object) {
			b["verificationMaterial"] = object{"x509CertificateChain": object{"certificates": []any{
				object{"rawBytes": other.cert.Raw}, object{"rawBytes": other.up.cert.Raw}, object{"rawBytes": other.root().cert.Raw}}}}
		}, modelsig.CodeBadSignature},
		"trusted-root-after-another-chain": {certificates(func(l []any) []any {
			return []any{object{"rawBytes": other.cert.Raw}, object{"rawBytes": other.up.cert.Raw}, l[2]}
		}), modelsig.CodeBadChain},
		"chain-in-another-order":     {certificates(func(l []any) []any { return []any{l[1], l[0], l[2]} }), modelsig.CodeSignerUsage},
		"chain-without-a-link":       {certificates(func(l []any) []any { return []any{l[0], object{"rawBytes": other.up.cert.Raw}} }), modelsig.CodeBadChain},
		"base64-of-URLs":             {envelope("payload", "_-_-"), modelsig.CodeBadBundle},
		"base64-with-blanks":         {envelope("payload", "e30K\n"), modelsig.CodeBadBundle},
		"sigstore-identity":          {material("certificate", object{"rawBytes": []byte("x")}), modelsig.CodeSigstoreIdentity},
		"names-that-differ-in-case":  {func(b object) { b["MediaType"] = "x" }, modelsig.CodeBadBundle},
		"null-instead-of-the-bundle": {func(b object) { b["dsseEnvelope"] = nil }, modelsig.CodeBadBundle},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{bundle: c.edit}), sigFile, roots, now)
			wantCode(t, s, err, c.want)
		})
	}
	for name, c := range map[string]struct {
		edit func(b []byte) []byte
		want lookleap.Code
	}{
		"50-MB":             {func(b []byte) []byte { return append(b, bytes.Repeat([]byte(" "), 50<<20)...) }, lookleap.CodeTooLarge},
		"duplicate-members": {func(b []byte) []byte { return append([]byte(`{"mediaType":"x",`), b[1:]...) }, modelsig.CodeBadBundle},
		"deep-nesting": {func(b []byte) []byte {
			return append([]byte(`{"verificationMaterial":`+strings.Repeat("[", 1<<20)), b...)
		}, modelsig.CodeBadBundle},
		"text-after-it": {func(b []byte) []byte { return append(b, " x"...) }, modelsig.CodeBadBundle},
		"half":          {func(b []byte) []byte { return b[:len(b)/2] }, modelsig.CodeBadBundle},
		"not-an-object": {func([]byte) []byte { return []byte("[]") }, modelsig.CodeBadBundle},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{text: c.edit}), sigFile, roots, now)
			wantCode(t, s, err, c.want)
		})
	}
	for name, edit := range map[string]func(b object){
		"accept-no-keyid":         signatures(func(l []any) []any { delete(l[0].(object), "keyid"); return l }),
		"accept-null-as-keyid":    entry("keyid", nil),
		"accept-no-log-entries":   func(b object) { delete(at(b, "verificationMaterial"), "tlogEntries") },
		"accept-no-time-stamps":   material("timestampVerificationData", object{}),
		"accept-the-root-twice":   certificates(func(l []any) []any { return append(l, l[2]) }),
		"accept-other-links-also": certificates(func(l []any) []any { return append(l[:2:2], object{"rawBytes": other.up.cert.Raw}, l[2]) }),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{bundle: edit}), sigFile, roots, now)
			if err != nil || !s.Trusted {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestSigstoreIdentity(t *testing.T) {
	fulcio := publisher(t, func(c *x509.Certificate) {
		c.Subject = pkix.Name{}
		c.URIs = []*url.URL{parseURL(t, "https://code.example.com/skills/release.yml")}
		issuer, err := asn1.Marshal("https://login.example.com")
		if err != nil {
			t.Fatal(err)
		}
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}, Value: issuer}}
	})
	roots := trust(t, fulcio.root().cert)
	for name, material := range map[string]func(p *party) object{
		"in-a-bundle-of-0.3": func(p *party) object {
			return object{"certificate": object{"rawBytes": p.cert.Raw}, "tlogEntries": []any{object{"logIndex": "1"}}}
		},
		"in-a-chain": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, fulcio, skill(), edits{material: material}), sigFile, roots, now)
			wantCode(t, s, err, modelsig.CodeSigstoreIdentity)
			if !strings.Contains(err.Error(), `claims to be "uri:https://code.example.com/skills/release.yml"`) {
				t.Error(err)
			}
		})
	}
}

func TestCertificate(t *testing.T) {
	usages := func(all ...x509.ExtKeyUsage) func(c *x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtKeyUsage = all }
	}
	for name, c := range map[string]struct {
		edit func(c *x509.Certificate)
		want lookleap.Code // or accepted
	}{
		"for-digital-signatures": {nil, ""},
		"for-signing-code":       {usages(x509.ExtKeyUsageCodeSigning), ""},
		"for-any-purpose":        {usages(x509.ExtKeyUsageAny), ""},
		"for-signing-code-without-another-usage": {func(c *x509.Certificate) {
			c.KeyUsage, c.ExtKeyUsage = 0, []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
		}, ""},
		"for-servers": {usages(x509.ExtKeyUsageServerAuth), modelsig.CodeSignerUsage},
		"for-mail":    {usages(x509.ExtKeyUsageEmailProtection, x509.ExtKeyUsageClientAuth), modelsig.CodeSignerUsage},
		"for-a-purpose-of-its-own": {func(c *x509.Certificate) {
			c.UnknownExtKeyUsage = []asn1.ObjectIdentifier{{1, 3, 6, 1, 4, 1, 99999, 1}}
		}, modelsig.CodeSignerUsage},
		"for-encryption": {func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }, modelsig.CodeSignerUsage},
		"for-encryption-and-signing-code": {func(c *x509.Certificate) {
			c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageKeyEncipherment, []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
		}, modelsig.CodeSignerUsage},
		"without-a-usage": {func(c *x509.Certificate) { c.KeyUsage = 0 }, modelsig.CodeSignerUsage},
		"expired":         {func(c *x509.Certificate) { c.NotAfter = now.Add(-1e9) }, modelsig.CodeSignerExpired},
		"not-yet-valid":   {func(c *x509.Certificate) { c.NotBefore = now.Add(1e9) }, modelsig.CodeSignerNotYetValid},
		"with-a-critical-extension-that-no-one-knows": {func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 2}, Critical: true, Value: []byte{5, 0}}}
		}, modelsig.CodeBadChain},
	} {
		t.Run(name, func(t *testing.T) {
			p := publisher(t, c.edit)
			for _, trusted := range []modelsig.Trust{trust(t, p.root().cert), {}} {
				s, err := modelsig.Verify(signed(t, p, skill(), edits{}), sigFile, trusted, now)
				if c.want != "" {
					wantCode(t, s, err, c.want)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	authorityThat := func(edit func(c *x509.Certificate)) *party {
		root := (*party)(nil).issue(t, "Root of example.com", nil, authority)
		return root.issue(t, "Authority of example.com", nil, func(c *x509.Certificate) { authority(c); edit(c) }).issue(t, "Skills", nil, nil)
	}
	for name, c := range map[string]struct {
		signer *party
		want   lookleap.Code
	}{
		"of-an-expired-authority":        {authorityThat(func(c *x509.Certificate) { c.NotAfter = now.Add(-1e9) }), modelsig.CodeSignerExpired},
		"of-a-future-authority":          {authorityThat(func(c *x509.Certificate) { c.NotBefore = now.Add(1e9) }), modelsig.CodeSignerNotYetValid},
		"of-an-authority-for-servers":    {authorityThat(usages(x509.ExtKeyUsageServerAuth)), modelsig.CodeSignerUsage},
		"of-one-that-is-no-authority":    {authorityThat(func(c *x509.Certificate) { c.IsCA = false }), modelsig.CodeBadChain},
		"of-one-that-may-not-issue":      {authorityThat(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature }), modelsig.CodeBadChain},
		"of-its-own-is-self-asserted":    {(*party)(nil).issue(t, "Skills", nil, nil), ""},
		"of-its-own-for-servers":         {(*party)(nil).issue(t, "Skills", nil, usages(x509.ExtKeyUsageServerAuth)), modelsig.CodeSignerUsage},
		"of-its-own-that-has-expired":    {(*party)(nil).issue(t, "Skills", nil, func(c *x509.Certificate) { c.NotAfter = now.Add(-1e9) }), modelsig.CodeSignerExpired},
		"with-an-RSA-authority":          {(*party)(nil).issue(t, "Root", rsaKey(t), authority).issue(t, "Skills", nil, nil), ""},
		"with-a-key-of-RSA":              {(*party)(nil).issue(t, "Root", nil, authority).issue(t, "Skills", rsaKey(t), nil), modelsig.CodeUnsupportedSignature},
		"with-a-key-of-Ed25519":          {(*party)(nil).issue(t, "Root", nil, authority).issue(t, "Skills", edKey(t), nil), modelsig.CodeUnsupportedSignature},
		"with-a-key-of-P-224":            {(*party)(nil).issue(t, "Root", nil, authority).issue(t, "Skills", newKey(t, elliptic.P224()), nil), modelsig.CodeUnsupportedSignature},
		"with-a-key-of-P-384":            {(*party)(nil).issue(t, "Root", nil, authority).issue(t, "Skills", newKey(t, elliptic.P384()), nil), ""},
		"with-a-key-of-P-521":            {(*party)(nil).issue(t, "Root", nil, authority).issue(t, "Skills", newKey(t, elliptic.P521()), nil), ""},
		"with-a-key-of-P-384-and-a-root": {publisherWith(t, elliptic.P384()), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, c.signer, skill(), edits{}), sigFile, modelsig.Trust{}, now)
			if c.want != "" {
				wantCode(t, s, err, c.want)
			} else if err != nil || s.Trusted {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	t.Run("names-cannot-be-mistaken", func(t *testing.T) {
		root := (*party)(nil).issue(t, "Root of example.com", nil, authority)
		seen := map[string]string{}
		for name, edit := range map[string]func(c *x509.Certificate){
			"plain":     nil,
			"comma":     func(c *x509.Certificate) { c.Subject = pkix.Name{CommonName: "Skills,O=Example"} },
			"quote":     func(c *x509.Certificate) { c.Subject.CommonName = `Skills", "email:a@example.com` },
			"mail":      func(c *x509.Certificate) { c.EmailAddresses = []string{"a@example.com"} },
			"host":      func(c *x509.Certificate) { c.DNSNames = []string{"a@example.com"} },
			"invisible": func(c *x509.Certificate) { c.Subject.CommonName = "Skills\u200b" },
			"escape":    func(c *x509.Certificate) { c.Subject.CommonName = `Skills\u{200B}` },
			"two-names": func(c *x509.Certificate) {
				c.Subject.ExtraNames = []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "Other"}, {Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "Skills"}}
			},
			"another-letter": func(c *x509.Certificate) { c.Subject.CommonName = "Ѕkills" },
		} {
			s, err := modelsig.Verify(signed(t, root.issue(t, "Skills", nil, edit), skill(), edits{}), sigFile, trust(t, root.cert), now)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if before, ok := seen[s.Signer]; ok || strings.Contains(s.Signer, "\u200b") || !strings.HasPrefix(s.Signer, s.Subject) {
				t.Errorf("%s and %s: %s", name, before, s.Signer)
			}
			seen[s.Signer] = name
		}
	})
	t.Run("without-a-name-is-a-fingerprint", func(t *testing.T) {
		p := publisher(t, func(c *x509.Certificate) { c.Subject = pkix.Name{} })
		s, err := modelsig.Verify(signed(t, p, skill(), edits{}), sigFile, trust(t, p.root().cert), now)
		if err != nil || !s.Trusted || s.Signer != "key "+s.Key {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func publisherWith(t testing.TB, curve elliptic.Curve) *party {
	return (*party)(nil).issue(t, "Root", newKey(t, curve), authority).issue(t, "Skills", newKey(t, curve), nil)
}

func rsaKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func edKey(t testing.TB) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKey(t *testing.T) {
	p, other := &party{key: newKey(t, elliptic.P256())}, &party{key: newKey(t, elliptic.P256())}
	public := p.key.Public()
	trusted := trust(t, other.key.Public(), public)
	held := func(o object) func(p *party) object { return func(*party) object { return object{"publicKey": o} } }
	for name, c := range map[string]struct {
		edits edits
		trust modelsig.Trust
		want  lookleap.Code // or accepted
	}{
		"named-by-its-PEM":       {edits{material: keyMaterial(t)}, trusted, ""},
		"named-by-its-DER":       {edits{material: held(object{"hint": hexDigest(der(t, public))})}, trusted, ""},
		"held-as-PEM":            {edits{material: held(object{"rawBytes": pems(t, public)})}, trusted, ""},
		"held-as-DER":            {edits{material: held(object{"rawBytes": der(t, public), "hint": nil})}, trusted, ""},
		"held-and-named":         {edits{material: held(object{"rawBytes": der(t, public), "hint": hexDigest(der(t, public))})}, trusted, ""},
		"named-and-not-known":    {edits{material: keyMaterial(t)}, modelsig.Trust{}, modelsig.CodeUnknownKey},
		"named-as-another":       {edits{material: held(object{"hint": hexDigest(der(t, other.key.Public()))})}, trusted, modelsig.CodeBadSignature},
		"held-and-misnamed":      {edits{material: held(object{"rawBytes": der(t, public), "hint": "00"})}, trusted, modelsig.CodeBadBundle},
		"neither-held-nor-named": {edits{material: held(object{})}, trusted, modelsig.CodeBadBundle},
		"named-by-nothing":       {edits{material: held(object{"hint": ""})}, trusted, modelsig.CodeUnknownKey},
		"malformed":              {edits{material: held(object{"rawBytes": []byte("x")})}, trusted, modelsig.CodeBadBundle},
		"of-RSA":                 {edits{material: held(object{"rawBytes": der(t, rsaKey(t).Public())})}, trusted, modelsig.CodeUnsupportedSignature},
		"of-Ed25519":             {edits{material: held(object{"rawBytes": der(t, edKey(t).Public())})}, trusted, modelsig.CodeUnsupportedSignature},
		"with-another-hash":      {edits{material: keyMaterial(t), sign: func(pae []byte) []byte { return signature(t, p.key, crypto.SHA512, pae) }}, trusted, modelsig.CodeBadSignature},
		"signature-of-another":   {edits{material: keyMaterial(t), sign: func(pae []byte) []byte { return signature(t, other.key, 0, pae) }}, trusted, modelsig.CodeBadSignature},
		"signature-without-the-type": {edits{material: keyMaterial(t), sign: func(pae []byte) []byte {
			return signature(t, p.key, 0, pae[bytes.IndexByte(pae, '{'):])
		}}, trusted, modelsig.CodeBadSignature},
		"signature-of-another-kind-of-key": {edits{material: keyMaterial(t), sign: func(pae []byte) []byte { return signature(t, edKey(t), 0, pae) }}, trusted, modelsig.CodeBadSignature},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), c.edits), sigFile, c.trust, now)
			if c.want != "" {
				wantCode(t, s, err, c.want)
			} else if err != nil || !s.Trusted {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestParseTrust(t *testing.T) {
	root := publisher(t, nil).root()
	good := pems(t, root.cert, root.key.Public())
	for name, text := range map[string][]byte{
		"empty":             nil,
		"no-PEM":            []byte("example.com"),
		"a-malformed-block": append([]byte("-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n"), good...),
		"half-a-block":      good[:len(good)-10],
		"a-private-key":     []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
		"a-bad-certificate": []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
		"a-bad-key":         []byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := modelsig.ParseTrust(text); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Error(err)
			}
		})
	}
	t.Run("a-key-that-is-not-supported", func(t *testing.T) {
		if _, err := modelsig.ParseTrust(pems(t, rsaKey(t).Public())); lookleap.CodeOf(err) != modelsig.CodeUnsupportedSignature {
			t.Error(err)
		}
	})
	for name, text := range map[string][]byte{
		"accept-lines-of-Windows": bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")),
		"accept-text-around":      slices.Concat([]byte("X.509 Certificate Information:\n\tVersion: 3\n"), good, []byte("\n# the end")),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := modelsig.ParseTrust(text); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzVerify looks for a bundle that is accepted although nothing signed it, and for one that names
// files which are not there.
func FuzzVerify(f *testing.F) {
	p, key := publisher(f, nil), &party{key: newKey(f, elliptic.P256())}
	roots := trust(f, p.root().cert, key.key.Public())
	good := signed(f, p, skill(), edits{})
	named := signed(f, key, skill(), edits{material: keyMaterial(f)})
	for _, files := range []map[string][]byte{good, named} {
		f.Add(files[sigFile], []byte(nil))
		f.Add(files[sigFile], []byte("x"))
		f.Add(files[sigFile][:200], []byte(nil))
	}
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`), []byte("{}"))
	f.Fuzz(func(t *testing.T, data, script []byte) {
		files := maps.Clone(good)
		files[sigFile], files["scripts/run.sh"] = data, slices.Concat(skill()["scripts/run.sh"], script)
		s, err := modelsig.Verify(files, sigFile, roots, now)
		if err != nil {
			if s != nil || !lookleap.CodeOf(err).Known() {
				t.Fatalf("%+v, %v", s, err)
			}
			return
		}
		if s.Trusted && len(script) > 0 {
			t.Fatalf("a changed file is accepted: %+v", s)
		}
		if len(s.Covered)+len(s.Uncovered) != len(files)-1 {
			t.Fatalf("a file is missing: %+v", s)
		}
		for _, file := range s.Covered {
			if _, ok := files[file]; !ok || slices.Contains(s.Uncovered, file) {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// FuzzStatement signs what it makes up, as an attacker with a key can, and looks for a file that
// is counted as covered although the statement does not hold its digest.
func FuzzStatement(f *testing.F) {
	key := &party{key: newKey(f, elliptic.P256())}
	roots := trust(f, key.key.Public())
	keep := func(p []byte) []byte { f.Add(p); return p }
	signed(f, key, skill(), edits{payload: keep, material: keyMaterial(f)})
	signed(f, key, skill(), edits{payload: keep, material: keyMaterial(f), statement: func(s object) {
		at(s, "predicate", "serialization")["ignore_paths"] = []any{"", ".", "../x", "scripts"}
	}})
	f.Fuzz(func(t *testing.T, payload []byte) {
		files := signed(t, key, skill(), edits{material: keyMaterial(t), payload: func([]byte) []byte { return payload }})
		s, err := modelsig.Verify(files, sigFile, roots, now)
		if err != nil {
			if s != nil || !lookleap.CodeOf(err).Known() {
				t.Fatalf("%+v, %v", s, err)
			}
			return
		}
		if all := slices.Concat(s.Covered, s.Uncovered, []string{sigFile}); len(all) != len(files) {
			t.Fatalf("%q", all)
		}
		for _, file := range s.Covered {
			if !bytes.Contains(bytes.ToLower(payload), []byte(hexDigest(files[file]))) && !bytes.Contains(payload, []byte(`\u`)) {
				t.Fatalf("%q is not covered by %q", file, payload)
			}
		}
	})
}
