package aiuri

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"io"
	"math/big"
)

// Algorithms of RFC 7518 and RFC 8037 that results may be signed with. HS* would
// turn a public key into a shared secret, and "none" is no signature.
const (
	ES256 = "ES256"
	ES384 = "ES384"
	PS256 = "PS256"
	EdDSA = "EdDSA" // Ed25519
	RS256 = "RS256" // only where an option allows it
)

// known reports whether the algorithm is one that may be used at all.
func known(algorithm string, allowRS256 bool) bool {
	switch algorithm {
	case ES256, ES384, PS256, EdDSA:
		return true
	case RS256:
		return allowRS256
	}
	return false
}

// verify checks a signature over header and payload, hashing the payload as it
// goes: no encoded copy of it is made. The algorithm is bound to the key by
// [KeySet.find] already.
func verify(key crypto.PublicKey, j *jws, payload []byte) bool {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		size := (k.Curve.Params().BitSize + 7) / 8
		if len(j.signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(j.signature[:size]), new(big.Int).SetBytes(j.signature[size:])
		if j.header.algorithm == ES384 {
			return ecdsa.Verify(k, j.sum(sha512.New384(), payload), r, s)
		}
		return ecdsa.Verify(k, j.sum(sha256.New(), payload), r, s)
	case *rsa.PublicKey:
		if len(j.signature) != k.Size() {
			return false
		}
		digest := j.sum(sha256.New(), payload)
		if j.header.algorithm == RS256 {
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, digest, j.signature) == nil
		}
		return rsa.VerifyPSS(k, crypto.SHA256, digest, j.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	case ed25519.PublicKey:
		return len(k) == ed25519.PublicKeySize && ed25519.Verify(k, j.message(payload), j.signature)
	}
	return false
}

// sum hashes the signing input (RFC 7515 section 5.1).
func (j *jws) sum(h hash.Hash, payload []byte) []byte {
	j.write(h, payload)
	return h.Sum(nil)
}

func (j *jws) write(w io.Writer, payload []byte) {
	_, _ = io.WriteString(w, j.protected)
	_, _ = io.WriteString(w, ".")
	switch {
	case j.payload != "":
		writeText(w, j.payload)
	case j.header.plain:
		_, _ = w.Write(payload)
	default:
		writeEncoded(w, payload)
	}
}

// writeEncoded writes base64url piece by piece, whole groups of three but for the
// last.
func writeEncoded(w io.Writer, payload []byte) {
	const piece = 3 << 10
	text := make([]byte, 0, base64.RawURLEncoding.EncodedLen(min(len(payload), piece)))
	for len(payload) > 0 {
		n := min(len(payload), piece)
		text = appendEncoded(text[:0], payload[:n])
		_, _ = w.Write(text)
		payload = payload[n:]
	}
}

// digitPairs are the two digits of base64url for each twelve bits, as they lie in
// memory.
var digitPairs = func() (pairs [1 << 12]uint64) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range pairs {
		pairs[i] = uint64(digits[i>>6]) | uint64(digits[i&63])<<8
	}
	return pairs
}()

// appendEncoded encodes six octets to eight digits in one step: with hashes as fast
// as they are, encoding would take most of the time of a large result.
func appendEncoded(text, p []byte) []byte {
	for len(p) >= 8 { // of which six are used
		v := binary.BigEndian.Uint64(p)
		text = binary.LittleEndian.AppendUint64(text, digitPairs[v>>52]|digitPairs[v>>40&0xfff]<<16|digitPairs[v>>28&0xfff]<<32|digitPairs[v>>16&0xfff]<<48)
		p = p[6:]
	}
	return base64.RawURLEncoding.AppendEncode(text, p)
}

// writeText writes piece by piece, since hashes take no strings and a payload may
// be large.
func writeText(w io.Writer, text string) {
	for piece := make([]byte, min(len(text), 4<<10)); text != ""; {
		n := copy(piece, text)
		text = text[n:]
		_, _ = w.Write(piece[:n])
	}
}

// message is the signing input as one piece, which Ed25519 reads twice.
func (j *jws) message(payload []byte) []byte {
	size := len(j.payload)
	if size == 0 {
		size = base64.RawURLEncoding.EncodedLen(len(payload))
	}
	m := make(appender, 0, len(j.protected)+1+size)
	j.write(&m, payload)
	return m
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
