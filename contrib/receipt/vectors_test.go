package receipt_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/receipt"
)

var update = flag.Bool("update", false, "rewrite testdata")

// vectors are cases for any verifier of receipts.
type vectors struct {
	Input string          `json:"input"`
	Keys  json.RawMessage `json:"keys"`
	Cases []vector        `json:"cases"`
}

type vector struct {
	Name        string   `json:"name"`
	Requirement string   `json:"requirement"`
	Receipts    []string `json:"receipts"`
	Number      int64    `json:"number,omitempty"` // of the last receipt
	Digest      string   `json:"digest,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// TestVectors: testdata is what other implementations verify. With -update it is written again.
func TestVectors(t *testing.T) {
	const file = "testdata/vectors/receipts.json"
	if *update {
		made := makeVectors(t)
		data := indented(t, made)
		for name, content := range map[string][]byte{file: data, "testdata/keys.json": append(made.Keys, '\n'),
			"testdata/receipts.txt": []byte(strings.Join(made.Cases[0].Receipts, "\n") + "\n")} {
			if err := os.WriteFile(name, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	keys, err := aiuri.ParseKeySet(v.Keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := verify(each(c.Receipts), keys, receipt.Head{})
			if c.Reason != "" {
				if string(lookleap.CodeOf(err)) != c.Reason {
					t.Errorf("%v, want %s", err, c.Reason)
				}
			} else if err != nil || got != (receipt.Head{Number: c.Number, Digest: c.Digest}) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func indented(t *testing.T, value any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// makeVectors signs with keys from fixed seeds, which sign nothing else.
func makeVectors(t *testing.T) vectors {
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "2026", Private: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))}, aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: "2026", Private: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))}, aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	plan := func(summary string) *lookleap.Plan {
		r := lookleap.ConsentRequest{Kind: lookleap.ConsentTool, Origin: "this agent", Summary: summary,
			Items: []lookleap.ConsentItem{{ID: "call", Summary: summary, Recipient: lookleap.RecipientAgent, Digest: lookleap.Digest([]byte(summary))}}}
		p, err := lookleap.NewPlan(r, []byte(summary), at)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	log := func(by *aiuri.KeyRing) []string {
		l := receipt.NewLog(lookleap.NewMemoryStore(), by)
		first, second := plan("pay 5.00 EUR"), plan("delete the archive")
		for i, o := range []lookleap.PlanOutcome{
			{Plan: first, Approved: []string{"call"}, State: lookleap.PlanSent},
			{Plan: first, Approved: []string{"call"}, State: lookleap.PlanDone, Receipt: []byte("paid")},
			{Plan: second, State: lookleap.PlanRefused},
		} {
			o.At = at.Add(time.Duration(i) * time.Second)
			if err := l.Record(context.Background(), o); err != nil {
				t.Fatal(err)
			}
		}
		return all(t, l)
	}
	good, forged := log(ring), log(foreign)
	resign := func(old, changed string, claims *aiuri.Claims) string {
		signed, err := aiuri.SignResult([]byte(strings.Replace(payloadOf(t, good[0]), old, changed, 1)), ring.Current(), aiuri.SignOptions{Claims: claims})
		if err != nil {
			t.Fatal(err)
		}
		return signed.JWS
	}
	ours := &aiuri.Claims{Audience: []string{receipt.MediaType}}
	edit := func(n, at int) []string {
		changed := []byte(good[n])
		changed[at] ^= 1
		list := append([]string(nil), good...)
		list[n] = string(changed)
		return list
	}
	const signature, chain = "rejected-bad-signature", "ledger-broken"
	v := vectors{Input: "keys: a JWK Set; and in each case receipts that have to be signed and to follow one another from the first one. " +
		"number and digest are those of the last one. Verifiers need Ed25519 (EdDSA) for these", Keys: ring.JWKS()}
	add := func(name, reason string, receipts ...string) {
		c := vector{Name: name, Requirement: "receipt", Receipts: receipts, Reason: reason}
		if reason == "" {
			c.Number, c.Digest = int64(len(receipts)), lookleap.Digest([]byte(receipts[len(receipts)-1]))
		}
		v.Cases = append(v.Cases, c)
	}
	add("accept-log", "", good...)
	add("accept-first", "", good[0])
	add("reject-changed-payload", signature, edit(1, strings.Index(good[1], ".")+30)...)
	add("reject-changed-signature", signature, edit(1, strings.LastIndex(good[1], ".")+9)...)
	add("reject-without-the-first", chain, good[1:]...)
	add("reject-without-the-second", chain, good[0], good[2])
	add("reject-moved", chain, good[1], good[0], good[2])
	add("reject-repeated", chain, good[0], good[0])
	add("reject-other-key", signature, forged...)
	add("reject-one-of-another-log", signature, good[0], forged[1])
	add("reject-one-of-another-log-with-the-same-key", chain, good[0], log(ring)[1])
	add("reject-number-left-out", chain, good[0], resign(`"number":1`, `"number":3,"previous":"`+lookleap.Digest([]byte(good[0]))+`"`, ours))
	add("reject-without-audience", "rejected-policy", resign("", "", nil))
	add("reject-other-audience", "rejected-policy", resign("", "", &aiuri.Claims{Audience: []string{"ai://example.com/pay"}}))
	add("reject-other-version", chain, resign("version=1", "version=2", ours))
	add("reject-number-zero", chain, resign(`"number":1`, `"number":0`, ours))
	add("reject-member-twice", chain, resign("{", `{"outcome":"done",`, ours))
	add("reject-first-with-previous", chain, resign(`"number":1`, `"number":1,"previous":"`+lookleap.Digest(nil)+`"`, ours))
	add("reject-second-without-previous", chain, good[0], resign(`"number":1`, `"number":2`, ours))
	add("reject-no-signature", signature, fmt.Sprint(good[0][:strings.LastIndex(good[0], ".")+1]))
	return v
}
