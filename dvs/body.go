package dvs

import (
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// checkBody judges the instructions (section 4.4): that there are any, and how
// many characters nobody sees in them, and what a page made of them would not show.
func (p *skillParser) checkBody(body string, at int) (count int) {
	if strings.TrimSpace(body) == "" {
		p.broken(&fault{code: CodeEmptyBody, requirement: "DVS-4.2-10", at: at,
			message: "nothing follows the metadata", fix: "write the instructions below the closing --- line"})
		return 0
	}
	if i := strings.Index(body, byteOrderMark); i >= 0 {
		p.add(lookleap.SeverityWarning, &fault{code: lookleap.CodeByteOrderMark, requirement: "DVS-4.2-07", at: at + i,
			message: "the instructions have a byte order mark inside", fix: "remove the character U+FEFF"})
	}
	count, first := hidden(body)
	if count > 0 {
		p.add(lookleap.SeverityWarning, &fault{code: CodeUnsafeChars, requirement: "DVS-4.3-13", at: at + first,
			message: fmt.Sprintf("the instructions have characters that nobody sees: %s", plaintext.Count(body)), fix: "remove them"})
	}
	p.checkHidden(body, at)
	return count
}
