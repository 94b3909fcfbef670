package dvs

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// Parts of a zip archive (PKWARE APPNOTE), by their first bytes.
const (
	zipLocalHeader = "PK\x03\x04"
	zipDirectory   = "PK\x01\x02"
	zipEnd         = "PK\x05\x06"
	zipDescriptor  = "PK\x07\x08"

	zipLocalSize = 30 // bytes of a local header, before the name
	zipEndSize   = 22 // bytes of the end record, before the comment
)

// Fields of a member.
const (
	zipEncrypted     = 1<<0 | 1<<6 | 1<<13 // flags of encrypted members and directories
	zipSizesFollow   = 1 << 3              // flag: a descriptor after the content has the sizes
	zipUTF8          = 1 << 11
	zipUnix          = 3 << 8
	zipVersion       = 20
	zipFirstDay      = 1<<5 | 1 // 1980-01-01, the first that a zip holds
	zipUnicodePath   = 0x7075   // extra field with another name, which some readers prefer
	unixTypeMask     = 0xf000
	unixRegular      = 0x8000
	unixDirectory    = 0x4000
	somethingBetween = "there is something between the members of the archive, or before its directory"
)

// zip adds the members of a .zip archive. It refuses archives in which a reader that goes through the
// file finds other members than one that reads the directory at its end.
func (s *fileSet) zip(data []byte) error {
	if err := checkZipEnd(data); err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // the names are checked below
		return err
	}
	contents, err := locateZipMembers(data, z.File)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			err = s.memberDirectory(f.Name)
		} else {
			err = s.zipFile(f, contents[f])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zipFile unpacks one file. Its compressed form has to end where the archive says: a reader that goes
// through the file would find other members after it.
func (s *fileSet) zipFile(f *zip.File, content []byte) error {
	compressed := bytes.NewReader(content)
	var r io.Reader = compressed
	if f.Method == zip.Deflate {
		r = flate.NewReader(compressed) // which reads no byte too many of a ByteReader
	}
	checksum := crc32.NewIEEE()
	before := s.total
	if err := s.member(f.Name, f.Mode(), io.TeeReader(r, checksum)); err != nil {
		return err
	}
	if uint64(s.total-before) != f.UncompressedSize64 || checksum.Sum32() != f.CRC32 || compressed.Len() > 0 {
		return badArchive(f.Name, "the file has another size or checksum than the archive states", nil)
	}
	return nil
}

// checkZipEnd refuses archives in several parts, and archives whose end is not that of the file.
func checkZipEnd(data []byte) error {
	at := bytes.LastIndex(data, []byte(zipEnd))
	if at < 0 || at+zipEndSize > len(data) {
		return badArchive("", "the zip archive has no end record", nil)
	}
	end := data[at:]
	disk, directoryDisk := binary.LittleEndian.Uint16(end[4:]), binary.LittleEndian.Uint16(end[6:])
	onDisk, all := binary.LittleEndian.Uint16(end[8:]), binary.LittleEndian.Uint16(end[10:])
	switch {
	case disk != 0 || directoryDisk != 0 || onDisk != all || all == 0xffff:
		return badArchive("", "the zip archive is one part of several, or has the extension for more than 4 GB", nil)
	case int(binary.LittleEndian.Uint16(end[20:])) != len(end)-zipEndSize:
		return badArchive("", "the zip archive does not end where its end record says", nil)
	}
	return nil
}

// locateZipMembers returns the compressed contents of all members. They have to follow one another
// from the beginning of the archive up to its directory, each after a header that states the same as
// the directory.
func locateZipMembers(data []byte, files []*zip.File) (map[*zip.File][]byte, error) {
	offsets, contents := map[*zip.File]int64{}, map[*zip.File][]byte{}
	for _, f := range files {
		at, err := f.DataOffset()
		if err != nil {
			return nil, badArchive(f.Name, "the member is not where the archive says", err)
		}
		if err := checkZipMember(f); err != nil {
			return nil, err
		}
		offsets[f] = at
	}
	inOrder := slices.SortedFunc(slices.Values(files), func(a, b *zip.File) int { return cmp.Compare(offsets[a], offsets[b]) })
	rest := data
	for _, f := range inOrder {
		header := offsets[f] - int64(len(data)-len(rest)) // size of the local header
		if header < int64(zipLocalSize+len(f.Name)) || header > int64(len(rest)) || !bytes.HasPrefix(rest, []byte(zipLocalHeader)) {
			return nil, badArchive(f.Name, somethingBetween, nil)
		}
		if !sameZipHeader(f, rest[:header]) {
			return nil, badArchive(f.Name, "the header of the member states something else than the directory of the archive", nil)
		}
		rest = rest[header:]
		if f.CompressedSize64 > uint64(len(rest)) {
			return nil, badArchive(f.Name, "the member is longer than the archive", nil)
		}
		contents[f], rest = rest[:f.CompressedSize64], rest[f.CompressedSize64:]
		if f.Flags&zipSizesFollow != 0 {
			record := binary.LittleEndian.AppendUint32(nil, f.CRC32)
			record = binary.LittleEndian.AppendUint32(record, uint32(f.CompressedSize64))
			record = binary.LittleEndian.AppendUint32(record, uint32(f.UncompressedSize64))
			rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte(zipDescriptor)), record)
		}
	}
	if !bytes.HasPrefix(rest, []byte(zipDirectory)) {
		return nil, badArchive("", somethingBetween, nil)
	}
	return contents, nil
}

// checkZipMember refuses members that are encrypted, no files, or compressed in a way that not
// every reader knows.
func checkZipMember(f *zip.File) error {
	kind, want := f.ExternalAttrs>>16&unixTypeMask, uint32(unixRegular)
	directory := strings.HasSuffix(f.Name, "/")
	if directory {
		want = unixDirectory
	}
	switch {
	case f.Flags&zipEncrypted != 0:
		return badArchive(f.Name, "the member is encrypted", nil)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return badArchive(f.Name, "the member is compressed with another method than deflate", nil)
	case kind != 0 && kind != want:
		return refuse(CodeLink, f.Name, "the member is a link, or no regular file", "put the file itself there")
	case directory && f.UncompressedSize64 > 0:
		return badArchive(f.Name, "the member is a directory with content", nil)
	}
	return nil
}

// sameZipHeader reports whether the header before a member states what the directory of the archive
// does. Sizes that follow the content may be missing.
func sameZipHeader(f *zip.File, local []byte) bool {
	const compared = zipEncrypted | zipSizesFollow
	name := zipLocalSize + int(binary.LittleEndian.Uint16(local[26:]))
	end := name + int(binary.LittleEndian.Uint16(local[28:]))
	if binary.LittleEndian.Uint16(local[6:])&compared != f.Flags&compared || binary.LittleEndian.Uint16(local[8:]) != f.Method ||
		end != len(local) || string(local[zipLocalSize:name]) != f.Name || otherUnicodePath(f.Name, local[name:]) || otherUnicodePath(f.Name, f.Extra) {
		return false
	}
	checksum := binary.LittleEndian.Uint32(local[14:])
	compressed, size := binary.LittleEndian.Uint32(local[18:]), binary.LittleEndian.Uint32(local[22:])
	return f.Flags&zipSizesFollow != 0 && checksum == 0 && compressed == 0 && size == 0 ||
		checksum == f.CRC32 && uint64(compressed) == f.CompressedSize64 && uint64(size) == f.UncompressedSize64
}

// otherUnicodePath reports whether extra fields have another name for the member.
func otherUnicodePath(name string, extra []byte) bool {
	for len(extra) >= 4 {
		field := extra[4:min(4+int(binary.LittleEndian.Uint16(extra[2:])), len(extra))]
		const before = 1 + 4 // its version, and the checksum of the name
		if binary.LittleEndian.Uint16(extra) == zipUnicodePath && string(field[min(before, len(field)):]) != name {
			return true
		}
		extra = extra[4+len(field):]
	}
	return false
}

// writeZip writes files with one time and one set of permissions. They are stored and not compressed,
// so that the same files have the same digest with every version of a compressor.
func writeZip(w io.Writer, names []string, files map[string][]byte) error {
	z := zip.NewWriter(w)
	for _, name := range names {
		content := files[name]
		h := &zip.FileHeader{Name: name, Method: zip.Store, Flags: zipUTF8, CreatorVersion: zipUnix | zipVersion, ReaderVersion: zipVersion,
			ExternalAttrs: (unixRegular | archivedMode(content)) << 16, CRC32: crc32.ChecksumIEEE(content),
			CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))}
		//lint:ignore SA1019 CreateRaw writes this field, and not Modified
		h.ModifiedDate = zipFirstDay
		member, err := z.CreateRaw(h)
		if err == nil {
			_, err = member.Write(content)
		}
		if err != nil {
			return ioError(err)
		}
	}
	return ioError(z.Close())
}
