package lookleapmcp

import (
	"container/list"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSessions is how many MCP sessions of one user are open at once. The session that was idle for
// the longest time ends when a new one begins.
const maxSessions = 64

// sessions are the MCP sessions of a user.
type sessions struct {
	mu   sync.Mutex
	open list.List // of *openSession, the one that was used last at the back
}

type openSession struct {
	session *mcp.ServerSession
	uses    int // requests that run
}

// enter counts a request of a session, and ends the session that was idle for the longest time if
// there are too many. Call the function that it returns when the request ends.
func (s *sessions) enter(server *mcp.Server, session *mcp.ServerSession) (leave func()) {
	s.mu.Lock()
	var mine *list.Element
	for e := s.open.Front(); e != nil; e = e.Next() {
		if e.Value.(*openSession).session == session {
			mine = e
		}
	}
	var ended *mcp.ServerSession
	if mine == nil {
		mine = s.open.PushBack(&openSession{session: session})
		ended = s.makeRoom(slices.Collect(server.Sessions()), mine)
	}
	s.open.MoveToBack(mine)
	mine.Value.(*openSession).uses++
	s.mu.Unlock()
	if ended != nil {
		_ = ended.Close()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		mine.Value.(*openSession).uses--
	}
}

// makeRoom forgets the sessions that have ended, and returns one that has to end.
func (s *sessions) makeRoom(live []*mcp.ServerSession, mine *list.Element) (ended *mcp.ServerSession) {
	var next *list.Element
	for e := s.open.Front(); e != nil; e = next {
		next = e.Next()
		if o := e.Value.(*openSession); e != mine && o.uses == 0 && !slices.Contains(live, o.session) {
			s.open.Remove(e)
		}
	}
	if s.open.Len() <= maxSessions {
		return nil
	}
	for e := s.open.Front(); e != mine; e = e.Next() {
		if o := e.Value.(*openSession); o.uses == 0 {
			s.open.Remove(e)
			return o.session
		}
	}
	return nil
}
