package modelsig_test

import (
	"crypto/elliptic"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs/modelsig"
)

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		file, data string
		found      bool
	}{
		"the-usual-name":       {"skill.oms.sig", "{}", true},
		"another-name":         {"model.sig", " \r\n\t{", true},
		"a-damaged-bundle":     {"skill.oms.sig", `{"mediaType`, true},
		"not-below-a-folder":   {"scripts/skill.oms.sig", "{}", false},
		"not-another-ending":   {"skill.oms.json", "{}", false},
		"not-a-PGP-signature":  {"SKILL.md.sig", "-----BEGIN PGP SIGNATURE-----\n", false},
		"not-an-empty-file":    {"skill.oms.sig", "", false},
		"not-a-list":           {"skill.oms.sig", "[{}]", false},
		"not-the-suffix-alone": {"sig", "{}", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := modelsig.Find(map[string][]byte{"SKILL.md": []byte("{}"), c.file: []byte(c.data)})
			if len(found) == 1 != c.found || c.found && found[0] != c.file {
				t.Errorf("found %q", found)
			}
		})
	}
	t.Run("sorted", func(t *testing.T) {
		files := map[string][]byte{"c.sig": []byte("{"), "a.sig": []byte("{"), "b.sig": []byte("{")}
		if found := modelsig.Find(files); !slices.Equal(found, []string{"a.sig", "b.sig", "c.sig"}) {
			t.Errorf("found %q", found)
		}
	})
}

func TestSignature(t *testing.T) {
	p, key := publisher(t, nil), &party{key: newKey(t, elliptic.P521())}
	sum := func(data []byte) string { return "sha256:" + hexDigest(data) }
	keyPrint := sum(der(t, p.key.Public()))
	for name, c := range map[string]struct {
		signer *party
		trust  modelsig.Trust
		edits  edits
		want   modelsig.Signature
	}{
		"trusted-chain": {p, trust(t, p.root().cert), edits{}, modelsig.Signature{Kind: modelsig.KindCertificate, Trusted: true,
			Signer: `"CN=Skills of example.com,O=Example" root ` + sum(p.root().cert.Raw), Key: keyPrint}},
		"trusted-intermediate": {p, trust(t, p.up.cert), edits{}, modelsig.Signature{Kind: modelsig.KindCertificate, Trusted: true,
			Signer: `"CN=Skills of example.com,O=Example" root ` + sum(p.up.cert.Raw), Key: keyPrint}},
		"self-asserted-chain-is-a-fingerprint": {p, modelsig.Trust{}, edits{}, modelsig.Signature{Kind: modelsig.KindCertificate,
			Signer: "key " + keyPrint, Key: keyPrint}},
		"chain-of-another-root-is-a-fingerprint": {p, trust(t, publisher(t, nil).root().cert), edits{}, modelsig.Signature{Kind: modelsig.KindCertificate,
			Signer: "key " + keyPrint, Key: keyPrint}},
		"trusted-key": {key, trust(t, key.key.Public()), edits{material: keyMaterial(t)}, modelsig.Signature{Kind: modelsig.KindKey, Trusted: true,
			Signer: "key " + sum(der(t, key.key.Public())), Key: sum(der(t, key.key.Public()))}},
		"self-asserted-key-is-a-fingerprint": {key, modelsig.Trust{}, edits{material: func(p *party) object {
			return object{"publicKey": object{"rawBytes": pems(t, p.key.Public()), "keyDetails": "PKIX_ECDSA_P521_SHA_256"}}
		}}, modelsig.Signature{Kind: modelsig.KindKey, Signer: "key " + sum(der(t, key.key.Public())), Key: sum(der(t, key.key.Public()))}},
		"key-in-a-trusted-certificate-is-no-trusted-key": {p, trust(t, p.cert), edits{material: func(p *party) object {
			return object{"publicKey": object{"rawBytes": der(t, p.key.Public())}}
		}}, modelsig.Signature{Kind: modelsig.KindKey, Signer: "key " + keyPrint, Key: keyPrint}},
	} {
		t.Run(name, func(t *testing.T) {
			files := signed(t, c.signer, skill(), c.edits)
			s, err := modelsig.Verify(files, sigFile, c.trust, now)
			if err != nil {
				t.Fatal(err)
			}
			if s.Kind != c.want.Kind || s.Trusted != c.want.Trusted || s.Signer != c.want.Signer || s.Key != c.want.Key || s.File != sigFile {
				t.Errorf("got  %+v\nwant %+v", s, c.want)
			}
			if !slices.Equal(s.Covered, []string{"SKILL.md", "data/empty.csv", "scripts/run.sh"}) || len(s.Uncovered) != 0 {
				t.Errorf("covered %q, uncovered %q", s.Covered, s.Uncovered)
			}
		})
	}
	t.Run("a-chain-without-its-root-needs-the-root", func(t *testing.T) {
		files := signed(t, p, skill(), edits{bundle: func(b object) {
			chain := at(b, "verificationMaterial", "x509CertificateChain")
			chain["certificates"] = chain["certificates"].([]any)[:2]
		}})
		for _, c := range []struct {
			trust   modelsig.Trust
			trusted bool
			root    []byte
		}{{trust(t, p.root().cert), true, p.root().cert.Raw}, {modelsig.Trust{}, false, p.up.cert.Raw}} {
			if s, err := modelsig.Verify(files, sigFile, c.trust, now); err != nil || s.Trusted != c.trusted || s.Root != sum(c.root) {
				t.Errorf("%+v, %v", s, err)
			}
		}
	})
	t.Run("the-signer-stays-the-same-until-its-key-or-name-changes", func(t *testing.T) {
		signerOf := func(p *party, trust modelsig.Trust) string {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{}), sigFile, trust, now)
			if err != nil {
				t.Fatal(err)
			}
			return s.Signer
		}
		roots := trust(t, p.root().cert)
		renewed, renamed := p.up.issue(t, "Skills of example.com", nil, nil), p.up.issue(t, "Skills of example.net", nil, nil)
		sameKey := p.up.issue(t, "Skills of example.net", p.key, nil)
		if signer := signerOf(p, roots); signer != signerOf(renewed, roots) || signer == signerOf(renamed, roots) {
			t.Error("the names of trusted signers")
		}
		none := modelsig.Trust{}
		if signer := signerOf(p, none); signer != signerOf(sameKey, none) || signer == signerOf(renewed, none) {
			t.Error("the fingerprints of self-asserted signers")
		}
	})
}

func TestFiles(t *testing.T) {
	p := publisher(t, nil)
	roots := trust(t, p.root().cert)
	for name, c := range map[string]struct {
		edit func(files map[string][]byte)
		want lookleap.Code
	}{
		"one-byte":                 {func(f map[string][]byte) { f["scripts/run.sh"][3] ^= 1 }, modelsig.CodeFileChanged},
		"one-byte-more":            {func(f map[string][]byte) { f["data/empty.csv"] = []byte("\n") }, modelsig.CodeFileChanged},
		"one-file-less":            {func(f map[string][]byte) { delete(f, "data/empty.csv") }, modelsig.CodeFileMissing},
		"one-file-more":            {func(f map[string][]byte) { f["scripts/more.sh"] = nil }, modelsig.CodeFileNotSigned},
		"one-bundle-more":          {func(f map[string][]byte) { f["other.sig"] = f[sigFile] }, modelsig.CodeFileNotSigned},
		"renamed":                  {func(f map[string][]byte) { f["skill.md"] = f["SKILL.md"]; delete(f, "SKILL.md") }, modelsig.CodeFileMissing},
		"a-folder-like-git-deeper": {func(f map[string][]byte) { f["data/.git/hook"] = nil }, modelsig.CodeFileNotSigned},
		"a-name-that-begins-alike": {func(f map[string][]byte) { f[".github.sh"] = nil }, modelsig.CodeFileNotSigned},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{files: c.edit}), sigFile, roots, now)
			wantCode(t, s, err, c.want)
		})
	}
	t.Run("no-such-bundle", func(t *testing.T) {
		s, err := modelsig.Verify(skill(), sigFile, roots, now)
		wantCode(t, s, err, lookleap.CodeUsage)
	})
	ignore := func(paths ...any) func(s object) {
		return func(s object) { at(s, "predicate", "serialization")["ignore_paths"] = paths }
	}
	for name, c := range map[string]struct {
		statement func(s object)
		add       string
		uncovered bool // instead of an error
	}{
		"ignore_paths-hides-a-script":            {ignore("scripts/more.sh"), "scripts/more.sh", true},
		"ignore_paths-hides-a-folder":            {ignore("scripts"), "scripts/deep/more.sh", true},
		"files-of-git-are-left-out-unsaid":       {func(s object) { delete(at(s, "predicate", "serialization"), "ignore_paths") }, ".github/run.sh", true},
		"ignore_paths-is-no-prefix":              {ignore("scr"), "scripts/more.sh", false},
		"ignore_paths-is-no-pattern":             {ignore("scripts/*", "*", "**", "?"), "scripts/more.sh", false},
		"ignore_paths-is-below-the-directory":    {ignore("", ".", "/", "./scripts", "../refund/scripts", "/scripts"), "scripts/more.sh", false},
		"ignore_paths-is-no-name-in-any-folder":  {ignore("more.sh"), "scripts/more.sh", false},
		"ignore_paths-keeps-the-letters-of-case": {ignore("SCRIPTS"), "scripts/more.sh", false},
	} {
		t.Run(name, func(t *testing.T) {
			files := signed(t, p, skill(), edits{statement: c.statement, files: func(f map[string][]byte) { f[c.add] = []byte("#!/bin/sh\n") }})
			s, err := modelsig.Verify(files, sigFile, roots, now)
			if !c.uncovered {
				wantCode(t, s, err, modelsig.CodeFileNotSigned)
				return
			}
			if err != nil || !slices.Equal(s.Uncovered, []string{c.add}) || slices.Contains(s.Covered, c.add) || len(s.Covered) != 3 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	t.Run("a-listed-file-is-checked-even-if-ignored", func(t *testing.T) {
		files := signed(t, p, skill(), edits{statement: ignore("scripts"), files: func(f map[string][]byte) { f["scripts/run.sh"] = []byte("x") }})
		s, err := modelsig.Verify(files, sigFile, roots, now)
		wantCode(t, s, err, modelsig.CodeFileChanged)
	})
}

func TestStatement(t *testing.T) {
	p := publisher(t, nil)
	roots := trust(t, p.root().cert)
	list := func(edit func(list []any) []any) func(s object) { // with the subject that belongs to it
		return func(s object) {
			edited := edit(at(s, "predicate")["resources"].([]any))
			at(s, "predicate")["resources"] = edited
			s["subject"] = []any{object{"name": "refund", "digest": object{"sha256": total(edited)}}}
		}
	}
	named := func(name string) func(s object) {
		return list(func(l []any) []any {
			return append(l, object{"name": name, "algorithm": "sha256", "digest": hexDigest([]byte("x"))})
		})
	}
	first := func(name string, value any) func(s object) {
		return func(s object) { at(s, "predicate")["resources"].([]any)[0].(object)[name] = value }
	}
	serialization := func(name string, value any) func(s object) {
		return func(s object) { at(s, "predicate", "serialization")[name] = value }
	}
	top := func(name string, value any) func(s object) { return func(s object) { s[name] = value } }
	for name, c := range map[string]struct {
		edit func(s object)
		want lookleap.Code
	}{
		"other-predicate":               {top("predicateType", "https://slsa.dev/provenance/v1"), modelsig.CodeBadStatement},
		"predicate-of-0.2":              {top("predicateType", "https://model_signing/Digests/v0.1"), modelsig.CodeBadStatement},
		"other-statement":               {top("_type", "https://in-toto.io/Statement/v0.1"), modelsig.CodeBadStatement},
		"no-predicate":                  {func(s object) { delete(s, "predicate") }, modelsig.CodeBadStatement},
		"name-with-parent":              {named("../SKILL.md"), modelsig.CodeBadStatement},
		"name-with-inner-parent":        {named("scripts/../SKILL.md"), modelsig.CodeBadStatement},
		"absolute-name":                 {named("/etc/passwd"), modelsig.CodeBadStatement},
		"name-of-the-directory":         {named("."), modelsig.CodeBadStatement},
		"empty-name":                    {named(""), modelsig.CodeBadStatement},
		"name-of-no-file":               {named(`scripts\run.sh`), modelsig.CodeFileMissing},
		"name-of-the-bundle":            {named(sigFile), modelsig.CodeBadStatement},
		"same-file-twice":               {named("SKILL.md"), modelsig.CodeBadStatement},
		"no-files":                      {list(func([]any) []any { return []any{} }), modelsig.CodeBadStatement},
		"file-that-is-a-text":           {list(func(l []any) []any { return append(l, "SKILL.md") }), modelsig.CodeBadStatement},
		"digest-of-another-length":      {first("digest", "00"), modelsig.CodeBadStatement},
		"digest-with-more":              {first("digest", strings.Repeat("00", 33)), modelsig.CodeBadStatement},
		"digest-that-is-not-hex":        {first("digest", strings.Repeat("zz", 32)), modelsig.CodeBadStatement},
		"other-digest-than-the-subject": {top("subject", []any{object{"name": "refund", "digest": object{"sha256": hexDigest(nil)}}}), modelsig.CodeBadStatement},
		"subject-without-sha256":        {top("subject", []any{object{"name": "refund", "digest": object{"sha512": hexDigest(nil)}}}), modelsig.CodeBadStatement},
		"no-subject":                    {top("subject", []any{}), modelsig.CodeBadStatement},
		"two-subjects":                  {func(s object) { s["subject"] = slices.Repeat(s["subject"].([]any), 2) }, modelsig.CodeBadStatement},
		"symlinks-not-said":             {func(s object) { delete(at(s, "predicate", "serialization"), "allow_symlinks") }, modelsig.CodeBadStatement},
		"symlinks-as-text":              {serialization("allow_symlinks", "false"), modelsig.CodeBadStatement},
		"shards":                        {serialization("method", "file-shard-1048576"), modelsig.CodeUnsupportedSignature},
		"blake2b":                       {serialization("hash_type", "blake2b"), modelsig.CodeUnsupportedSignature},
		"blake3-for-one-file":           {first("algorithm", "blake3"), modelsig.CodeUnsupportedSignature},
		"ignore_paths-that-is-a-text":   {serialization("ignore_paths", "scripts"), modelsig.CodeBadStatement},
		"ignore_paths-of-numbers":       {serialization("ignore_paths", []any{1}), modelsig.CodeBadStatement},
		"more-files-than-the-limit": {list(func(l []any) []any {
			for range 10_000 {
				l = append(l, l[0])
			}
			return l
		}), lookleap.CodeLimit},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{statement: c.edit}), sigFile, roots, now)
			wantCode(t, s, err, c.want)
		})
	}
	for name, edit := range map[string]func(p []byte) []byte{
		"duplicate-member": func(p []byte) []byte { return []byte(strings.Replace(string(p), `{`, `{"predicateType":"x",`, 1)) },
		"not-JSON":         func([]byte) []byte { return []byte("files") },
		"a-list":           func([]byte) []byte { return []byte("[]") },
		"empty":            func([]byte) []byte { return nil },
		"text-after-it":    func(p []byte) []byte { return append(p, "{}"...) },
	} {
		t.Run("payload-"+name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{payload: edit}), sigFile, roots, now)
			wantCode(t, s, err, modelsig.CodeBadStatement)
		})
	}
	for name, edit := range map[string]func(s object){
		"accept-unknown-members": func(s object) {
			s["more"], at(s, "predicate")["more"] = 1, object{}
			first("annotations", object{"a": "b"})(s)
		},
		"accept-files-in-any-order":        list(func(l []any) []any { slices.Reverse(l); return l }),
		"accept-no-ignore_paths":           func(s object) { delete(at(s, "predicate", "serialization"), "ignore_paths") },
		"accept-symlinks-as-the-files":     serialization("allow_symlinks", true),
		"accept-any-name-of-the-directory": func(s object) { s["subject"].([]any)[0].(object)["name"] = "model" },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := modelsig.Verify(signed(t, p, skill(), edits{statement: edit}), sigFile, roots, now)
			if err != nil || len(s.Covered) != 3 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	p := publisher(t, nil)
	files := signed(t, p, skill(), edits{statement: func(s object) { s["predicateType"] = "a\x1b[2Jb\u202e" + strings.Repeat("c", 1000) }})
	_, err := modelsig.Verify(files, sigFile, modelsig.Trust{}, now)
	for name, ok := range map[string]bool{
		"name-the-bundle":         strings.HasPrefix(err.Error(), sigFile+": "),
		"quote-text-of-others":    !strings.ContainsAny(err.Error(), "\x1b\u202e"),
		"cut-text-of-others":      len(err.Error()) < 600,
		"are-errors-of-no-secret": !strings.Contains(err.Error(), hex.EncodeToString(files[sigFile][:8])),
	} {
		t.Run(name, func(t *testing.T) {
			if !ok {
				t.Error(err)
			}
		})
	}
	t.Run("say-when-a-certificate-expired", func(t *testing.T) {
		_, err := modelsig.Verify(signed(t, p, skill(), edits{}), sigFile, modelsig.Trust{}, now.AddDate(2, 0, 0))
		if when := p.cert.NotAfter.Format(time.RFC3339); !strings.Contains(err.Error(), when) {
			t.Error(err)
		}
	})
}
