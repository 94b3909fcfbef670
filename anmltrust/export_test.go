package anmltrust

// Remember makes a verifier forget everything, and remember from now on at most a number of entries
// of each kind, manifests, and bytes.
func Remember(v *Verifier, entries, manifests, bytes int) {
	v.memory = newMemory(v.host.Time, entries, manifests, bytes)
}

// ForgetManifests makes a verifier forget the manifests, and nothing else.
func ForgetManifests(v *Verifier) { v.memory.manifests.Purge() }

// Remembered returns how many manifests and decisions a verifier remembers, and how many bytes each.
func Remembered(v *Verifier) (manifests, manifestBytes, decisions, decisionBytes int) {
	m := v.memory
	return m.manifests.Len(), m.manifests.Bytes(), m.decisions.Len(), m.decisions.Bytes()
}

// Ceiling returns the most that a tier can permit.
func Ceiling(t Tier) Scope { return t.ceiling() }
