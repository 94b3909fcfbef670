package lookleap

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/dnssec"
)

// TestResolverClose: the resolver closes the fetcher that it built, and says if that fails.
func TestResolverClose(t *testing.T) {
	r, err := NewResolver(ResolverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own := r.(*validatingResolver)
	if _, ok := own.fetcher.(*guardedFetcher); !ok {
		t.Errorf("without a Fetcher it uses %T", own.fetcher)
	}
	broken := new(notClosed)
	own.fetcher = broken
	if err := own.Close(); !errors.Is(err, errNotClosed) || broken.asked != 1 {
		t.Errorf("%v after %d calls", err, broken.asked)
	}
	r, err = NewResolver(ResolverOptions{Fetcher: broken})
	if err != nil {
		t.Fatal(err)
	}
	own = r.(*validatingResolver)
	if err := own.Close(); err != nil || own.fetcher != nil || broken.asked != 1 {
		t.Errorf("the Fetcher of the caller: %v after %d calls", err, broken.asked)
	}
}

// TestAnswerOfLimits: records that exhaust validators are told apart from a lookup that takes too many
// steps, which may be the server's fault.
func TestAnswerOfLimits(t *testing.T) {
	for code, err := range map[Code]error{
		CodeDNSSECLimit: &dnssec.BudgetError{Name: "a.example", Zone: "example", What: "signatures", Limit: 8},
		CodeDNSError:    &dnssec.BudgetError{Name: "a.example", What: "queries", Limit: 64},
	} {
		if a, err := answerOf("a.example", TypeTXT)(nil, err); a != nil || CodeOf(err) != code {
			t.Errorf("%s: %v, %v", code, a, err)
		}
	}
}

func TestTextBytes(t *testing.T) {
	half := strings.Repeat("x", maxTXTBytes/2)
	for _, c := range []struct {
		texts []string
		ok    bool
	}{{[]string{half, half}, true}, {[]string{half, half, "x"}, false}} {
		if records, err := textRecords(c.texts); (err == nil) != c.ok || c.ok && len(records) != len(c.texts) {
			t.Errorf("%d texts: %d records, %v", len(c.texts), len(records), err)
		}
	}
}
