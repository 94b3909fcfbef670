package lookleaptest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// recorder is a testing.TB that remembers how a test ended instead of failing.
type recorder struct {
	testing.TB
	mu      sync.Mutex
	message string
	failed  bool
	skipped bool
}

func (r *recorder) Helper() {}

func (r *recorder) end(message string, failed bool) {
	r.mu.Lock()
	r.message, r.failed, r.skipped = message, failed, !failed
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any)                 { r.end(fmt.Sprint(args...), true) }
func (r *recorder) Fatalf(format string, args ...any) { r.end(fmt.Sprintf(format, args...), true) }
func (r *recorder) Skip(args ...any)                  { r.end(fmt.Sprint(args...), false) }

// verdicts runs a contract in a bubble, where waiting takes no time, and returns the
// message of each promise that failed, or only of the named one.
func verdicts[T any](t *testing.T, e func() Engine[T], promises []promise[T], only string) map[string]string {
	t.Helper()
	failed := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		engine := e()
		for _, p := range promises {
			if only != "" && p.name != only {
				continue
			}
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				p.test(r, engine)
			}()
			<-done
			if r.failed {
				failed[p.name] = r.message
			}
		}
		time.Sleep(time.Hour) // calls that outlive their test end
	})
	return failed
}

// accepts checks that a contract finds no broken promise.
func accepts[T any](t *testing.T, e func() Engine[T], promises []promise[T]) {
	t.Helper()
	for name, message := range verdicts(t, e, promises, "") {
		t.Errorf("%s: %s", name, message)
	}
}

// rejects checks that a contract finds a promise broken, and says so.
func rejects[T any](t *testing.T, e func() Engine[T], promises []promise[T], name string) {
	t.Helper()
	message, ok := verdicts(t, e, promises, name)[name]
	if !ok {
		t.Fatalf("the contract did not find that %s is broken", name)
	}
	for _, p := range promises {
		if p.name == name && !strings.Contains(message, "broken promise: "+p.text) {
			t.Errorf("the message does not state the promise: %s", message)
		}
	}
}

// covers checks that there is a broken implementation for each promise.
func covers[T, B any](t *testing.T, promises []promise[T], broken map[string]B) {
	t.Helper()
	for _, p := range promises {
		if _, ok := broken[p.name]; !ok {
			t.Errorf("no implementation breaks %s", p.name)
		}
	}
}

func TestEngineWithoutOpen(t *testing.T) {
	failed := verdicts(t, func() Engine[lookleap.Cache] { return Engine[lookleap.Cache]{} }, cachePromises, "")
	if len(failed) != len(cachePromises) {
		t.Errorf("%d promises failed", len(failed))
	}
	for name, message := range failed {
		if !strings.Contains(message, "no Open function") {
			t.Errorf("%s: %s", name, message)
		}
	}
}

func TestPromiseNames(t *testing.T) {
	inForm(t, cachePromises)
	inForm(t, storePromises)
	inForm(t, limiterPromises)
	inForm(t, fetcherPromises)
	inForm(t, resolverPromises)
	inForm(t, prompterPromises)
}

// inForm checks that names are unique and can be names of data, and that texts are clauses.
func inForm[T any](t *testing.T, promises []promise[T]) {
	t.Helper()
	seen := map[string]bool{}
	for _, p := range promises {
		if seen[p.name] || p.name != strings.ToLower(p.name) || len("contract-"+p.name) > 40 || p.text == "" ||
			strings.HasSuffix(p.text, ".") {
			t.Errorf("the name or text of %q is not in form: %q", p.name, p.text)
		}
		seen[p.name] = true
	}
}
