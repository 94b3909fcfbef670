package main

// targets lists everything that is measured.
func targets() []target {
	return anmlTargets()
}
