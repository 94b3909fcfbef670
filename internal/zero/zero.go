// Package zero lets methods of nil pointers act as those of zero values.
package zero

// Or returns p, or a pointer to a new zero value if p is nil.
func Or[T any](p *T) *T {
	if p == nil {
		return new(T)
	}
	return p
}
