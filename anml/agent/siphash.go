package agent

import (
	"encoding/binary"
	"math/bits"
)

// sipHash is SipHash-2-4, a keyed hash for short messages: whoever does not know the
// key cannot foresee it. The standard library's own keyed hashes either take five times
// as long for the few octets that are hashed here, or have a key that no other process
// can use.
type sipHash struct {
	v0, v1, v2, v3 uint64
	words          uint64
}

func newSipHash(key [16]byte) sipHash {
	k0, k1 := binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])
	return sipHash{v0: k0 ^ 0x736f6d6570736575, v1: k1 ^ 0x646f72616e646f6d, v2: k0 ^ 0x6c7967656e657261, v3: k1 ^ 0x7465646279746573}
}

// write adds eight octets to the message, as a number.
func (h *sipHash) write(word uint64) {
	h.words++
	h.v3 ^= word
	h.round()
	h.round()
	h.v0 ^= word
}

// sum ends the message.
func (h *sipHash) sum() uint64 {
	h.write(h.words * 8 << 56)
	h.v2 ^= 0xff
	for range 4 {
		h.round()
	}
	return h.v0 ^ h.v1 ^ h.v2 ^ h.v3
}

func (h *sipHash) round() {
	h.v0 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 13) ^ h.v0
	h.v0 = bits.RotateLeft64(h.v0, 32)
	h.v2 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 16) ^ h.v2
	h.v0 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 21) ^ h.v0
	h.v2 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 17) ^ h.v2
	h.v2 = bits.RotateLeft64(h.v2, 32)
}
