package aiuri

import "math/big"

// rocaPrimes are the small primes whose residues give away a modulus that was
// made by the weak generator of CVE-2017-15361.
var rocaPrimes = [...]int64{3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
	101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167}

// isROCA reports whether the modulus is, for every small prime, a power of
// 65537: primes of that generator were built from such powers, and others pass
// with a probability of about 1 in 2^27.
func isROCA(n *big.Int) bool {
	var residue, prime big.Int
	for _, p := range rocaPrimes {
		r := residue.Mod(n, prime.SetInt64(p)).Int64()
		if !isPower(r, p) {
			return false
		}
	}
	return true
}

func isPower(r, p int64) bool {
	power := int64(1)
	for range p {
		if power == r {
			return true
		}
		power = power * 65537 % p
	}
	return false
}
