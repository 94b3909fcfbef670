package agent

// consents is what the user agreed to for longer than once. owner: data
type consents struct{ session *Session }

func newConsents(s *Session) (*consents, error) { return &consents{s}, nil }
