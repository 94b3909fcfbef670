package confine

import "io"

// kept reads to the end of r and keeps the first bytes of it.
func kept(r io.Reader, limit int) (output []byte, truncated bool) {
	output, _ = io.ReadAll(io.LimitReader(r, int64(limit)))
	more, _ := io.Copy(io.Discard, r)
	return output, more > 0
}
