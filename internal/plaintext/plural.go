package plaintext

import "strconv"

// Plural returns a number with the word for it, such as "1 file" or "2 files".
func Plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}
