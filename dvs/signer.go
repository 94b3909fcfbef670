package dvs

import (
	"context"
	"regexp"
	"time"

	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// PolicySigner demands that the skills under a trust root are signed, in the format of package
// modelsig. It holds for what a Loader activates, and for complete bundles; metadata needs no signature.
type PolicySigner struct {
	Root   string // trust root
	Signer string // fingerprint of the signer's key, or of the root of its certificates: sha256: and 64 hex digits
}

var fingerprintForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// demandedSigner is a PolicySigner that was read.
type demandedSigner struct {
	root   TrustRoot
	signer string
}

// signers returns the fingerprints of which one has to have signed a skill; none: no signature is needed.
func (c *compiledPolicy) signers(skill SkillURL) (all []string) {
	for _, d := range c.demanded {
		if d.root.Covers(skill) {
			all = append(all, d.signer)
		}
	}
	return all
}

// needSignature reports whether a policy demands that a skill is signed.
func (g *governor) needSignature(skill SkillURL) bool {
	for _, c := range g.compiled {
		if len(c.signers(skill)) > 0 {
			return true
		}
	}
	return false
}

// signed refuses all files of a skill, unless those that each policy demands have signed them. A file
// that the signer left out may not have anything to say to an agent.
func (g *governor) signed(skill SkillURL, files map[string][]byte, now time.Time) error {
	for _, c := range g.compiled {
		want := c.signers(skill)
		if len(want) == 0 {
			continue
		}
		reason := "the policy demands a signature, and the skill has none"
		signed := false
		for _, name := range modelsig.Find(files) {
			s, err := modelsig.Verify(files, name, modelsig.Trust{}, now)
			if err != nil {
				reason = "the policy demands a signature, and that of the skill does not hold: " + sentence(err)
				continue
			}
			switch loose := looseFile(s); {
			case !contains(want, s.Key) && !contains(want, s.Root):
				reason = "the policy demands another signer than " + s.Fingerprint()
			case loose != "":
				reason = "the policy demands a signature, and the signer left out the file " + plaintext.Quote(loose, 200)
			default:
				signed = true
			}
		}
		if !signed {
			return c.refused(skill.String(), reason)
		}
	}
	return nil
}

// looseFile returns a file that the signer left out, but for those that only git reads.
func looseFile(s *modelsig.Signature) string {
	for _, name := range s.Uncovered {
		if name != ".gitignore" && name != ".gitattributes" {
			return name
		}
	}
	return ""
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one && one != "" {
			return true
		}
	}
	return false
}

// checkSigned refuses a skill that is not signed as the policies demand, before it is used: it fetches
// all of its files.
func (s *Loaded) checkSigned(ctx context.Context) error {
	if !s.loader.policies.needSignature(s.ID) {
		return nil
	}
	_, err := s.Bundle(ctx)
	return err
}
