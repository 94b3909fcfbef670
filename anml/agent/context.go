package agent

import "context"

// Context is what services told the agent (section 14.1). owner: data
type Context struct{ session *Session }

func newContext(s *Session) (*Context, error) { return &Context{s}, nil }

func (c *Context) close() error { return nil }

// receive takes up the informs of a page, as their usage allows.
func (c *Context) receive(ctx context.Context, p *Page) error { return nil }
