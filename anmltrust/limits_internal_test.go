package anmltrust

import (
	"testing"

	"github.com/lookleap/lookleap/internal/limitdoc"
)

func TestDocumentedDefaults(t *testing.T) {
	limitdoc.Check(t, "verifier.go", Limits.withDefaults)
	limitdoc.Check(t, "manifest.go", ManifestLimits.withDefaults)
}
