package agentstxt

import (
	"testing"

	"github.com/lookleap/lookleap/internal/limitdoc"
)

func TestDocumentedDefaults(t *testing.T) { limitdoc.Check(t, "client.go", Limits.withDefaults) }
