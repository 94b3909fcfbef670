package lookleapmcp

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/lookleap/lookleap"
)

// users holds the state of the users that a server serves now. The user who was idle for
// the longest time leaves when a new one needs the place.
type users struct {
	max  int
	open func(ctx context.Context, id string) (*user, error)

	mu     sync.Mutex
	closed bool
	byID   map[string]*place
	idle   list.List // of *place, the one that was used last at the back
}

// place is a user's place in the table. Its user is nil until it was opened.
type place struct {
	id      string
	opening chan struct{} // holds a value while the user is opened
	user    *user
	uses    int           // requests that run
	element *list.Element // in idle, nil while requests run
}

func newUsers(limit int, open func(ctx context.Context, id string) (*user, error)) *users {
	return &users{max: limit, open: open, byID: make(map[string]*place)}
}

// get returns the user with an id and opens their session if there is none. Call release
// when the request ends.
func (t *users) get(ctx context.Context, id string) (u *user, release func(), err error) {
	p, evicted, err := t.enter(id)
	if evicted != nil {
		_ = evicted.close()
	}
	if err != nil {
		return nil, nil, err
	}
	// Requests of one user wait for one opening; other users do not.
	select {
	case p.opening <- struct{}{}:
	case <-ctx.Done():
		t.leave(p)
		return nil, nil, ctx.Err()
	}
	defer func() { <-p.opening }()
	if p.user == nil {
		if err = t.usable(); err == nil {
			p.user, err = t.open(ctx, id)
		}
		if err != nil {
			t.leave(p)
			return nil, nil, err
		}
	}
	return p.user, sync.OnceFunc(func() { t.leave(p) }), nil
}

// usable returns an error after close, which waits only for openings that began before it.
func (t *users) usable() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return lookleap.ErrClosed
	}
	return nil
}

// enter counts a request of a user, and returns the user who has to leave for it.
func (t *users) enter(id string) (p *place, evicted *user, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, lookleap.ErrClosed
	}
	p = t.byID[id]
	if p == nil {
		if len(t.byID) >= t.max {
			oldest := t.idle.Front()
			if oldest == nil {
				return nil, nil, &lookleap.Error{Code: lookleap.CodeLimit, Message: "too many users at once",
					Fix: "try again later, or raise Options.MaxUsers"}
			}
			leaving := t.idle.Remove(oldest).(*place)
			delete(t.byID, leaving.id)
			evicted = leaving.user
		}
		p = &place{id: id, opening: make(chan struct{}, 1)}
		t.byID[id] = p
	}
	p.uses++
	if p.element != nil {
		t.idle.Remove(p.element)
		p.element = nil
	}
	return p, evicted, nil
}

func (t *users) leave(p *place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.uses--
	if p.uses > 0 || t.closed {
		return
	}
	if p.user == nil { // it was not opened
		delete(t.byID, p.id)
		return
	}
	p.element = t.idle.PushBack(p)
}

func (t *users) close() error {
	t.mu.Lock()
	t.closed = true
	places := t.byID
	t.byID = nil
	t.mu.Unlock()
	var errs []error
	for _, p := range places {
		p.opening <- struct{}{}
		if p.user != nil {
			errs = append(errs, p.user.close())
		}
		<-p.opening
	}
	return errors.Join(errs...)
}
