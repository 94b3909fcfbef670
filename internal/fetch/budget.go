package fetch

import "sync/atomic"

// Budget is how many requests one document may still cause. Every request of
// [Do] takes one from it before it is sent, redirects included; a caller that
// tries again pays again. It is shared by pointer and safe for concurrent use;
// a nil Budget does not bound.
type Budget struct {
	left atomic.Int64
}

// NewBudget allows n requests.
func NewBudget(n int) *Budget {
	b := new(Budget)
	b.left.Store(int64(max(n, 0)))
	return b
}

// Take uses up one request and reports whether there was one left.
func (b *Budget) Take() bool {
	if b == nil {
		return true
	}
	for {
		n := b.left.Load()
		if n <= 0 {
			return false
		}
		if b.left.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// Left is how many requests are left; -1 for a nil Budget, which has no bound.
func (b *Budget) Left() int {
	if b == nil {
		return -1
	}
	return int(b.left.Load())
}
