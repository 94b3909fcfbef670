package agent

// pages keeps opened pages of one session as HTTP and the documents allow.
type pages struct{ session *Session }

func newPages(s *Session) *pages { return &pages{s} }

func (p *pages) close() {}
