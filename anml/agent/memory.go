package agent

// memory is where ANML is and is not, as far as the session knows: negative
// entries, tombstones, moved URIs (section 6.5.1).
type memory struct{ session *Session }

func newMemory(s *Session) (*memory, error) { return &memory{s}, nil }
