package dvs

import "strings"

// shellVariables lists the variables that a shell text reads. Those that an earlier line of the
// text sets are its own. It is no regular expression because a skill may have a megabyte of
// assignments on one line.
func (r *capabilityReader) shellVariables(text string) {
	if !strings.Contains(text, "$") {
		return
	}
	set := shellAssignments(text)
	for at := 0; ; {
		found := strings.IndexByte(text[at:], '$')
		if found < 0 {
			return
		}
		dollar := at + found
		begin := dollar + 1
		if rest := text[begin:]; strings.HasPrefix(rest, "{!") || strings.HasPrefix(rest, "{#") {
			begin += 2
		} else if strings.HasPrefix(rest, "{") {
			begin++
		}
		at = wordEnd(text, begin)
		name := text[begin:at]
		if !isVariable(name) {
			continue
		}
		if after, own := set[name]; !own || dollar < after {
			r.add(CapabilityEnv, name, "")
		}
	}
}

// shellAssignments returns the variables that a shell text sets, each with the offset from which
// its first assignment counts: the end of its line, or the place behind it for a loop or read.
func shellAssignments(text string) map[string]int {
	set := make(map[string]int)
	note := func(name string, from int) {
		if _, known := set[name]; !known {
			set[name] = from
		}
	}
	endOfLine := -1
	for at := 0; at < len(text); {
		end := wordEnd(text, at)
		word := text[at:end]
		switch {
		case end == at:
			end++
		case word == "for":
			name, behind := nextWord(text, end)
			if in, _ := nextWord(text, behind); in == "in" && isVariable(name) {
				note(name, behind)
			}
		case word == "read":
			if name, behind := readTarget(text, end); isVariable(name) {
				note(name, behind)
			}
		case isVariable(word) && beginsWord(text, at) && (strings.HasPrefix(text[end:], "=") || strings.HasPrefix(text[end:], "+=")):
			if at > endOfLine {
				endOfLine = len(text)
				if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
					endOfLine = at + n
				}
			}
			note(word, endOfLine)
		}
		at = end
	}
	return set
}

// maxReadFlags is how many options of read stand before its variable. More would let a text make
// the search for it long.
const maxReadFlags = 8

// readTarget returns the first variable behind the word read and its options, and where it ends.
func readTarget(text string, at int) (name string, end int) {
	for range maxReadFlags {
		begin := skipShellSpace(text, at)
		if begin == at || begin == len(text) || text[begin] != '-' {
			break
		}
		at = wordEnd(text, begin+1)
	}
	return nextWord(text, at)
}

// nextWord returns the word behind white space, "" if there is none, and where it ends.
func nextWord(text string, at int) (word string, end int) {
	begin := skipShellSpace(text, at)
	if begin == at {
		return "", at
	}
	end = wordEnd(text, begin)
	return text[begin:end], end
}

// beginsWord reports whether an assignment may begin at an offset of a shell text.
func beginsWord(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\n\v\f\r;(", text[at-1]) >= 0
}

func skipShellSpace(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], " \t\n\v\f\r"))
}

// wordEnd returns where a row of letters, digits and underscores ends.
func wordEnd(text string, at int) int {
	for at < len(text) && (text[at] == '_' || 'a' <= text[at]|0x20 && text[at]|0x20 <= 'z' || '0' <= text[at] && text[at] <= '9') {
		at++
	}
	return at
}
