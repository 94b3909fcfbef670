package modelsig

import (
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// Kind says with what a signature was made.
type Kind string

// The kinds of signatures that are verified here.
const (
	KindKey         Kind = "key"         // a key that the publisher hands out
	KindCertificate Kind = "certificate" // a key in a certificate, with a chain to a root
)

// Signature says who signed the files of a skill, and which of them. Its signature, its
// certificates and the covered files were checked.
type Signature struct {
	// File is the signature bundle. It does not sign itself, so it is neither in Covered nor in
	// Uncovered.
	File string
	Kind Kind

	// Signer names the signer, always in the same way: compare it to notice a change. With a trusted
	// root it is the names in the certificate, in quotation marks, and the root's fingerprint;
	// otherwise it is the fingerprint of the key. It changes once when a root becomes trusted.
	Signer string

	// Trusted is set if the root or the key is in the [Trust]. If it is not set, the signer is
	// self-asserted: anyone can sign with a key of their own and with any name in a certificate of
	// their own. It is still the same signer as before if Signer is the same.
	Trusted bool

	// Subject is the names in the certificate, in quotation marks; "" for a key. It is a claim of the
	// signer unless Trusted is set.
	Subject string

	Key  string // fingerprint of the signer's key: "sha256:" and the hex SHA-256 of its SubjectPublicKeyInfo
	Root string // fingerprint of the certificate at the end of the chain; "" for a key

	Covered   []string // files with the bytes that were signed, sorted
	Uncovered []string // files that the signer left out, and that anyone can have written, sorted
}

// Verify checks the signature bundle with this name among the files of a skill's directory, at a
// time. The keys of files are paths below that directory.
//
// It returns an error if a listed file has changed or is missing, and if there is a file that the
// signer neither listed nor left out. Files that the signer left out, with ignore_paths or because
// they belong to git, are in [Signature.Uncovered]: refuse a skill that has scripts there.
//
// The certificates have to be valid at now, even if they were valid when the signature was made:
// only a time stamp could prove that.
//
// A signer that is not in trust is not an error: see [Signature.Trusted]. Errors are
// [*lookleap.Error] with a code of this package, or [lookleap.CodeTooLarge] or
// [lookleap.CodeLimit] for a bundle above its bounds: 4 MiB, 10,000 files, 8 certificates.
func Verify(files map[string][]byte, name string, trust Trust, now time.Time) (*Signature, error) {
	data, ok := files[name]
	if !ok {
		return nil, refuse(lookleap.CodeUsage, "there is no file "+shown(name), "pass a name that Find returned")
	}
	s, err := verify(files, name, data, trust, now)
	if err != nil {
		return nil, about(name, err)
	}
	return s, nil
}

func verify(files map[string][]byte, name string, data []byte, trust Trust, now time.Time) (*Signature, error) {
	b, err := parseBundle(data)
	if err != nil {
		return nil, err
	}
	signer, err := b.signer(trust, now)
	if err != nil {
		return nil, err
	}
	if !signer.verify(b.Envelope.signedBytes(), b.Envelope.Signatures[0].Signature) {
		return nil, refuse(CodeBadSignature, "the signature is not one of this key over this statement", fixPublisher)
	}
	listed, err := parseStatement(b.Envelope.Payload)
	if err != nil {
		return nil, err
	}
	s := signer.describe()
	s.File = name
	s.Covered, s.Uncovered, err = listed.compare(files, name)
	return s, err
}

// describe returns what is known about a signer whose signature is valid.
func (s *signer) describe() *Signature {
	d := &Signature{Kind: KindKey, Trusted: s.trusted, Key: fingerprint(publicDER(s.key))}
	d.Signer = "key " + d.Key
	if s.chain != nil {
		d.Kind, d.Subject, d.Root = KindCertificate, subject(s.chain[0]), fingerprint(s.chain[len(s.chain)-1].Raw)
		if s.trusted && d.Subject != "" {
			d.Signer = d.Subject + " root " + d.Root
		}
	}
	return d
}

// fixFiles is the fix where the files are not those that were signed.
const fixFiles = "do not use the skill; load it again, or ask the publisher for a new signature"

// compare compares the files of a directory with those that were signed.
func (s *statement) compare(files map[string][]byte, bundle string) (covered, uncovered []string, err error) {
	for _, file := range slices.Sorted(maps.Keys(s.digests)) {
		data, ok := files[file]
		switch {
		case file == bundle:
			return nil, nil, refuse(CodeBadStatement, "the statement lists its own bundle", fixPublisher)
		case !ok:
			return nil, nil, refuse(CodeFileMissing, "the file "+shown(file)+" was signed and is missing", fixFiles)
		case sha256.Sum256(data) != s.digests[file]:
			return nil, nil, refuse(CodeFileChanged, "the file "+shown(file)+" is not the one that was signed", fixFiles)
		}
		covered = append(covered, file)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if _, ok := s.digests[file]; ok || file == bundle {
			continue
		}
		if !s.ignores(file) {
			return nil, nil, refuse(CodeFileNotSigned, "the file "+shown(file)+" was not signed", fixFiles)
		}
		uncovered = append(uncovered, file)
	}
	return covered, uncovered, nil
}

// VerifyDir verifies the signature in a skill's directory. If there are several, the first one that holds
// counts, by the names of their files. If there is none, the error has the code no-signature.
func VerifyDir(files map[string][]byte, trust Trust, now time.Time) (*Signature, error) {
	var first error = refuse(CodeNoSignature, "the directory has no signature", fixPublisher)
	for n, name := range Find(files) {
		s, err := Verify(files, name, trust, now)
		if err == nil {
			return s, nil
		}
		if n == 0 {
			first = err
		}
	}
	return nil, first
}

// Fingerprint returns what identifies the signer while its keys and certificates are renewed: the
// fingerprint of the root, or of the key if there is no certificate.
func (s *Signature) Fingerprint() string {
	switch {
	case s == nil:
		return ""
	case s.Root != "":
		return s.Root
	}
	return s.Key
}

// LeftOut returns a file that the signer left out and that has something to say to an agent, or "": all but
// .gitignore and .gitattributes, which only git reads.
func (s *Signature) LeftOut() string {
	if s == nil {
		return ""
	}
	for _, name := range s.Uncovered {
		if name != ".gitignore" && name != ".gitattributes" {
			return name
		}
	}
	return ""
}
