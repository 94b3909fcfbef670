package lookleaptest

// The errors of connections, which systems name differently.
const (
	ErrReset   = errReset
	ErrRefused = errRefused
)
