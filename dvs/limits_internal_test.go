package dvs

import (
	"testing"

	"github.com/lookleap/lookleap/internal/limitdoc"
)

func TestDocumentedDefaults(t *testing.T) { limitdoc.Check(t, "loader.go", Limits.withDefaults) }
