package dvs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lookleap/lookleap"
)

// walkTarGzip passes on the members of a .tar.gz as it arrives, whose files have at most a number of
// bytes together. It refuses what two programs could read in two ways.
func walkTarGzip(r io.Reader, total int64, members int, member func(*tar.Header, io.Reader) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	most := total + tarHeader*int64(members) + maxTarPadding // headers count too: they compress well, and no file would show their size
	tape := &tarTape{reader: &limitedReader{reader: z, most: most}}
	t := tar.NewReader(tape)
	for {
		tape.headers, tape.start = tape.headers[:0], tape.read
		tape.recording = true
		h, err := t.Next()
		tape.recording = false
		if err == io.EOF {
			return tarEnd(tape)
		}
		if err == nil {
			err = checkTarHeaders(tape.headers[-tape.start&(tarBlock-1):], h)
		}
		if err == nil {
			err = member(h, t)
		}
		if err != nil {
			return err
		}
	}
}

func (s *fileSet) tarMember(h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return s.memberDirectory(h.Name)
	case tar.TypeReg:
		return s.member(h.Name, h.FileInfo().Mode(), content)
	case tar.TypeXGlobalHeader:
		_, err := tarComment(h)
		return err
	}
	return refuse(CodeLink, h.Name, "the member is a link, or no regular file", "put the file itself there")
}

// tarComment returns what a global header notes, where git writes the commit. It refuses any other record
// there.
func tarComment(h *tar.Header) (string, error) {
	for key := range h.PAXRecords {
		if key != "comment" {
			return "", badArchive(h.Name, "the archive changes the header of all members, which not every reader follows", nil)
		}
	}
	return h.PAXRecords["comment"], nil
}

const (
	tarBlock = 512
	// tarHeader is how many bytes a member may have apart from its content, on average: two headers,
	// the records of a long name, and padding.
	tarHeader = 4 << 10
	// maxTarPadding is how many zero bytes may follow the last member. Programs fill up to 10 KiB,
	// some to 64 KiB.
	maxTarPadding = 1 << 20
	// maxTarHeaders bounds the headers of one member. Package tar accepts a megabyte in each.
	maxTarHeaders = 3 << 20
)

// tarTape records the bytes of the headers that package tar reads, which reports only what follows
// from them.
type tarTape struct {
	reader    io.Reader
	recording bool
	headers   []byte
	start     int // where they begin
	read      int
}

func (t *tarTape) Read(p []byte) (int, error) {
	n, err := t.reader.Read(p)
	t.read += n
	if t.recording {
		t.headers = append(t.headers, p[:n]...)
	}
	if len(t.headers) > maxTarHeaders {
		return 0, badArchive("", "the headers of a member are too large", nil)
	}
	return n, err
}

// checkTarHeaders refuses the headers of a member that programs read in different ways: whatever is
// stated twice, or in a form that not all of them know. That it is there decides, and not what it says.
func checkTarHeaders(raw []byte, h *tar.Header) error {
	bad := func(message string) error {
		return badArchive(h.Name, message+", which programs read in different ways", nil)
	}
	kinds := ""
	for len(raw) >= tarBlock {
		b := raw[:tarBlock]
		raw = raw[tarBlock:]
		kinds += string(b[156])
		size, err := strconv.ParseUint("0"+strings.Trim(string(b[124:136]), " \x00"), 8, 63)
		switch {
		case err != nil:
			return bad("the size of a member is not an octal number")
		case string(b[257:265]) != "ustar\x0000" && len(bytes.Trim(b[345:500], "\x00")) > 0:
			return bad("the header of a member has a prefix of its name and is not of the format that has one")
		case b[156] == tar.TypeDir && size > 0:
			return bad("a directory has content")
		}
		content := raw[:min(size, uint64(len(raw)))]
		if b[156] == tar.TypeXHeader && countPAX(content) != max(1, len(h.PAXRecords)) {
			return bad("an extended header is empty, or has a record twice")
		}
		raw = raw[min((len(content)+tarBlock-1)&^(tarBlock-1), len(raw)):]
	}
	switch before := kinds[:max(len(kinds)-1, 0)]; {
	case before != "" && before != "x" && before != "L" && before != "K" && before != "LK" && before != "KL",
		before != "" && h.Typeflag == tar.TypeXGlobalHeader:
		return bad("a member has several extended headers")
	}
	for key, value := range h.PAXRecords {
		switch {
		case key == "size", strings.HasPrefix(key, "GNU.sparse."):
			return bad("an extended header states the size of a member again, or that it has holes")
		case value == "":
			return bad("an extended header has an empty record")
		}
	}
	return nil
}

// countPAX counts the records of an extended header, each of which begins with its length.
func countPAX(records []byte) (n int) {
	for ; len(records) > 0; n++ {
		length, _, _ := bytes.Cut(records, []byte{' '})
		size, err := strconv.Atoi(string(length))
		if err != nil || size <= 0 || size > len(records) {
			return -1
		}
		records = records[size:]
	}
	return n
}

// tarEnd refuses members that some readers would find after the end of the archive.
func tarEnd(r io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(r, maxTarPadding+1))
	switch {
	case err != nil:
		return err
	case len(bytes.Trim(rest, "\x00")) > 0:
		return badArchive("", "there is more after the end of the archive", nil)
	case len(rest) > maxTarPadding:
		return refuse(lookleap.CodeTooLarge, "", "too many zero bytes follow the last file of the archive", "pack the skill again")
	}
	return nil
}

// fitsTar reports whether every program finds the name in a tar archive: longer names and other
// letters need an extension that not all of them have.
func fitsTar(name string) bool {
	return len(name) <= 100 && strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// writeTarGzip writes files in the form of USTAR, which every program reads.
func writeTarGzip(w io.Writer, names []string, files map[string][]byte) error {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, name := range names {
		if !fitsTar(name) {
			return refuse(CodeUnsafeName, name, "a .tar.gz that every program reads cannot hold the name",
				"use a .zip, or an ASCII name of at most 100 bytes")
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: int64(archivedMode(files[name])),
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		err := t.WriteHeader(h)
		if err == nil {
			_, err = t.Write(files[name])
		}
		if err != nil {
			return ioError(err)
		}
	}
	if err := t.Close(); err != nil {
		return ioError(err)
	}
	_, err := w.Write(storedGzip(b.Bytes()))
	return ioError(err)
}

// storedGzip returns a gzip stream (RFC 1952) of stored blocks (RFC 1951, section 3.2.4): compressed
// data would have another digest with another version of the compressor.
func storedGzip(data []byte) []byte {
	stream := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255} // deflate, no time, an unknown system
	for rest, last := data, byte(0); last == 0; {
		block := rest[:min(len(rest), math.MaxUint16)]
		rest = rest[len(block):]
		if len(rest) == 0 {
			last = 1
		}
		stream = binary.LittleEndian.AppendUint16(append(stream, last), uint16(len(block)))
		stream = append(binary.LittleEndian.AppendUint16(stream, ^uint16(len(block))), block...)
	}
	stream = binary.LittleEndian.AppendUint32(stream, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(stream, uint32(len(data)))
}
