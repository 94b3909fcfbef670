package dvs

import (
	"context"
	"time"

	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// PolicySigner demands that the skills under a trust root are signed, in the format of package
// modelsig. It holds for what a Loader activates, and for complete bundles; metadata needs no signature.
type PolicySigner struct {
	Root string // trust root
	// Signer is the fingerprint of the root of the signer's certificates, or of the key of its own
	// certificate: sha256: and 64 lower-case hex digits. Or it is PEM with certificates of roots and
	// public keys, which a signature with a bare key needs.
	Signer string
}

var fingerprintForm = pattern(`^sha256:[0-9a-f]{64}$`)

// demandedSigner is a PolicySigner that was read.
type demandedSigner struct {
	root        TrustRoot
	fingerprint string         // "": that of trust
	trust       modelsig.Trust // of PEM
}

func compileSigner(s PolicySigner, rules Rules) (d demandedSigner, err error) {
	if d.root, err = ParseTrustRoot(s.Root, rules); err != nil {
		return d, err
	}
	if fingerprintForm().MatchString(s.Signer) {
		d.fingerprint = s.Signer
		return d, nil
	}
	d.trust, err = modelsig.ParseTrust([]byte(s.Signer))
	return d, err
}

// signs reports whether a signature that holds is one of this signer.
func (d *demandedSigner) signs(s *modelsig.Signature) bool {
	if d.fingerprint == "" {
		return s.Trusted
	}
	return s.Key == d.fingerprint || s.Root == d.fingerprint
}

// signers returns those of which one has to have signed a skill; none: no signature is needed.
func (c *compiledPolicy) signers(skill SkillURL) (all []demandedSigner) {
	for _, d := range c.demanded {
		if d.root.Covers(skill) {
			all = append(all, d)
		}
	}
	return all
}

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
	return g.each(func(c *compiledPolicy) error {
		want := c.signers(skill)
		if len(want) == 0 {
			return nil
		}
		if reason := unsigned(want, files, now); reason != "" {
			return c.refused(skill.String(), reason)
		}
		return nil
	})
}

// unsigned returns why none of the signers has signed all files, or "".
func unsigned(want []demandedSigner, files map[string][]byte, now time.Time) string {
	reason := "the policy demands a signature, and the skill has none"
	for _, name := range modelsig.Find(files) {
		for _, d := range want {
			s, err := modelsig.Verify(files, name, d.trust, now)
			if err != nil {
				reason = "the policy demands a signature, and that of the skill does not hold: " + sentence(err)
				continue
			}
			switch loose := s.LeftOut(); {
			case !d.signs(s):
				reason = "the policy demands another signer than " + s.Fingerprint()
			case loose != "":
				reason = "the policy demands a signature, and the signer left out the file " + plaintext.Quote(loose, 200)
			default:
				return ""
			}
		}
	}
	return reason
}

// signatureNames are the usual names of a signature, to which no instructions refer.
var signatureNames = []string{"skill.oms.sig", "model.sig"}

// checkSigned refuses a skill that is not signed as the policies demand, before it is used: it fetches
// all of its files.
func (s *Loaded) checkSigned(ctx context.Context) error {
	if !s.loader.policies.needSignature(s.ID) {
		return nil
	}
	_, err := s.Bundle(ctx)
	return err
}
