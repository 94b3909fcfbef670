package dvs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
)

// Digest is the SHA-256 of some bytes, after content coding was removed. The
// zero Digest stands for none.
type Digest [sha256.Size]byte

// DigestOf computes the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

const digestPrefix = "sha256:"

// ParseDigest reads "sha256:" and 64 lower-case hex digits, not all of them 0.
func ParseDigest(text string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(text, digestPrefix)
	if ok = ok && len(digits) == hex.EncodedLen(len(d)) && strings.ToLower(digits) == digits; ok {
		_, err := hex.Decode(d[:], []byte(digits))
		ok = err == nil
	}
	switch {
	case !ok:
		return Digest{}, refuse(lookleap.CodeUsage, "", fmt.Sprintf("%q is not a digest", shorten(text)), "write sha256: and 64 lower-case hex digits")
	case d.IsZero(): // stands for none, and a promise that nothing keeps must not
		return Digest{}, refuse(lookleap.CodeUsage, "", fmt.Sprintf("%q is the digest of nothing that is known", shorten(text)), "")
	}
	return d, nil
}

// String gives "sha256:" and 64 lower-case hex digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// IsZero reports whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText gives what String gives, and "" for the zero Digest.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d = Digest{}
	if len(text) > 0 {
		*d, err = ParseDigest(string(text))
	}
	return err
}

// shorten keeps an error from carrying a whole input.
func shorten(text string) string { return text[:min(len(text), 100)] }
