package dvs_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
)

// member is a member of an archive that a test writes, whatever it is.
type member struct {
	name, content string
	kind          byte   // a tar type; 0: a file
	link          string // target of a link
}

var entry = member{name: "SKILL.md", content: refund}

func tarGzip(t testing.TB, members ...member) []byte {
	t.Helper()
	return gzipped(t, tarOf(t, members...))
}

func tarOf(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: m.kind, Linkname: m.link, Size: int64(len(m.content)), Mode: 0o644, Format: tar.FormatPAX}
		if m.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipOf writes a zip archive; each edit may change a header before it is written.
func zipOf(t testing.TB, edit func(*zip.FileHeader), members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.kind == tar.TypeSymlink {
			h.ExternalAttrs, h.CreatorVersion = 0xa1ff<<16, 3<<8
		}
		if edit != nil {
			edit(h)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// replaceLast replaces the last occurrence of a text.
func replaceLast(data []byte, old, new string) []byte {
	at := bytes.LastIndex(data, []byte(old))
	return slices.Concat(data[:at], []byte(new), data[at+len(old):])
}

// patched changes two bytes after the last occurrence of a signature.
func patched(data []byte, signature string, at int, value uint16) []byte {
	data = slices.Clone(data)
	binary.LittleEndian.PutUint16(data[bytes.LastIndex(data, []byte(signature))+at:], value)
	return data
}

// patchedLocal changes two bytes of the header before the last member.
func patchedLocal(data []byte, at int, value uint16) []byte {
	return patched(data, "PK\x03\x04", at, value)
}

// deflated is the compressed form of a SKILL.md, with or without its last block.
func deflated(t testing.TB, whole bool) []byte {
	t.Helper()
	var compressed bytes.Buffer
	c, _ := flate.NewWriter(&compressed, flate.BestCompression)
	_, err := io.WriteString(c, refund)
	if whole {
		err = errors.Join(err, c.Close())
	} else {
		err = errors.Join(err, c.Flush())
	}
	if err != nil {
		t.Fatal(err)
	}
	return compressed.Bytes()
}

// rawZip is a zip archive with a SKILL.md whose compressed form and header are as given.
func rawZip(t testing.TB, edit func(*zip.FileHeader), tail string) []byte {
	t.Helper()
	return rawMember(t, edit, append(deflated(t, true), tail...))
}

func rawMember(t testing.TB, edit func(*zip.FileHeader), compressed []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	h := &zip.FileHeader{Name: "SKILL.md", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(refund)), UncompressedSize64: uint64(len(refund)), CompressedSize64: uint64(len(compressed))}
	if edit != nil {
		edit(h)
	}
	w := zip.NewWriter(&b)
	f, err := w.CreateRaw(h)
	if err == nil {
		_, err = f.Write(compressed)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sizes64 is the first bytes of an extra field with sizes in 64 bits.
func sizes64(length int, size, compressed uint64) []byte {
	field := binary.LittleEndian.AppendUint64([]byte{1, 0, byte(length), 0}, size)
	return binary.LittleEndian.AppendUint64(field, compressed)[:4+length]
}

// rawZip64 is an archive whose file has its sizes in an extra field of a length, as programs write
// it that do not know them in time. The sizes in the header before the file are erased at the given
// places.
func rawZip64(t testing.TB, length int, erased ...int) []byte {
	data := rawZip(t, func(h *zip.FileHeader) { h.Extra = sizes64(length, h.UncompressedSize64, h.CompressedSize64) }, "")
	for _, at := range erased {
		data = patchedLocal(data, at, 0xffff)
	}
	return data
}

// rawZip64Sizes is an archive whose file states sizes that take 64 bits; 0: the compressed size as
// it is.
func rawZip64Sizes(t testing.TB, size, compressed uint64) []byte {
	data := rawZip(t, func(h *zip.FileHeader) {
		h.UncompressedSize64, h.CompressedSize64 = size, cmp.Or(compressed, h.CompressedSize64)
		h.Extra = sizes64(16, h.UncompressedSize64, h.CompressedSize64)
	}, "")
	for _, at := range []int{18, 20, 22, 24} {
		data = patchedLocal(data, at, 0xffff)
	}
	return data
}

// withDescriptor is an archive of one or two members with another record after the first one.
func withDescriptor(t testing.TB, record, data []byte) []byte {
	t.Helper()
	at := bytes.Index(data, []byte("PK\x07\x08"))
	data = slices.Concat(data[:at], record, data[at+16:])
	data = patched(data, "PK\x01\x02", 42, uint16(bytes.LastIndex(data, []byte("PK\x03\x04"))))
	return patched(data, "PK\x05\x06", 16, uint16(bytes.Index(data, []byte("PK\x01\x02"))))
}

// sizedTwice is a tar archive with the size of a file in an extended header, too.
func sizedTwice(t testing.TB) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "SKILL.md", Typeflag: tar.TypeReg, Size: 4},
		{Name: "x", Typeflag: tar.TypeReg, Size: 4, Format: tar.FormatPAX, PAXRecords: map[string]string{"not.": "0"}},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "data"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("not.=0"), []byte("size=4")) // which the package does not write
}

// hidden removes the last member of a zip archive from its directory, but not from the file.
func hidden(data []byte) []byte {
	record, end := bytes.LastIndex(data, []byte("PK\x01\x02")), bytes.LastIndex(data, []byte("PK\x05\x06"))
	size := binary.LittleEndian.Uint32(data[end+12:]) - uint32(end-record)
	data = slices.Concat(data[:record], data[end:])
	data = patched(patched(data, "PK\x05\x06", 8, 1), "PK\x05\x06", 10, 1)
	return patched(data, "PK\x05\x06", 12, uint16(size))
}

// sparse is an archive with a file that is stored with a hole.
func sparse(t testing.TB) []byte {
	content := fmt.Sprintf("%-512s", "1\n0\n4\n") // the map: one part, of four bytes
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "SKILL.md", Typeflag: tar.TypeReg},
		{Name: "x", Typeflag: tar.TypeReg, Size: 516, Format: tar.FormatPAX, PAXRecords: map[string]string{
			"NOT.sparse.major": "1", "NOT.sparse.minor": "0", "NOT.sparse.name": "x.md", "NOT.sparse.realsize": "4096"}},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, (strings.ReplaceAll(content, " ", "\x00") + "data")[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("NOT.sparse"), []byte("GNU.sparse")) // which the package does not write
}

// global is a header that applies to all members after it.
func global(t testing.TB, key, value string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{key: value}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
