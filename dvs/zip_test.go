package dvs_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestReadZip has the rules of the format: a reader that goes through the file finds the same
// members as one that reads the directory at its end.
func TestReadZip(t *testing.T) {
	small := dvs.Limits{Archive: 1 << 20}
	check := func(name string, data []byte, want lookleap.Code, files ...string) {
		t.Run(name, func(t *testing.T) {
			got, err := dvs.ReadArchive(bytes.NewReader(data), small)
			if lookleap.CodeOf(err) != want || !slices.Equal(slices.Sorted(maps.Keys(got)), files) {
				t.Errorf("got %v, %v", slices.Sorted(maps.Keys(got)), err)
			}
		})
	}
	encrypted := func(h *zip.FileHeader) { h.Flags |= 1 }
	good := zipOf(t, nil, entry, member{name: "a.md", content: "more"})
	last := bytes.LastIndex(good, []byte("PK\x03\x04"))
	descriptor := func(size int) []byte {
		data := binary.LittleEndian.AppendUint32([]byte("PK\x07\x08"), crc32.ChecksumIEEE([]byte(refund)))
		written := zipOf(t, nil, entry) // its record has the size that this compressor results in
		compressed := binary.LittleEndian.Uint32(written[bytes.Index(written, []byte("PK\x07\x08"))+8:])
		for _, n := range []int{int(compressed), len(refund)} {
			data = append(binary.LittleEndian.AppendUint32(data, uint32(n)), make([]byte, size/20*4)...)
		}
		return data[len(data)-size:]
	}
	sole := zipOf(t, nil, entry)
	sized := rawZip(t, nil, "") // its sizes are in front of the content
	unicodePath := zipOf(t, func(h *zip.FileHeader) { h.Extra = []byte("\x75\x70\x09\x00\x01....x.md") }, entry)
	extraAt := len("SKILL.md")
	again := hidden(zipOf(t, nil, entry, member{name: "a.md", content: "more"}, member{name: "a.md", content: "more"}))
	again = patched(patched(again, "PK\x05\x06", 8, 2), "PK\x05\x06", 10, 2)
	between := slices.Concat(good[:last], []byte("xxxx"), good[last:])
	between = patched(between, "PK\x05\x06", 16, uint16(bytes.Index(between, []byte("PK\x01\x02"))))
	for name, data := range map[string][]byte{
		"multi-disk":                patched(good, "PK\x05\x06", 4, 1),
		"directory-disk":            patched(good, "PK\x05\x06", 6, 1),
		"other-number-on-disk":      patched(good, "PK\x05\x06", 8, 1),
		"zip64":                     patched(good, "PK\x05\x06", 10, 0xffff),
		"zip64-disk":                patched(good, "PK\x05\x06", 4, 0xffff),
		"after-the-end":             append(slices.Clone(good), 'x'),
		"comment-as-end":            append(slices.Clone(good), "PK\x05\x06 and more"...),
		"cut":                       good[:len(good)-30],
		"no-directory":              replaceLast(good, "PK\x01\x02", "PK\x01\x03"),
		"encrypted":                 zipOf(t, encrypted, entry),
		"encrypted-directory":       zipOf(t, func(h *zip.FileHeader) { h.Flags |= 1 << 13 }, entry),
		"other-method":              patched(good, "PK\x01\x02", 10, 12),
		"directory-with-content":    bytes.ReplaceAll(zipOf(t, nil, entry, member{name: "qz", content: "x"}), []byte("qz"), []byte("q/")),
		"not-there":                 patched(good, "PK\x01\x02", 42, 0xffff),
		"prefix":                    append([]byte("#!/bin/sh\n"), good...),
		"inserted":                  patched(between, "PK\x01\x02", 42, uint16(last+4)),
		"overlap":                   patched(good, "PK\x01\x02", 42, 0), // the second member is where the first is
		"content-behind-the-end":    patchedLocal(good, 28, 0xffff),
		"other-name":                replaceLast(good, "a.md", "b.md"),
		"shorter-name":              patchedLocal(patchedLocal(good, 26, 3), 28, 1),
		"same-member-in-front":      patched(again, "PK\x01\x02", 42, uint16(bytes.LastIndex(again, []byte("PK\x03\x04")))),
		"hidden-member":             hidden(good),
		"local-method":              patchedLocal(good, 8, 0),
		"local-flags":               patchedLocal(good, 6, 8|1),
		"local-without-descriptor":  patchedLocal(good, 6, 0),
		"local-size":                patchedLocal(good, 22, 4),
		"local-compressed-size":     patchedLocal(good, 18, 4),
		"local-checksum":            patchedLocal(good, 14, 1),
		"sizes-missing":             patchedLocal(patchedLocal(patchedLocal(patchedLocal(sized, 14, 0), 16, 0), 18, 0), 22, 0),
		"stated-size":               patchedLocal(sized, 22, 4),
		"stated-compressed-size":    patchedLocal(sized, 18, 4),
		"stated-checksum":           patchedLocal(sized, 14, 1),
		"sizes-in-64-bits-cut":      rawZip64(t, 8, 18, 20, 22, 24),
		"unicode-path":              unicodePath,
		"unicode-path-in-front":     patched(unicodePath, "PK\x01\x02", 46+extraAt, 0x7071),
		"unicode-path-in-directory": patchedLocal(unicodePath, 30+extraAt, 0x7071),
		"unicode-short":             zipOf(t, func(h *zip.FileHeader) { h.Extra = []byte("\x75\x70\x02\x00\x01.") }, entry),
		"longer-than-the-archive":   patched(good, "PK\x01\x02", 20, uint16(len(good)-last-30-len("a.md")+1)),
		"as-long-as-the-archive":    patched(good, "PK\x01\x02", 20, uint16(len(good)-last-30-len("a.md"))),
		"compressed-size-negative":  rawZip64Sizes(t, uint64(len(refund)), 1<<63),
		"descriptor-of-other-size":  withDescriptor(t, append(descriptor(16), 0, 0), sole),
		"descriptor-and-more":       withDescriptor(t, append(descriptor(16), "xxxx"...), sole),
		"descriptor-of-other-bytes": withDescriptor(t, make([]byte, 16), sole),
		"other-checksum-in-front":   patched(good, "PK\x01\x02", 16, 1),
		"other-size-in-directory":   patched(good, "PK\x01\x02", 24, 1),
		"wrong-checksum":            rawZip(t, func(h *zip.FileHeader) { h.CRC32 = 1 }, ""),
		"size-too-small":            rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64 = 1 }, ""),
		"size-one-too-small":        rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64-- }, ""),
		"size-too-large":            rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64 = 400 }, ""),
		"deflate-without-end":       rawMember(t, nil, deflated(t, false)),
		"tail-of-deflate":           rawZip(t, nil, "PK\x03\x04 and a member that only some readers find"),
		"empty":                     []byte("PK\x05\x06" + strings.Repeat("\x00", 18)),
		"neither-of-both":           []byte("Rar!\x1a\x07"),
		"nothing":                   nil,
	} {
		check("reject-"+name, data, dvs.CodeBadArchive)
	}
	first, second, end := bytes.Index(good, []byte("PK\x01\x02")), bytes.LastIndex(good, []byte("PK\x01\x02")), bytes.LastIndex(good, []byte("PK\x05\x06"))
	check("accept-other-order-in-the-directory", slices.Concat(good[:first], good[second:end], good[first:second], good[end:]), lookleap.CodeOK, "SKILL.md", "a.md")
	check("accept-unicode-path-of-the-same-name", zipOf(t, func(h *zip.FileHeader) {
		h.Extra = append([]byte{0x75, 0x70, byte(5 + len(h.Name)), 0, 1, 0, 0, 0, 0}, h.Name...)
	}, entry), lookleap.CodeOK, "SKILL.md")
	check("reject-size-negative", rawZip64Sizes(t, 1<<63, 0), dvs.CodeBadArchive)
	for name, attributes := range map[string]struct {
		name string
		mode uint32
		want lookleap.Code
	}{
		"accept-file":               {"x", 0x81a4, lookleap.CodeOK},
		"accept-directory":          {"x/", 0x41ed, lookleap.CodeOK},
		"reject-directory-as-file":  {"x", 0x41ed, dvs.CodeLink},
		"reject-file-as-directory":  {"x/", 0x81a4, dvs.CodeLink},
		"reject-link-as-directory":  {"x/", 0xa1ff, dvs.CodeLink},
		"reject-name-not-in-utf-8":  {"x\xff", 0x81a4, dvs.CodeUnsafeName},
		"reject-directory-in-utf-8": {"x\xff/", 0x41ed, dvs.CodeUnsafeName},
	} {
		files := []string{"SKILL.md", "x"}
		if attributes.want != lookleap.CodeOK {
			files = nil
		} else if strings.HasSuffix(attributes.name, "/") {
			files = files[:1]
		}
		check(name+"-with-attributes", zipOf(t, func(h *zip.FileHeader) {
			if h.Name != "SKILL.md" {
				h.CreatorVersion, h.ExternalAttrs = 3<<8, attributes.mode<<16
			}
		}, entry, member{name: attributes.name}), attributes.want, files...)
	}
	for _, size := range []int{0, 12, 16} {
		check(fmt.Sprintf("accept-descriptor-of-%d-bytes", size), withDescriptor(t, descriptor(size), zipOf(t, nil, entry)), lookleap.CodeOK, "SKILL.md")
		check(fmt.Sprintf("accept-descriptor-of-%d-bytes-before-a-member", size), withDescriptor(t, descriptor(size), zipOf(t, nil, entry, member{name: "x"})), lookleap.CodeOK, "SKILL.md", "x")
	}
	for name, extra := range map[string]string{"whole": "\x01\x02\x02\x00\x09\x09", "cut": "\x01\x02\xff\x00\x09", "cut-header": "\x01\x02\x01"} {
		check("accept-extra-field-"+name, rawZip(t, func(h *zip.FileHeader) { h.Extra = []byte(extra) }, ""), lookleap.CodeOK, "SKILL.md")
	}
	check("accept-sizes-in-64-bits-not-used", rawZip(t, func(h *zip.FileHeader) { h.Extra = []byte("\x01\x00\x10\x00----------------") }, ""), lookleap.CodeOK, "SKILL.md")
	check("accept-stored", zipOf(t, func(h *zip.FileHeader) { h.Method = zip.Store }, entry), lookleap.CodeOK, "SKILL.md")
	check("reject-archive-size", zipOf(t, nil, entry, member{name: "a", content: noise(2 << 20)}), lookleap.CodeTooLarge)
}

func FuzzReadZip(f *testing.F) {
	f.Add(zipOf(f, nil, entry, member{name: "scripts/a.py", content: "print()"}))
	f.Add(zipOf(f, nil, entry, member{name: "x", kind: tar.TypeSymlink, content: "/etc/passwd"}))
	f.Add(zipOf(f, func(h *zip.FileHeader) { h.Method = zip.Store }, entry, member{name: "a/"}))
	f.Fuzz(func(t *testing.T, data []byte) { holdsRules(t, data) })
}
