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
	"math"
	"slices"
	"strings"
)

// Parts of a zip archive (PKWARE APPNOTE).
const (
	zipLocalHeader = 30 // bytes, before the name
	zipEnd         = 22 // bytes of the end record, before the comment

	zipEncrypted  = 1<<0 | 1<<6 | 1<<13 // flags of encrypted members and directories
	zipDescriptor = 1 << 3              // the sizes follow the content

	unixTypeMask  = 0xf000
	unixRegular   = 0x8000
	unixDirectory = 0x4000
)

// zip reads the members of a .zip archive.
func (u *unpacker) zip(data []byte) error {
	if err := checkZipEnd(data); err != nil {
		return err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // the names are checked below
		return err
	}
	for _, f := range z.File {
		if err := checkZipMember(f); err != nil {
			return err
		}
	}
	if err := checkZipLayout(data, z.File); err != nil {
		return err
	}
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			err = u.directory(f.Name)
		} else {
			err = u.zipFile(data, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zipFile unpacks one file and checks its checksum. Its compressed form has to end where the
// archive says: a reader that goes through the file would find other members after it.
func (u *unpacker) zipFile(data []byte, f *zip.File) error {
	at, err := f.DataOffset()
	if err != nil {
		return badArchive(f.Name, "the file cannot be unpacked", err)
	}
	compressed := bytes.NewReader(data[at : at+int64(f.CompressedSize64)]) // checkZipLayout checked both
	var content io.Reader = compressed
	if f.Method == zip.Deflate {
		content = flate.NewReader(compressed) // which reads no byte too many of a ByteReader
	}
	checksum := crc32.NewIEEE()
	content = io.TeeReader(content, checksum)
	if err := u.file(f.Name, int64(f.UncompressedSize64), content); err != nil {
		return err
	}
	n, err := content.Read(make([]byte, 1))
	switch {
	case n > 0 || err != io.EOF || checksum.Sum32() != f.CRC32:
		return badArchive(f.Name, "the file has another size or checksum than the archive states", err)
	case compressed.Len() > 0:
		return badArchive(f.Name, "there is something after the compressed form of the file", nil)
	}
	return nil
}

// checkZipEnd refuses archives in several parts, and archives whose end is not that of the file.
func checkZipEnd(data []byte) error {
	at := bytes.LastIndex(data, []byte("PK\x05\x06"))
	if at < 0 || at+zipEnd > len(data) {
		return badArchive("", "the zip archive has no end record", nil)
	}
	end := data[at:]
	disk, directoryDisk := binary.LittleEndian.Uint16(end[4:]), binary.LittleEndian.Uint16(end[6:])
	onDisk, all := binary.LittleEndian.Uint16(end[8:]), binary.LittleEndian.Uint16(end[10:])
	switch {
	case disk == 0xffff || all == 0xffff:
		return badArchive("", "the zip archive has the extension for more than 4 GB, which a skill does not need", nil)
	case disk != 0 || directoryDisk != 0 || onDisk != all:
		return badArchive("", "the zip archive is one part of several", nil)
	case int(binary.LittleEndian.Uint16(end[20:])) != len(end)-zipEnd:
		return badArchive("", "the zip archive does not end where its end record says", nil)
	}
	return nil
}

// checkZipMember refuses members that are encrypted, no files, or compressed in a way that not
// every reader knows.
func checkZipMember(f *zip.File) error {
	kind := f.ExternalAttrs >> 16 & unixTypeMask
	directory := strings.HasSuffix(f.Name, "/")
	switch {
	case f.Flags&zipEncrypted != 0:
		return badArchive(f.Name, "the member is encrypted", nil)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return badArchive(f.Name, "the member is compressed with another method than deflate", nil)
	case kind != 0 && (directory && kind != unixDirectory || !directory && kind != unixRegular):
		return refuse(CodeLink, f.Name, "the member is a link, or no regular file", "put the file itself there")
	case directory && f.UncompressedSize64 > 0:
		return badArchive(f.Name, "the member is a directory with content", nil)
	}
	return nil
}

// checkZipLayout refuses archives in which members overlap, or in which a reader that goes through
// the file finds other members than one that reads the directory at its end.
func checkZipLayout(data []byte, files []*zip.File) error {
	type member struct {
		*zip.File
		at int64 // of the content
	}
	members := make([]member, 0, len(files))
	for _, f := range files {
		at, err := f.DataOffset()
		if err != nil {
			return badArchive(f.Name, "the member is not where the archive says", err)
		}
		members = append(members, member{f, at})
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.at, b.at) })
	next := int64(0)
	for _, m := range members {
		header := int64(zipLocalHeader + len(m.Name))
		if next+header > m.at || m.at > int64(len(data)) || !bytes.HasPrefix(data[next:], []byte("PK\x03\x04")) {
			return badArchive(m.Name, "members of the archive overlap, or there is something between them", nil)
		}
		local := data[next:]
		nameSize, extra := int64(binary.LittleEndian.Uint16(local[26:])), int64(binary.LittleEndian.Uint16(local[28:]))
		if next+zipLocalHeader+nameSize+extra != m.at || nameSize != int64(len(m.Name)) || string(local[zipLocalHeader:header]) != m.Name {
			return badArchive(m.Name, "the member has another name or place than in the directory of the archive", nil)
		}
		if !sameMember(m.File, local, local[header:header+extra]) {
			return badArchive(m.Name, "the header of the member states something else than the directory of the archive", nil)
		}
		size := int64(m.CompressedSize64)
		if size < 0 || size > int64(len(data))-m.at {
			return badArchive(m.Name, "the member is longer than the archive", nil)
		}
		next = m.at + size
		if m.Flags&zipDescriptor != 0 {
			next += descriptorSize(data[next:], m.File)
		}
	}
	if !bytes.HasPrefix(data[next:], []byte("PK\x01\x02")) {
		return badArchive("", "there is something between the members and the directory of the archive", nil)
	}
	return nil
}

// Extra fields of a member.
const (
	extraZip64       = 0x0001 // the sizes in 64 bits: first of the content, then compressed
	extraUnicodePath = 0x7075 // another name, which some readers prefer: a version, a checksum, the name
)

// sameMember reports whether the header before a member states what the directory of the archive
// does. What is stated after the content, in a descriptor, may be missing.
func sameMember(f *zip.File, local, extra []byte) bool {
	const compared = zipEncrypted | zipDescriptor
	if binary.LittleEndian.Uint16(local[6:])&compared != f.Flags&compared || binary.LittleEndian.Uint16(local[8:]) != f.Method {
		return false
	}
	for _, fields := range [][]byte{extra, f.Extra} {
		if path, ok := extraField(fields, extraUnicodePath); ok && (len(path) < 5 || string(path[5:]) != f.Name) {
			return false
		}
	}
	checksum := binary.LittleEndian.Uint32(local[14:])
	compressed, size := uint64(binary.LittleEndian.Uint32(local[18:])), uint64(binary.LittleEndian.Uint32(local[22:]))
	if long, _ := extraField(extra, extraZip64); len(long) >= 16 && (compressed == math.MaxUint32 || size == math.MaxUint32) {
		size, compressed = binary.LittleEndian.Uint64(long), binary.LittleEndian.Uint64(long[8:])
	}
	if f.Flags&zipDescriptor != 0 && checksum == 0 && compressed == 0 && size == 0 {
		return true
	}
	return checksum == f.CRC32 && compressed == f.CompressedSize64 && size == f.UncompressedSize64
}

// extraField returns the content of the extra field with an id.
func extraField(extra []byte, id uint16) ([]byte, bool) {
	for len(extra) >= 4 {
		size := int(binary.LittleEndian.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break
		}
		if binary.LittleEndian.Uint16(extra) == id {
			return extra[4 : 4+size], true
		}
		extra = extra[4+size:]
	}
	return nil, false
}

// descriptorSize returns the size of the record after a member whose sizes were not known before:
// a checksum and two sizes, with or without a signature, in 32 or 64 bits. The next member, or the
// directory, follows it. It returns 0 if there is no such record.
func descriptorSize(data []byte, f *zip.File) int64 {
	short := binary.LittleEndian.AppendUint32([]byte("PK\x07\x08"), f.CRC32)
	long := slices.Clone(short)
	for _, size := range []uint64{f.CompressedSize64, f.UncompressedSize64} {
		short = binary.LittleEndian.AppendUint32(short, uint32(size))
		long = binary.LittleEndian.AppendUint64(long, size)
	}
	for _, record := range [][]byte{short, short[4:], long, long[4:]} {
		next, ok := bytes.CutPrefix(data, record)
		if ok && (bytes.HasPrefix(next, []byte("PK\x03\x04")) || bytes.HasPrefix(next, []byte("PK\x01\x02"))) {
			return int64(len(record))
		}
	}
	return 0
}

// writeZip writes files with one time and one set of permissions. They are stored and not compressed,
// so that the same files have the same digest with every version of a compressor.
func writeZip(w io.Writer, names []string, files map[string][]byte) error {
	z := zip.NewWriter(w)
	for _, name := range names {
		content := files[name]
		h := &zip.FileHeader{Name: name, Method: zip.Store, Flags: zipUTF8, CreatorVersion: zipUnix | zipVersion, ReaderVersion: zipVersion,
			ExternalAttrs: (unixRegular | 0o644) << 16, CRC32: crc32.ChecksumIEEE(content),
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

// The fields of members that writeZip writes.
const (
	zipUTF8     = 1 << 11
	zipUnix     = 3 << 8
	zipVersion  = 20
	zipFirstDay = 1<<5 | 1 // 1980-01-01, the first that a zip holds
)
