package wellknown

import (
	"fmt"
	"strconv"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Error is a refusal of a name, URL or registration, before anything is sent.
type Error struct {
	Code   lookleap.Code
	Input  string // what was refused
	Reason string // one sentence
	Fix    string // what to write instead, if anything
}

func (e *Error) Error() string {
	e = zero.Or(e)
	text := fmt.Sprintf("wellknown: %s: %s (%s)", strconv.QuoteToASCII(e.Input), e.Reason, e.Code)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// errNoFiles refuses to read from a nil file system.
var errNoFiles = &Error{Code: lookleap.CodeUsage, Reason: "there is no file system to read from", Fix: "give one, such as os.DirFS"}

// ReasonCode gives the code.
func (e *Error) ReasonCode() lookleap.Code { return zero.Or(e).Code }
