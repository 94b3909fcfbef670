package lookleap_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// The examples of this file show, one document each, how a package stands on
// the contracts. What they define is the least that makes the point; the
// packages themselves carry the real thing.

// web answers from a table of paths, like a transport that an agent brings.
func web(pages map[string]string) lookleap.Fetcher {
	return fetcherFunc(func(r *http.Request) (*http.Response, error) {
		body, ok := pages[r.URL.String()]
		if !ok {
			return &http.Response{StatusCode: 404, Body: http.NoBody, Request: r}, nil
		}
		return &http.Response{StatusCode: 200, Body: readCloser{strings.NewReader(body)}, Request: r}, nil
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// A policy guards every other fetch simply by being a Fetcher: a Host that is
// built on the guard is guarded, and so is any http.Client.
func Example_agentstxt() {
	inner := &lookleap.Host{Fetcher: web(map[string]string{"https://example.com/open": "welcome"})}
	guard := fetcherFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/private") {
			return nil, &lookleap.VerifyError{
				Verdict: &lookleap.Verdict{Subject: r.URL.String(), Code: lookleap.CodeDenied, Summary: "line 3 says DISALLOW"},
				Err:     lookleap.ErrDenied,
			}
		}
		return inner.RoundTrip(r)
	})
	guarded := &lookleap.Host{Fetcher: guard}
	client := &http.Client{Transport: guarded}
	for _, path := range []string{"/open", "/private/x"} {
		resp, err := client.Get("https://example.com" + path)
		if err != nil {
			var no *lookleap.VerifyError
			fmt.Println(path, errors.Is(err, lookleap.ErrDenied), errors.As(err, &no) && no.Verdict.Summary != "")
			continue
		}
		fmt.Println(path, resp.StatusCode)
		_ = resp.Body.Close()
	}
	// Output:
	// /open 200
	// /private/x true true
}

// Absence is an answer, not an error: the document decides what it means.
func Example_wellknown() {
	host := &lookleap.Host{Fetcher: web(nil)}
	req, _ := http.NewRequest("GET", "https://example.com/.well-known/security.txt", nil)
	resp, err := host.RoundTrip(req)
	if err != nil {
		fmt.Println(lookleap.CodeOf(err))
		return
	}
	fmt.Println("absent:", resp.StatusCode == http.StatusNotFound)
	// Output: absent: true
}

// A loader returns its skill only on success; a refusal is its whole story.
func Example_dvs() {
	load := func(host *lookleap.Host, url string) (string, error) {
		v := &lookleap.Verdict{Document: "draft-zzn-dvs-00", Subject: url, CheckedAt: host.Time()}
		if !strings.HasPrefix(url, "https://example.com/") {
			v.Code, v.Summary = dvs.CodeOutsideTrustRoot, "the URL does not lie under https://example.com/"
			v.Checks = []lookleap.Check{{Requirement: "DVS-3.1-05", Code: v.Code, Status: lookleap.Failed, Message: "another origin"}}
			return "", &lookleap.VerifyError{Verdict: v}
		}
		return "refund", nil
	}
	host := &lookleap.Host{}
	defer host.Close()
	skill, err := load(host, "https://example.com.evil.example/refund/SKILL.md")
	var no *lookleap.VerifyError
	if errors.As(err, &no) {
		fmt.Print(no.Verdict) // why not, as a short tree
		return
	}
	fmt.Println(skill)
	// Output:
	// no: https://example.com.evil.example/refund/SKILL.md (outside-trust-root): the URL does not lie under https://example.com/
	// └─ x another origin (outside-trust-root) [DVS-3.1-05]
}

// Gathering and deciding are apart: the verdict's record holds claim and
// evidence, so that anybody can judge it again without the network.
func Example_anmltrust() {
	type evidence struct {
		Serving string
		Listed  []string
	}
	decide := func(e evidence) bool {
		for _, host := range e.Listed {
			if host == e.Serving {
				return true
			}
		}
		return false
	}
	seen := evidence{Serving: "cdn.example.net", Listed: []string{"cdn.example.net"}}
	record, _ := json.Marshal(seen)
	verdict := &lookleap.Verdict{OK: decide(seen), Code: lookleap.CodeOK, Record: record}

	stored, _ := json.Marshal(verdict)
	var again lookleap.Verdict
	_ = json.Unmarshal(stored, &again)
	var replayed evidence
	_ = json.Unmarshal(again.Record, &replayed)
	fmt.Println("judged again:", decide(replayed) == again.OK)

	cache, _ := lookleap.SealedCache(lookleap.NewMemoryCache(8), []byte("0123456789abcdef0123456789abcdef"))
	_, _, err := cache.Get(context.Background(), "grant")
	fmt.Println("a miss:", errors.Is(err, fs.ErrNotExist))
	// Output:
	// judged again: true
	// a miss: true
}

// Telling and acting is one plan: prepared completely, asked once, done once.
func Example_agent() {
	ui := prompterFunc(func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{"submit"}}, nil // not the phone number
	})
	host := &lookleap.Host{Prompter: ui}
	defer host.Close()
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "book a table",
		Items: []lookleap.ConsentItem{
			{ID: "submit", Summary: "send the booking", Recipient: "https://shop.example"},
			{ID: "phone", Summary: "tell your phone number", Recipient: "https://shop.example", Optional: true},
		},
	}, []byte(`{"table":2}`), host.Time())
	if err != nil {
		fmt.Println(err)
		return
	}
	approval, err := host.Ask(context.Background(), plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	send := func(_ context.Context, a *lookleap.Approval) error {
		fmt.Printf("sent %s, phone number: %v\n", a.Plan().Effect(), a.Has("phone"))
		return nil
	}
	fmt.Println(host.CommitApproved(context.Background(), approval, send))
	fmt.Println(errors.Is(host.CommitApproved(context.Background(), approval, send), lookleap.ErrAlreadyDone))
	// Output:
	// sent {"table":2}, phone number: false
	// <nil>
	// true
}

// A record counts as much as its DNSSEC state lets it; a forged one is an error.
func Example_aiuri() {
	dns := resolverFunc(func(_ context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
		if name == "_aiip.forged.example" {
			return nil, &lookleap.BogusError{Name: name, Zone: "forged.example", EDE: 6, Reason: "the signature does not match"}
		}
		return &lookleap.DNSAnswer{
			Exists: true, TTL: time.Hour, DNSSEC: lookleap.Secure,
			Records: []lookleap.Record{{Text: "endpoint=ai://bank.example/pay"}},
		}, nil
	})
	host := &lookleap.Host{Resolver: dns}
	for _, name := range []string{"_aiip.bank.example", "_aiip.forged.example"} {
		answer, err := host.Lookup(context.Background(), name, lookleap.TypeTXT)
		if err != nil {
			fmt.Println(lookleap.CodeOf(err))
			continue
		}
		fmt.Println(answer.DNSSEC, answer.Records[0].Text)
	}
	// Output:
	// secure endpoint=ai://bank.example/pay
	// dnssec-bogus
}
