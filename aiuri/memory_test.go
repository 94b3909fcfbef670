package aiuri_test

import (
	"bytes"
	"crypto"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/alloctest"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestVerifyIsCheap counts every byte that is allocated for results as large as
// they may be, made by an endpoint that signs them as it should. With what holds
// the result itself, that stays below three times the limit.
func TestVerifyIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("signs results of some megabytes")
	}
	set := keySet(t, jwk("ec", ecKey()), jwk("ed", edKey()))
	fill := func(begin, piece, end string, size int) []byte {
		text := append([]byte(begin), bytes.Repeat([]byte(piece), (size-len(begin)-len(end))/len(piece))...)
		return append(text, end...)
	}
	for name, c := range map[string]struct {
		begin, piece, end string
		code              lookleap.Code
	}{
		"octets":         {"", "x", "", lookleap.CodeOK},
		"many-values":    {`{"exp":1,"x":[1`, ",1", "]}", aiuri.CodeRejectedPolicy},
		"many-members":   {`{"exp":1`, `,"":1`, "}", aiuri.CodeRejectedPolicy},
		"many-names":     {`{"exp":1,"x":{"":0`, `,"\u0061":1`, "}}", aiuri.CodeRejectedPolicy},
		"many-brackets":  {`{"exp":1,"x":`, "[", "", aiuri.CodeRejectedPolicy},
		"large-claim":    {`{"iss":"`, "x", `"}`, aiuri.CodeRejectedPolicy},
		"large-audience": {`{"aud":["x"`, `,"x"`, `]}`, aiuri.CodeRejectedPolicy},
		"many-claims":    {`{"exp":1`, `,"exp":1`, `}`, aiuri.CodeRejectedPolicy},
		"large-escapes":  {`{"exp":1,"x":"`, `\u00e9`, `"}`, aiuri.CodeRejectedPolicy},
	} {
		for id, key := range map[string]crypto.Signer{"ec": ecKey(), "ed": edKey()} {
			for form, size := range map[string]int{"detached": aiuri.MaxResult, "embedded": aiuri.MaxResult * 3 / 4} {
				t.Run(name+"-"+id+"-"+form, func(t *testing.T) {
					r := must(aiuri.SignResult(fill(c.begin, c.piece, c.end, size), aiuri.SigningKey{ID: id, Private: key}, aiuri.SignOptions{Detached: form == "detached"}))
					alloctest.AtMost(t, 2*aiuri.MaxResult, func() {
						if _, err := aiuri.VerifyResult(r, set, now, aiuri.Expectation{}); lookleap.CodeOf(err) != c.code {
							t.Errorf("got %v", err)
						}
					})
				})
			}
		}
	}
}

// TestGatewayIsCheap counts what a gateway allocates for a request as large as it
// may be.
func TestGatewayIsCheap(t *testing.T) {
	const limit = 1 << 20
	g := newGatewayWorld(t)
	body := strings.Repeat("x", limit)
	g.serve(t, "POST", payTarget, "{}") // what is found out once is not counted
	alloctest.AtMost(t, 2*limit, func() {
		if w := g.serve(t, "POST", payTarget, body); w.Code != 200 {
			t.Errorf("got %d", w.Code)
		}
	})
}

// TestInvocationIsCheap counts what a client allocates for a request as large as it
// may be, from the plan over the consent to the result: the effect, the plan's own
// copy of it, and the one that is sent.
func TestInvocationIsCheap(t *testing.T) {
	w := newWorld(t)
	w.options.Native, w.host.Prompter = &recorder{}, prompter(allow)
	client := must(aiuri.NewClient(w.host, w.options))
	r := aiuri.Request{URI: pay.URI, Body: []byte("{}")}
	must(client.Invoke(t.Context(), r)) // what is found out once is not counted
	r.Body = bytes.Repeat([]byte("x"), aiuri.DefaultMaxBody)
	alloctest.AtMost(t, 3*aiuri.DefaultMaxBody+aiuri.DefaultMaxBody/2, func() { must(client.Invoke(t.Context(), r)) })
}

func TestRequestDigest(t *testing.T) {
	c := &aiuri.Call{Method: "POST", URI: parseAny("AI://Bank/%61"), Body: []byte("{}")}
	if got, want := aiuri.RequestDigest(c), lookleap.Digest([]byte("POST ai://bank/a\n{}")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEntries: a discoverer keeps as many discoveries, documents and policies as its options say.
func TestEntries(t *testing.T) {
	policy := func(host, policy string) string {
		return strings.Replace(documentOf("ai://"+host+"/", "https://"+host), "{", `{"policy":`+policy+`,`, 1)
	}
	for entries, read := range map[int]int{1: 2, 2: 2, 3: 1} {
		t.Run(fmt.Sprintf("AIU-6-04/reject-more-than-%d-entries", entries), func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			d := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{Entries: entries})
			for _, host := range []string{"a.example", "b.example", "c.example", "a.example"} {
				net.Site(host).Body(documentPath, "application/json", policy(host, `{"mtls":true}`))
				if _, err := d.Discover(t.Context(), "https://"+host+"/"); err != nil {
					t.Fatal(err)
				}
			}
			seen := strings.Join(net.Journal().Paths("a.example"), "\n") + "\n"
			for _, path := range []string{"/", documentPath} {
				if n := strings.Count(seen, "GET "+path+"\n"); n != read {
					t.Errorf("%s was read %d times, want %d", path, n, read)
				}
			}
		})
		t.Run(fmt.Sprintf("AIU-6-04/reject-more-than-%d-policies", entries), func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			d := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{Entries: entries})
			for i, host := range []string{"a.example", "b.example", "c.example", "a.example"} {
				net.Site(host).Body(documentPath, "application/json", policy(host, fmt.Sprintf(`{"mtls":%t}`, i < 3)))
				_, err := d.Discover(t.Context(), "https://"+host+"/")
				if weaker := i == 3 && entries == 3; (lookleap.CodeOf(err) == aiuri.CodePolicyDowngrade) != weaker || !weaker && err != nil {
					t.Errorf("%s: %v", host, err)
				}
				net.Clock().Advance(25 * time.Hour) // everything but the policies expires
			}
		})
	}
}
