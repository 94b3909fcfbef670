package modelsig_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs/modelsig"
)

// published are directories as others published them. They are not part of the module: see
// [publishedFiles]. The digest of the bundle says which version is meant.
var published = []struct {
	dir, bundle, digest string
	kind                modelsig.Kind
	trusted             bool
	uncovered           []string
	code                lookleap.Code // of the error, or ""
}{
	// Skills of github.com/NVIDIA/skills, commit 7149a886d50d. The chain of some of them ends at a root
	// that is not the published one, so their signer is self-asserted.
	{"nvidia/mcore-linting-and-formatting", "skill.oms.sig", "d844681bf987952cc05bbe47ff25a7e17238734e0b3e83127d426d744ebb698f", modelsig.KindCertificate, true, nil, ""},
	{"nvidia/dynamo-router-starter", "skill.oms.sig", "6254bde9ee3876f148e0a951569988774c4230dc15228983ad7f840c4c029d0b", modelsig.KindCertificate, true, nil, ""},
	{"nvidia/amc-run-rtsp-calibration", "skill.oms.sig", "1968869eec202e80880d391a8fbba97ca52ba3101fae16dfdfc6e7fe60e1b3b2", modelsig.KindCertificate, false, nil, ""},
	{"nvidia/amc-setup-calibration-stack", "skill.oms.sig", "8ff17b4302b9c6bbf14ffd419aefbeb9eb75ae1f9606a15f7670fa41714fcb56", "", false, nil, modelsig.CodeFileChanged},
	// Directories of github.com/sigstore/model-transparency, commit e3430730bca9, signed by the versions
	// of the reference implementation that they are named after. Before 1.1 a bundle did not list
	// what its signer left out.
	{"model-signing/v1.1.0-certificate", "model.sig", "bd0c06d0986a76f8ac2e7267418fa64183a6d6caea7f89922cb17495ef8fd76b", modelsig.KindCertificate, true, []string{"ignore-me"}, ""},
	{"model-signing/v1.1.0-elliptic-key", "model.sig", "7df0eb43688975c60b51c2e8e87bb7a7441ca7bfd611521c3f18349abfef7276", modelsig.KindKey, true, []string{"ignore-me"}, ""},
	{"model-signing/v1.1.0-sigstore", "model.sig", "7d4bc54fd82096df1d20e412e07e5cfd1f8e9278a7defb7e02bb59a9ebb985c0", "", false, nil, modelsig.CodeSigstoreIdentity},
	{"model-signing/v1.0.1-certificate", "model.sig", "9f688832b0e2ce14e9f0039036693a104504dbd625ca1403d8cea2c81e04738e", "", false, nil, modelsig.CodeFileNotSigned},
	{"model-signing/v1.0.1-elliptic-key", "model.sig", "fc06bf734f21220904296adf474c8f23bb5e691f7b709d68d291fdade762d0d6", "", false, nil, modelsig.CodeFileNotSigned},
	{"model-signing/v0.3.1-certificate", "model.sig", "a51b87e474a65df20031f64b52d59aa07ed014dc392dc9c98fe99646d1c62a07", modelsig.KindCertificate, true, nil, ""},
	{"model-signing/v0.3.1-elliptic-key", "model.sig", "6d83c9f5f4e03d07e353145426cfc1355f020172760f6ce67c7b34f696704d1a", "", false, nil, modelsig.CodeBadStatement},
	{"model-signing/v0.2.0-certificate", "model.sig", "3884fe2a1ed5f74246ac1bc7bb710220fa38d77ffc6c76f6cde8d4b0dec16e1e", "", false, nil, modelsig.CodeBadSignature},
}

// publishedFiles reads a directory of signed-skills among the suites that others wrote, with the
// roots and keys of its publisher in trust.pem.
func publishedFiles(t *testing.T, dir string) (map[string][]byte, modelsig.Trust) {
	t.Helper()
	suites := os.Getenv("LOOKLEAP_SUITES")
	if suites == "" {
		suites = filepath.Join("..", "..", "..", "shared", "suites")
	}
	root := filepath.Join(suites, "signed-skills")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("signed-skills is absent: LOOKLEAP_SUITES names the directory that holds it (%v)", err)
	}
	text, err := os.ReadFile(filepath.Join(root, path.Dir(dir), "trust.pem"))
	if err != nil {
		t.Fatal(err)
	}
	trust, err := modelsig.ParseTrust(text)
	if err != nil {
		t.Fatal(err)
	}
	files, below := map[string][]byte{}, os.DirFS(filepath.Join(root, dir))
	err = fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[name], err = fs.ReadFile(below, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, trust
}

// TestPublished verifies what others signed with the tools that they use.
func TestPublished(t *testing.T) {
	for _, c := range published {
		t.Run(c.dir, func(t *testing.T) {
			files, trust := publishedFiles(t, c.dir)
			if digest := hexDigest(files[c.bundle]); digest != c.digest {
				t.Skipf("the bundle has the digest %s: another version", digest)
			}
			if found := modelsig.Find(files); !slices.Equal(found, []string{c.bundle}) {
				t.Errorf("found %q", found)
			}
			s, err := modelsig.Verify(files, c.bundle, trust, now)
			if c.code != "" {
				wantCode(t, s, err, c.code)
				return
			}
			if err != nil || s.Kind != c.kind || s.Trusted != c.trusted || !slices.Equal(s.Uncovered, c.uncovered) ||
				len(s.Covered)+len(s.Uncovered)+1 != len(files) {
				t.Fatalf("%+v, %v", s, err)
			}
			for _, name := range s.Covered {
				changed := maps.Clone(files)
				changed[name] = append(slices.Clone(files[name]), '\n')
				s, err := modelsig.Verify(changed, c.bundle, trust, now)
				wantCode(t, s, err, modelsig.CodeFileChanged)
				delete(changed, name)
				s, err = modelsig.Verify(changed, c.bundle, trust, now)
				wantCode(t, s, err, modelsig.CodeFileMissing)
			}
			more := maps.Clone(files)
			more["scripts/more.sh"] = nil
			s, err = modelsig.Verify(more, c.bundle, trust, now)
			wantCode(t, s, err, modelsig.CodeFileNotSigned)
			if c.kind == modelsig.KindCertificate {
				s, err = modelsig.Verify(files, c.bundle, trust, now.AddDate(20, 0, 0))
				wantCode(t, s, err, modelsig.CodeSignerExpired)
				s, err = modelsig.Verify(files, c.bundle, trust, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
				wantCode(t, s, err, modelsig.CodeSignerNotYetValid)
			}
		})
	}
}
