package agent

// gate says when which action may be sent: rate limits, waits that services
// asked for, and actions that are over for the session. owner: actions
type gate struct{ session *Session }

func newGate(s *Session) *gate { return &gate{s} }
