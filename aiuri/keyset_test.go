package aiuri_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// rsaOf makes a public key of any modulus and exponent, to be written only.
func rsaOf(n *big.Int, e int) map[string]any {
	return map[string]any{"kty": "RSA", "kid": "k", "n": encode(n.Bytes()), "e": encode(big.NewInt(int64(e)).Bytes())}
}

func odd(n *big.Int) *big.Int { return n.SetBit(n, 0, 1) }

// rocaModulus has the residues of the weak generator and 2048 bits.
func rocaModulus() *big.Int {
	m := big.NewInt(1)
	for _, p := range []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
		101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167} {
		m.Mul(m, big.NewInt(p))
	}
	n := new(big.Int).Exp(big.NewInt(65537), big.NewInt(1234), m)
	n.Add(n, new(big.Int).Mul(m, new(big.Int).Lsh(big.NewInt(1), uint(2047-m.BitLen()+1))))
	return n
}

func TestKeySetUse(t *testing.T) {
	r := aiuri.SignedResult{JWS: es256(claims(""), "x", false)}
	for _, c := range []struct {
		id   string
		keys []map[string]any
	}{
		{"AIU-3.4-05/accept-kid", []map[string]any{jwk("1", ecKey())}},
		{"AIU-3.4-05/accept-use-sig", []map[string]any{jwk("1", ecKey(), with("use", "sig"), with("alg", "ES256"), with("key_ops", []string{"verify"}))}},
		{"AIU-3.4-05/accept-among-unusable", []map[string]any{jwk("1", ecKey()), {"kty": "oct", "kid": "s", "k": "AAAA"}, {"kty": "new", "kid": "n"}}},
		{"L13/accept-use-sig", []map[string]any{jwk("1", ecKey(), with("use", "sig"))}},
	} {
		t.Run(c.id, func(t *testing.T) {
			if _, err := aiuri.VerifyResult(r, keySet(t, c.keys...), now, aiuri.Expectation{}); err != nil {
				t.Error(err)
			}
		})
	}
	private := func(m map[string]any) { m["d"] = encode([]byte("secret")) }
	for _, c := range []struct {
		id  string
		key map[string]any
	}{
		{"AIU-3.4-05/reject-use-enc", jwk("1", ecKey(), with("use", "enc"))},
		{"AIU-3.4-05/reject-key-ops", jwk("1", ecKey(), with("key_ops", []string{"sign"}))},
		{"AIU-3.4-05/reject-alg-mismatch", jwk("1", ecKey(), with("alg", "ES384"))},
		{"AIU-3.4-05/reject-crv-mismatch", jwk("1", ecKey(), with("crv", "P-384"))},
		{"AIU-3.4-05/reject-kty-mismatch", jwk("1", ecKey(), with("kty", "RSA"))},
		{"AIU-3.4-05/reject-private", jwk("1", ecKey(), private)},
		{"AIU-3.4-05/reject-symmetric", map[string]any{"kty": "oct", "kid": "1", "k": encode([]byte("secret"))}},
		{"AIU-3.4-05/reject-unknown-kid", jwk("2", ecKey())},
		{"L13/reject-use-enc", jwk("1", ecKey(), with("use", "enc"))},
		{"L13/reject-key-ops-encrypt", jwk("1", ecKey(), with("key_ops", []string{"encrypt"}))},
		{"L13/reject-key-ops-text", jwk("1", ecKey(), with("key_ops", "verify"))},
		{"L13/reject-key-ops-empty", jwk("1", ecKey(), with("key_ops", []string{}))},
		{"L13/reject-alg-mismatch", jwk("1", ecKey(), with("alg", "ES256K"))},
	} {
		t.Run(c.id, func(t *testing.T) { refused(t, r, keySet(t, c.key), aiuri.Expectation{}, aiuri.CodeRejectedKey) })
	}
	for _, name := range []string{"p", "q", "dp", "dq", "qi", "oth"} {
		t.Run("AIU-3.4-05/reject-private-"+name, func(t *testing.T) {
			refused(t, r, keySet(t, jwk("1", ecKey(), with(name, "AA"))), aiuri.Expectation{}, aiuri.CodeRejectedKey)
		})
	}
	n := rsaKey().N
	for id, key := range map[string]map[string]any{
		"reject-e-1":         rsaOf(n, 1),
		"reject-e-65-bit":    {"kty": "RSA", "kid": "k", "n": encode(n.Bytes()), "e": encode([]byte{1, 0, 0, 0, 0, 0, 1, 0, 1})},
		"reject-e-even":      rsaOf(n, 65536),
		"reject-roca":        rsaOf(rocaModulus(), 65537),
		"reject-even-n":      rsaOf(new(big.Int).Lsh(n, 1), 65537),
		"reject-2047-bit":    rsaOf(odd(new(big.Int).Rsh(n, 1)), 65537),
		"reject-8193-bit":    rsaOf(odd(new(big.Int).Lsh(n, 6145)), 65537),
		"reject-no-exponent": {"kty": "RSA", "kid": "k", "n": encode(n.Bytes())},
	} {
		for _, row := range []string{"AIU-3.4-13/", "L13/"} {
			t.Run(row+id, func(t *testing.T) {
				set, err := aiuri.ParseKeySet(setText(key))
				if err != nil || set.Len() != 0 || len(set.Findings()) != 1 {
					t.Errorf("got %v, %v", set, err)
				}
			})
		}
	}
	for name, x := range map[string]string{
		"zero": strings.Repeat("00", 32), "one": "01" + strings.Repeat("00", 31), "one-negative": "01" + strings.Repeat("00", 30) + "80",
		"order-2": "ec" + strings.Repeat("ff", 30) + "7f", "order-4-beyond": "ed" + strings.Repeat("ff", 31), "order-1-beyond": "ee" + strings.Repeat("ff", 30) + "7f",
		"order-8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "order-8-too": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	} {
		t.Run("AIU-3.4-13/reject-low-order-"+name, func(t *testing.T) {
			octets := must(hex.DecodeString(x))
			set, err := aiuri.ParseKeySet(setText(map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": encode(octets)}))
			if err != nil || set.Len() != 0 || len(set.Findings()) != 1 {
				t.Errorf("got %v, %v", set, err)
			}
		})
	}
	for name, key := range map[string]map[string]any{
		"2048-bit": jwk("k", rsaKey()), "4096-bit": rsaOf(odd(new(big.Int).Lsh(n, 2048)), 65537), "e-3": rsaOf(n, 3),
	} {
		t.Run("AIU-3.4-13/accept-"+name, func(t *testing.T) {
			if set := keySet(t, key); set.Len() != 1 {
				t.Error(set.Findings())
			}
		})
	}
}

func TestParseKeySet(t *testing.T) {
	many := func(n int) []byte {
		keys := make([]map[string]any, n)
		for i := range keys {
			keys[i] = jwk(fmt.Sprint(i), ecKey())
		}
		return setText(keys...)
	}
	t.Run("AIU-3.4-13/accept-100", func(t *testing.T) {
		if set, err := aiuri.ParseKeySet(many(100)); err != nil || set.Len() != 100 {
			t.Error(err)
		}
	})
	for id, text := range map[string][]byte{
		"AIU-3.4-13/reject-101":              many(101),
		"AIU-3.4-13/reject-256-KiB":          append(many(1), []byte(strings.Repeat(" ", 256<<10))...),
		"AIU-3.4-05/reject-kid-twice":        setText(jwk("1", ecKey()), jwk("1", otherKey())),
		"AIU-3.4-05/reject-kid-twice-unused": setText(jwk("1", ecKey()), map[string]any{"kty": "oct", "kid": "1", "k": "AA"}),
		"L17/reject-duplicate-kid":           setText(jwk("1", ecKey()), jwk("1", ecKey())),
	} {
		t.Run(id, func(t *testing.T) {
			if set, err := aiuri.ParseKeySet(text); set != nil || lookleap.CodeOf(err) != aiuri.CodeBadKeySet {
				t.Errorf("got %v, %v", set, err)
			}
		})
	}
}

// TestOddKeys: what is not understood of a set leaves the other keys usable.
func TestOddKeys(t *testing.T) {
	good := string(must(json.Marshal(jwk("1", ecKey()))))
	for name, text := range map[string]string{
		"string": `{"keys":["x",` + good + `]}`, "null": `{"keys":[null,` + good + `]}`, "list": `{"keys":[[],` + good + `]}`,
		"empty": `{"keys":[{},` + good + `]}`, "number-as-kid": `{"keys":[{"kty":"EC","kid":7},` + good + `]}`,
		"number-as-kty": `{"keys":[{"kty":7,"kid":"7"},` + good + `]}`, "long-x": `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + strings.Repeat("A", 9000) + `"},` + good + `]}`,
		"unknown-curve": `{"keys":[{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA","kid":"pq"},` + good + `]}`, "key-ops-as-string": `{"keys":[{"kty":"EC","key_ops":"verify"},` + good + `]}`,
	} {
		t.Run("AIU-3.4-05/accept-others-beside-"+name, func(t *testing.T) {
			set, err := aiuri.ParseKeySet([]byte(text))
			if err != nil || set.Len() != 1 || len(set.Findings()) != 1 {
				t.Errorf("%v, %v", set, err)
			}
		})
	}
	t.Run("P37/accept-byte-order-mark-with-finding", func(t *testing.T) {
		set, err := aiuri.ParseKeySet([]byte("\xef\xbb\xbf" + `{"keys":[` + good + `]}`))
		if err != nil || set.Len() != 1 || len(set.Findings()) != 1 {
			t.Errorf("%v, %v", set, err)
		}
		d, err := aiuri.ParseDescriptor([]byte("\xef\xbb\xbf"+`{"endpoint":"ai://shop.example/ai"}`), "https://shop.example")
		if err != nil || len(d.Findings) != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("AIU-3.4-05/accept-unknown-members", func(t *testing.T) {
		set, err := aiuri.ParseKeySet([]byte(`{"keys":[` + strings.TrimSuffix(good, "}") + `,"exp":1e400,"x5t#S256":[1]}],"updated":{"at":null}}`))
		if err != nil || set.Len() != 1 || len(set.Findings()) != 0 {
			t.Errorf("%v, %v", set, err)
		}
	})
}

func FuzzParseKeySet(f *testing.F) {
	f.Add(setText(jwk("1", ecKey()), jwk("2", edKey())))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := aiuri.ParseKeySet(data)
		if (set == nil) == (err == nil) {
			t.Fatalf("got %v, %v", set, err)
		}
	})
}

// newRotation is a world whose clock stands still and whose client has read the keys once: ask
// sends a request, and fetched counts how often the keys were read.
func newRotation(t *testing.T) (w *world, ask func() error, fetched func() int) {
	w = newWorld(t)
	w.net.Clock().Freeze()
	client := must(aiuri.NewClient(w.host, w.options))
	ask = func() error { _, err := client.Invoke(t.Context(), pay); return err }
	fetched = func() int {
		return strings.Count(strings.Join(w.net.Journal().Paths("bank.example"), " "), "/jwks.json")
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	return w, ask, fetched
}

func TestRotation(t *testing.T) {
	w, ask, fetched := newRotation(t)
	w.keys(jwk("1", ecKey()), jwk("2", otherKey()))
	w.answer = receipt("2", true)
	for _, row := range []string{"AIU-3.4-12", "L20"} {
		t.Run(row+"/reject-unknown-kid-flood", func(t *testing.T) {
			for range 3 {
				if err := ask(); lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
					t.Error(err)
				}
			}
			if n := fetched(); n != 1 {
				t.Errorf("the keys were fetched %d times", n)
			}
		})
	}
	w.net.Clock().Advance(5*time.Minute - time.Second)
	t.Run("AIU-3.4-12/reject-unknown-kid-before-five-minutes", func(t *testing.T) {
		if err := ask(); lookleap.CodeOf(err) != aiuri.CodeRejectedKey || fetched() != 1 {
			t.Errorf("got %v after %d fetches", err, fetched())
		}
	})
	w.net.Clock().Advance(time.Second)
	t.Run("AIU-3.4-12/accept-one-refetch", func(t *testing.T) {
		if err := ask(); err != nil || fetched() != 2 {
			t.Errorf("got %v after %d fetches", err, fetched())
		}
	})
	t.Run("AIU-3.4-12/accept-refetched-keys-for-their-whole-life", func(t *testing.T) {
		w.net.Clock().Advance(10*time.Minute - time.Second)
		if err := ask(); err != nil || fetched() != 2 {
			t.Errorf("got %v after %d fetches", err, fetched())
		}
	})
	w.keys(jwk("2", otherKey()))
	w.answer = receipt("1", true)
	w.net.Clock().Advance(10 * time.Minute)
	for _, row := range []string{"AIU-3.4-12", "L20"} {
		t.Run(row+"/reject-removed-key", func(t *testing.T) {
			if err := ask(); lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
				t.Error(err)
			}
		})
	}
}

// TestRotationWithoutKeyServer holds that a foreign signature neither takes away
// the keys that are known, nor makes the agent knock again and again.
func TestRotationWithoutKeyServer(t *testing.T) {
	w, ask, fetched := newRotation(t)
	w.net.Clock().Advance(5 * time.Minute)
	w.bank.Status("/jwks.json", 503)
	tries := func(t *testing.T) {
		w.answer = receipt("2", true)
		for range 3 {
			err := ask()
			if lookleap.CodeOf(err) != aiuri.CodeRejectedKey {
				t.Error(err)
			}
			var no *lookleap.VerifyError
			if !errors.As(err, &no) || !slices.ContainsFunc(no.Verdict.Checks, func(c lookleap.Check) bool { return c.Code == lookleap.CodeBadStatus }) {
				t.Errorf("nothing tells that the key server failed: %v", err)
			}
		}
		if n := fetched(); n != 2 {
			t.Errorf("the keys were fetched %d times", n)
		}
	}
	t.Run("AIU-3.4-12/reject-one-try-while-the-server-is-down", tries)
	t.Run("L20/reject-one-try-while-the-server-is-down", tries)
	t.Run("AIU-3.4-12/accept-known-key-while-the-server-is-down", func(t *testing.T) {
		w.answer = receipt("1", true)
		if err := ask(); err != nil {
			t.Error(err)
		}
	})
}
