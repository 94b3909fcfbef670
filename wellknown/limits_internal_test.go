package wellknown

import (
	"testing"

	"github.com/lookleap/lookleap/internal/limitdoc"
)

// TestDocumentedDefaults: the other limits are those of package fetch, which has the same defaults.
func TestDocumentedDefaults(t *testing.T) {
	limitdoc.Check(t, "client.go", Limits.withDefaults, "Body", "Time", "Redirects")
}
