package wellknown

import (
	"fmt"
	"strconv"

	"github.com/lookleap/lookleap"
)

// Error is a refusal of a name, URL or registration, before anything is sent.
type Error struct {
	Code   lookleap.Code
	Input  string // what was refused
	Reason string // one sentence
	Fix    string // what to write instead, if anything
}

func (e *Error) Error() string {
	text := fmt.Sprintf("wellknown: %s: %s (%s)", strconv.QuoteToASCII(e.Input), e.Reason, e.Code)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// ReasonCode gives the code.
func (e *Error) ReasonCode() lookleap.Code { return e.Code }
