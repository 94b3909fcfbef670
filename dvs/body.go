package dvs

import (
	"bytes"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// checkBody judges the instructions (section 4.4): that there are any, and how
// many characters nobody sees in them.
func (p *skillParser) checkBody(body []byte, at int) (count int) {
	if len(bytes.TrimSpace(body)) == 0 {
		p.broken(&fault{code: lookleap.CodeEmptyBody, requirement: "DVS-4.2-10", at: at,
			message: "nothing follows the metadata", fix: "write the instructions below the closing --- line"})
		return 0
	}
	if i := bytes.Index(body, []byte(byteOrderMark)); i >= 0 {
		p.add(lookleap.Warning, &fault{code: lookleap.CodeByteOrderMark, requirement: "DVS-4.2-07", at: at + i,
			message: "the instructions have a byte order mark inside", fix: "remove the character U+FEFF"})
	}
	count, first := hidden(body)
	if count > 0 {
		p.add(lookleap.Warning, &fault{code: lookleap.CodeUnsafeChars, requirement: "DVS-4.3-13", at: at + first,
			message: fmt.Sprintf("the instructions have characters that nobody sees: %s", plaintext.Count(string(body))), fix: "remove them"})
	}
	return count
}
