package lookleap

import (
	"errors"
	"testing"
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
