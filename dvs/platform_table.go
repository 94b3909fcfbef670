package dvs

import (
	_ "embed"
	"sync"

	"gopkg.in/yaml.v3"
)

// PlatformsDate is the day of the last review of the built-in table.
const PlatformsDate = "2026-11-28"

//go:embed platforms.yaml
var platformTable []byte

// builtin is the built-in table. It is read on first use, so that importing the package costs next to
// nothing.
var builtin = sync.OnceValue(func() *Platforms {
	var entries []Platform
	if err := yaml.Unmarshal(platformTable, &entries); err != nil {
		panic(err) // the table is a part of the program
	}
	return newPlatforms(entries)
})
