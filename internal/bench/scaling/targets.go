package main

import "slices"

// targets lists everything that is measured.
func targets() []target {
	return slices.Concat(anmlTargets(), agentTargets(), textTargets(), archiveTargets(), recordTargets())
}
