package dvs

import (
	"bytes"
	"encoding/json"
	"errors"
)

// content is a file in a plan or a cache.
type content struct {
	Bytes []byte `json:"-"`
	Size  int    `json:"size"`
}

func newContent(data []byte) content { return content{data, len(data)} }

// holder is something in JSON that speaks of files. It is written as a line, and
// its files stand behind that as they are: JSON would make a third more of them,
// and several copies while it does.
type holder interface {
	contents() []*content // in the order in which they stand
}

func encodeContents(h holder) ([]byte, error) {
	header, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	size := len(header) + 1
	for _, c := range h.contents() {
		size += len(c.Bytes)
	}
	data := append(append(make([]byte, 0, size), header...), '\n')
	for _, c := range h.contents() {
		data = append(data, c.Bytes...)
	}
	return data, nil
}

var errContents = errors.New("the files are not those that it speaks of")

// decodeContents reads what encodeContents wrote; the files are parts of data.
func decodeContents(data []byte, h holder) error {
	header, rest, _ := bytes.Cut(data, []byte{'\n'})
	if err := json.Unmarshal(header, h); err != nil {
		return err
	}
	for _, c := range h.contents() {
		if c.Size < 0 || c.Size > len(rest) {
			return errContents
		}
		c.Bytes, rest = rest[:c.Size:c.Size], rest[c.Size:]
	}
	if len(rest) > 0 {
		return errContents
	}
	return nil
}
