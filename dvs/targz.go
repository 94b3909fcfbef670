package dvs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/lookleap/lookleap"
)

// tarGzip reads the members of a .tar.gz as it arrives.
func (u *unpacker) tarGzip(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	// Headers and padding count too: they compress well, and no file would show their size.
	headers := tarHeader * (u.limits.Files + maxArchiveDirectories)
	unpacked := &countingReader{reader: z, most: u.limits.Total + headers + maxTarPadding}
	raw := &tarHeaders{}
	t := tar.NewReader(io.TeeReader(unpacked, raw))
	for {
		h, err := t.Next()
		if raw.refused != nil {
			return raw.refused
		}
		if err == io.EOF {
			return tarEnd(unpacked)
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = u.directory(h.Name)
		case tar.TypeReg:
			if isSparse(h) {
				return refuse(CodeBadArchive, h.Name, "the file is stored as a sparse file", "pack the skill without sparse files")
			}
			err = u.file(h.Name, h.Size, t)
		case tar.TypeXGlobalHeader: // git writes the commit there
			for key := range h.PAXRecords {
				if key != "comment" {
					return refuse(CodeBadArchive, h.Name,
						"the archive changes the header of all members, which not every reader follows", "pack the skill again")
				}
			}
		default:
			return refuse(CodeLink, h.Name, "the member is a link, or no regular file", "put the file itself there")
		}
		if err != nil {
			return err
		}
	}
}

// tarHeader is how many bytes a member may have besides its content, on average: two headers, the
// records of a long name, and padding.
const tarHeader = 4 << 10

// isSparse reports whether the content of a file is written with holes.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// maxTarPadding is how many zero bytes may follow the last member. Programs fill up to 10 KiB, some
// to 64 KiB.
const maxTarPadding = 1 << 20

// tarEnd refuses members that some readers would find after the end of the archive.
func tarEnd(rest io.Reader) error {
	buffer := make([]byte, 4<<10)
	for total := 0; ; {
		n, err := rest.Read(buffer)
		for _, b := range buffer[:n] {
			if b != 0 {
				return refuse(CodeBadArchive, "", "there is more after the end of the archive", "pack the skill again")
			}
		}
		total += n
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case total > maxTarPadding:
			return refuse(lookleap.CodeTooLarge, "", "too many zero bytes follow the last file of the archive", "pack the skill again")
		}
	}
}

// fitsTar reports whether every program finds the name in a tar archive: longer names and other
// letters need an extension that not all of them have.
func fitsTar(name string) bool {
	return len(name) <= 100 && strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// tarHeaders sees the bytes of a tar archive as they are read, and refuses headers that programs read
// in different ways: whatever is stated twice, or in a form that not all of them know. That it is
// there decides, and not what it says.
type tarHeaders struct {
	block   []byte // the header so far
	records []byte // of an extended header, so far
	want    int    // bytes of records that follow
	skip    int64  // bytes that follow and are no header
	before  []byte // the types of extended headers before the next member
	ended   bool
	refused error
}

const tarBlock = 512

// Write takes the next bytes. It never fails: tarGzip asks for refused.
func (h *tarHeaders) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && h.refused == nil && !h.ended; {
		switch {
		case h.want > 0:
			n := min(h.want, len(rest))
			h.records, rest, h.want = append(h.records, rest[:n]...), rest[n:], h.want-n
			if h.want == 0 {
				h.refused = checkPAX(h.records)
				h.records = nil
			}
		case h.skip > 0:
			n := min(h.skip, int64(len(rest)))
			rest, h.skip = rest[n:], h.skip-n
		default:
			n := min(tarBlock-len(h.block), len(rest))
			h.block, rest = append(h.block, rest[:n]...), rest[n:]
			if len(h.block) == tarBlock {
				h.header(h.block)
				h.block = h.block[:0]
			}
		}
	}
	return len(p), nil
}

// header reads one header.
func (h *tarHeaders) header(b []byte) {
	if bytes.Count(b, []byte{0}) == tarBlock {
		h.ended = true
		return
	}
	kind, ustar := b[156], string(b[257:265]) == "ustar\x0000"
	size, err := strconv.ParseInt(strings.Trim(string(b[124:136]), " \x00"), 8, 64)
	if len(bytes.Trim(b[124:136], " \x00")) == 0 {
		size, err = 0, nil
	}
	bad := func(message string) {
		name, _, _ := bytes.Cut(b[:100], []byte{0})
		h.refused = refuse(CodeBadArchive, string(name), message+", which programs read in different ways", "pack the skill again")
	}
	switch {
	case err != nil || size < 0:
		bad("the size of a member is not an octal number")
	case !ustar && len(bytes.Trim(b[345:500], "\x00")) > 0:
		bad("the header of a member has a prefix of its name and is not of the format that has one")
	case kind == tar.TypeDir && size > 0:
		bad("a directory has content")
	case kind == 'x', kind == 'L', kind == 'K':
		if bytes.IndexByte(h.before, kind) >= 0 || len(h.before) > 0 && (kind == 'x' || bytes.IndexByte(h.before, 'x') >= 0) {
			bad("a member has several extended headers")
			return
		}
		h.before = append(h.before, kind)
	case kind == 'X', kind == 'g' && len(h.before) > 0:
		bad("a member has an extended header of another kind")
	default:
		h.before = h.before[:0]
	}
	h.skip = (size + tarBlock - 1) / tarBlock * tarBlock
	if kind == 'x' && h.refused == nil {
		if size > maxPAX {
			bad("the extended header of a member is too long")
			return
		}
		h.want, h.skip = int(size), h.skip-size
		if size == 0 {
			bad("the extended header of a member is empty")
		}
	}
}

// maxPAX bounds the extended header of a member. Names are far shorter.
const maxPAX = 64 << 10

// checkPAX refuses records of an extended header (POSIX.1-2001) that change the size of the member,
// that state something twice, or that name nothing.
func checkPAX(records []byte) error {
	bad := func(message string) error {
		return refuse(CodeBadArchive, "", message+", which programs read in different ways", "pack the skill again")
	}
	seen := map[string]bool{}
	for len(records) > 0 {
		length, _, _ := bytes.Cut(records, []byte{' '})
		n, err := strconv.Atoi(string(length))
		if err != nil || n <= len(length)+1 || n > len(records) || records[n-1] != '\n' {
			return bad("an extended header is damaged")
		}
		key, value, ok := strings.Cut(string(records[len(length)+1:n-1]), "=")
		switch {
		case !ok || key == "" || strings.Contains(value, "\x00"):
			return bad("an extended header is damaged")
		case seen[key]:
			return bad("an extended header has a record twice")
		case key == "size":
			return bad("an extended header states the size of a member again")
		case value == "":
			return bad("an extended header has an empty record")
		}
		seen[key], records = true, records[n:]
	}
	return nil
}

// writeTarGzip writes files in the form of USTAR, which every program reads. They are stored and not
// compressed, so that the same files have the same digest with every version of a compressor.
func writeTarGzip(w io.Writer, names []string, files map[string][]byte) error {
	z := newStoredGzip(w)
	t := tar.NewWriter(z)
	for _, name := range names {
		if !fitsTar(name) {
			return refuse(CodeUnsafeName, name, "a .tar.gz that every program reads cannot hold the name",
				"use a .zip, or an ASCII name of at most 100 bytes")
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(files[name])), Mode: 0o644,
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		err := t.WriteHeader(h)
		if err == nil {
			_, err = t.Write(files[name])
		}
		if err != nil {
			return ioError(err)
		}
	}
	return ioError(errors.Join(t.Close(), z.Close()))
}

// storedGzip writes a gzip stream (RFC 1952) of stored blocks (RFC 1951, section 3.2.4).
type storedGzip struct {
	w        io.Writer
	block    []byte
	checksum hash.Hash32
	size     uint32
	err      error
}

func newStoredGzip(w io.Writer) *storedGzip {
	z := &storedGzip{w: w, checksum: crc32.NewIEEE(), block: make([]byte, 0, math.MaxUint16)}
	z.write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}) // deflate, no time, an unknown system
	return z
}

func (z *storedGzip) write(p []byte) {
	if z.err == nil {
		_, z.err = z.w.Write(p)
	}
}

func (z *storedGzip) Write(p []byte) (int, error) {
	z.checksum.Write(p)
	z.size += uint32(len(p))
	for rest := p; len(rest) > 0; {
		if len(z.block) == cap(z.block) {
			z.flush(0)
		}
		n := min(cap(z.block)-len(z.block), len(rest))
		z.block, rest = append(z.block, rest[:n]...), rest[n:]
	}
	return len(p), z.err
}

// flush writes a block. The last one has the flag 1.
func (z *storedGzip) flush(last byte) {
	n := uint16(len(z.block))
	head := binary.LittleEndian.AppendUint16([]byte{last}, n)
	z.write(binary.LittleEndian.AppendUint16(head, ^n))
	z.write(z.block)
	z.block = z.block[:0]
}

// Close writes the last block and the end of the stream.
func (z *storedGzip) Close() error {
	z.flush(1)
	z.write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, z.checksum.Sum32()), z.size))
	return z.err
}
