package dvs

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
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
	t := tar.NewReader(unpacked)
	for {
		h, err := t.Next()
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
			if h.PAXRecords["size"] != "" {
				return refuse(CodeBadArchive, h.Name, "the size is stated twice, which not every reader follows", "pack the skill again")
			}
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

// writeTarGzip writes files in the form of USTAR, which every program reads.
func writeTarGzip(w io.Writer, names []string, files map[string][]byte) error {
	z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // only an unknown level is an error
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
