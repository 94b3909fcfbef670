package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/lookleap/lookleap/dvs"
)

// roomyFiles are limits that no family of archives reaches.
var roomyFiles = dvs.Limits{Files: 1 << 20, Total: 256 << 20, Resource: 64 << 20, Archive: 256 << 20}

// memberNames are ways to name the members of an archive.
var memberNames = []struct {
	name string
	file func(i int) string
}{
	{"distinct", func(i int) string { return fmt.Sprintf("a%d", i) }},
	{"equal", func(int) string { return "a" }},
	{"prefixed", func(i int) string { return strings.Repeat("p", 60) + fmt.Sprint(i) }},
	{"nested", func(i int) string { return fmt.Sprintf("a/b/c/d/e/f/g/h/i/j/k/%d", i) }},
	{"directories", func(i int) string { return fmt.Sprintf("d%d/a", i) }},
	{"deep", func(i int) string { return strings.Repeat("d/", 200) + fmt.Sprint(i) }},
	{"foreign", func(i int) string { return fmt.Sprintf("bücher-ﷺ%d", i) }},
	{"long", func(i int) string { return fmt.Sprint(i) + strings.Repeat("/"+strings.Repeat("l", 200), 10) }},
}

var archiveFormats = []struct {
	name   string
	create func(w io.Writer) archiver
}{{"tar", newTar}, {"zip", newZip}}

// archives lists families of archives in both formats. They are stored, so that the time is that of
// each byte which the reader sees.
func archives() (list []family) {
	add := func(name string, write func(a archiver, n int)) {
		for _, format := range archiveFormats {
			list = append(list, family{format.name + "/" + name, func(n int) []byte {
				var b bytes.Buffer
				a := format.create(&b)
				a.file("SKILL.md", []byte("---\nname: a\ndescription: b\n---\n"))
				write(a, n)
				a.close()
				return b.Bytes()
			}})
		}
	}
	for _, m := range memberNames {
		add("empty/"+m.name, func(a archiver, n int) {
			for i := range n {
				a.file(m.file(i), nil)
			}
		})
	}
	add("full", func(a archiver, n int) {
		for i := range n {
			a.file(fmt.Sprintf("a%d", i), bytes.Repeat([]byte("x"), 2000))
		}
	})
	add("large", func(a archiver, n int) { a.file("a", bytes.Repeat([]byte("x"), 100*n)) })
	add("signatures", func(a archiver, n int) { a.file("a", bytes.Repeat([]byte("PK\x05\x06PK\x01\x02PK\x03\x04"), n)) })
	add("only-directories", func(a archiver, n int) {
		for i := range n {
			a.file(fmt.Sprintf("d%d/", i), nil)
		}
	})
	return append(list, damaged()...)
}

// damaged are families of bytes that only begin or end as archives do.
func damaged() []family {
	compressed := func(f family) family {
		return family{"gzip/" + f.name, func(n int) []byte {
			var b bytes.Buffer
			z, _ := gzip.NewWriterLevel(&b, gzip.NoCompression) // the level exists
			_, _ = z.Write(f.make(n))                           // a buffer has no errors
			_ = z.Close()
			return b.Bytes()
		}}
	}
	return []family{
		repeated("neither", "\x00", "x", ""),
		compressed(repeated("zeros", strings.Repeat("0", 512)+"\x00", "\x01", "")),
		compressed(family{"padding", func(n int) []byte { return make([]byte, 512*n) }}),
		repeated("gzip-name", "\x1f\x8b\x08\x08......\x00", "a", ""),
		repeated("gzip-headers", "\x00", "\x1f\x8b\x08\x01......", ""),
		repeated("zip-ends", "PK\x03\x04\x00", "PK\x05\x06", ""),
		repeated("zip-entries", "PK\x03\x04\x00", "PK\x01\x02"+strings.Repeat("a", 42), ""),
	}
}

// archiver writes the members of an archive. A name that ends with a slash is a directory.
type archiver interface {
	file(name string, data []byte)
	close()
}

type tarArchiver struct {
	z *gzip.Writer
	t *tar.Writer
}

func newTar(w io.Writer) archiver {
	z, _ := gzip.NewWriterLevel(w, gzip.NoCompression) // the level exists
	return tarArchiver{z, tar.NewWriter(z)}
}

func (a tarArchiver) file(name string, data []byte) {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644}
	if strings.HasSuffix(name, "/") {
		h.Typeflag = tar.TypeDir
	}
	must(a.t.WriteHeader(h))
	_, err := a.t.Write(data)
	must(err)
}

func (a tarArchiver) close() {
	must(a.t.Close())
	must(a.z.Close())
}

type zipArchiver struct{ z *zip.Writer }

func newZip(w io.Writer) archiver { return zipArchiver{zip.NewWriter(w)} }

func (a zipArchiver) file(name string, data []byte) {
	w, err := a.z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	must(err)
	if len(data) > 0 {
		_, err = w.Write(data)
		must(err)
	}
}

func (a zipArchiver) close() { must(a.z.Close()) }

// must stops the program if an input cannot be made.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func archiveTargets() []target {
	read := func(limits dvs.Limits) func([]byte) {
		return func(data []byte) { _, _ = dvs.ReadArchive(bytes.NewReader(data), limits) }
	}
	return []target{
		bytesOf("dvs.ReadArchive", archives(), read(roomyFiles)),
		bytesOf("dvs.ReadArchive/default", archives(), read(dvs.Limits{})),
		writing("dvs.WriteArchive", dvs.Zip, archives()),
		writing("dvs.WriteArchive/tar.gz", dvs.TarGzip, archives()),
	}
}

// writing measures what it costs to write the files of an archive again, as a mirror or a
// bundle does.
func writing(name string, format dvs.ArchiveFormat, families []family) target {
	return target{name: name, families: families, covers: []string{"dvs.WriteArchive"}, prepare: func(input []byte) func() {
		files, err := dvs.ReadArchive(bytes.NewReader(input), roomyFiles)
		return func() {
			if err == nil {
				_ = dvs.WriteArchive(io.Discard, format, files)
			}
		}
	}}
}
