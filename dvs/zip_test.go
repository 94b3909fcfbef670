package dvs_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
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
	const (
		several  = "the zip archive is one part of several"
		zip64    = "the zip archive has the extension for more than 4 GB, which a skill does not need"
		overlap  = "members of the archive overlap, or there is something between them"
		other    = "the member has another name or place than in the directory of the archive"
		header   = "the header of the member states something else than the directory of the archive"
		checksum = "the file has another size or checksum than the archive states"
		before   = "there is something between the members and the directory of the archive"
		neither  = "the file is neither a .tar.gz nor a .zip archive"
	)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"multi-disk":                {patched(good, "PK\x05\x06", 4, 1), several},
		"directory-disk":            {patched(good, "PK\x05\x06", 6, 1), several},
		"other-number-on-disk":      {patched(good, "PK\x05\x06", 8, 1), several},
		"zip64":                     {patched(good, "PK\x05\x06", 10, 0xffff), zip64},
		"zip64-disk":                {patched(good, "PK\x05\x06", 4, 0xffff), zip64},
		"after-the-end":             {append(slices.Clone(good), 'x'), "the zip archive does not end where its end record says"},
		"comment-as-end":            {append(slices.Clone(good), "PK\x05\x06 and more"...), "the zip archive has no end record"},
		"cut":                       {good[:len(good)-30], "the zip archive has no end record"},
		"no-directory":              {replaceLast(good, "PK\x01\x02", "PK\x01\x03"), "the archive cannot be read"},
		"encrypted":                 {zipOf(t, encrypted, entry), "the member is encrypted"},
		"encrypted-directory":       {zipOf(t, func(h *zip.FileHeader) { h.Flags |= 1 << 13 }, entry), "the member is encrypted"},
		"other-method":              {patched(good, "PK\x01\x02", 10, 12), "the member is compressed with another method than deflate"},
		"directory-with-content":    {bytes.ReplaceAll(zipOf(t, nil, entry, member{name: "qz", content: "x"}), []byte("qz"), []byte("q/")), "the member is a directory with content"},
		"not-there":                 {patched(good, "PK\x01\x02", 42, 0xffff), "the member is not where the archive says"},
		"prefix":                    {append([]byte("#!/bin/sh\n"), good...), neither},
		"inserted":                  {patched(between, "PK\x01\x02", 42, uint16(last+4)), overlap},
		"overlap":                   {patched(good, "PK\x01\x02", 42, 0), overlap}, // the second member is where the first is
		"content-behind-the-end":    {patchedLocal(good, 28, 0xffff), overlap},
		"other-name":                {replaceLast(good, "a.md", "b.md"), other},
		"shorter-name":              {patchedLocal(patchedLocal(good, 26, 3), 28, 1), other},
		"same-member-in-front":      {patched(again, "PK\x01\x02", 42, uint16(bytes.LastIndex(again, []byte("PK\x03\x04")))), other},
		"hidden-member":             {hidden(good), before},
		"local-method":              {patchedLocal(good, 8, 0), header},
		"local-flags":               {patchedLocal(good, 6, 8|1), header},
		"local-without-descriptor":  {patchedLocal(good, 6, 0), header},
		"local-size":                {patchedLocal(good, 22, 4), header},
		"local-compressed-size":     {patchedLocal(good, 18, 4), header},
		"local-checksum":            {patchedLocal(good, 14, 1), header},
		"sizes-missing":             {patchedLocal(patchedLocal(patchedLocal(patchedLocal(sized, 14, 0), 16, 0), 18, 0), 22, 0), header},
		"stated-size":               {patchedLocal(sized, 22, 4), header},
		"stated-compressed-size":    {patchedLocal(sized, 18, 4), header},
		"stated-checksum":           {patchedLocal(sized, 14, 1), header},
		"sizes-in-64-bits-cut":      {rawZip64(t, 8, 18, 20, 22, 24), header},
		"unicode-path":              {unicodePath, header},
		"unicode-path-in-front":     {patched(unicodePath, "PK\x01\x02", 46+extraAt, 0x7071), header},
		"unicode-path-in-directory": {patchedLocal(unicodePath, 30+extraAt, 0x7071), header},
		"unicode-short":             {zipOf(t, func(h *zip.FileHeader) { h.Extra = []byte("\x75\x70\x02\x00\x01.") }, entry), header},
		"longer-than-the-archive":   {patched(good, "PK\x01\x02", 20, uint16(len(good)-last-30-len("a.md")+1)), "the member is longer than the archive"},
		"as-long-as-the-archive":    {patched(good, "PK\x01\x02", 20, uint16(len(good)-last-30-len("a.md"))), before},
		"compressed-size-negative":  {rawZip64Sizes(t, uint64(len(refund)), 1<<63), "the member is longer than the archive"},
		"descriptor-of-other-size":  {withDescriptor(t, append(descriptor(16), 0, 0), sole), before},
		"descriptor-and-more":       {withDescriptor(t, append(descriptor(16), "xxxx"...), sole), before},
		"descriptor-of-other-bytes": {withDescriptor(t, make([]byte, 16), sole), before},
		"other-checksum-in-front":   {patched(good, "PK\x01\x02", 16, 1), before},
		"other-size-in-directory":   {patched(good, "PK\x01\x02", 24, 1), before},
		"wrong-checksum":            {rawZip(t, func(h *zip.FileHeader) { h.CRC32 = 1 }, ""), checksum},
		"size-too-small":            {rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64 = 1 }, ""), checksum},
		"size-one-too-small":        {rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64-- }, ""), checksum},
		"size-too-large":            {rawZip(t, func(h *zip.FileHeader) { h.UncompressedSize64 = 400 }, ""), "the file is shorter than the archive states"},
		"deflate-without-end":       {rawMember(t, nil, deflated(t, false)), checksum},
		"tail-of-deflate":           {rawZip(t, nil, "PK\x03\x04 and a member that only some readers find"), "there is something after the compressed form of the file"},
		"empty":                     {[]byte("PK\x05\x06" + strings.Repeat("\x00", 18)), neither},
		"neither-of-both":           {[]byte("Rar!\x1a\x07"), neither},
		"nothing":                   {nil, neither},
	} {
		t.Run("reject-"+name+"", func(t *testing.T) {
			got, err := dvs.ReadArchive(bytes.NewReader(c.data), small)
			var e *lookleap.Error
			if got != nil || !errors.As(err, &e) || e.Code != dvs.CodeBadArchive || e.Message != c.says {
				t.Errorf("got %v, %v", slices.Sorted(maps.Keys(got)), err)
			}
		})
	}
	first, second, end := bytes.Index(good, []byte("PK\x01\x02")), bytes.LastIndex(good, []byte("PK\x01\x02")), bytes.LastIndex(good, []byte("PK\x05\x06"))
	check("accept-other-order-in-the-directory", slices.Concat(good[:first], good[second:end], good[first:second], good[end:]), lookleap.CodeOK, "SKILL.md", "a.md")
	check("reject-size-negative", rawZip64Sizes(t, 1<<63, 0), lookleap.CodeTooLarge)
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
	void := zipOf(t, nil, member{name: "SKILL.md"})
	record := void[bytes.Index(void, []byte("PK\x07\x08")):][:16]
	check("accept-descriptor-in-64-bits-of-nothing", withDescriptor(t, slices.Concat(record[:12], make([]byte, 12)), void), lookleap.CodeOK, "SKILL.md")
	for _, size := range []int{0, 12, 16, 20, 24} {
		check(fmt.Sprintf("accept-descriptor-of-%d-bytes", size), withDescriptor(t, descriptor(size), zipOf(t, nil, entry)), lookleap.CodeOK, "SKILL.md")
		check(fmt.Sprintf("accept-descriptor-of-%d-bytes-before-a-member", size), withDescriptor(t, descriptor(size), zipOf(t, nil, entry, member{name: "x"})), lookleap.CodeOK, "SKILL.md", "x")
	}
	check("accept-unicode-path", zipOf(t, func(h *zip.FileHeader) { h.Extra = []byte("\x01\x00\x00\x00\x75\x70\x0d\x00\x01....SKILL.md") }, entry), lookleap.CodeOK, "SKILL.md")
	for name, extra := range map[string]string{"whole": "\x01\x02\x02\x00\x09\x09", "cut": "\x01\x02\xff\x00\x09", "cut-header": "\x01\x02\x01"} {
		check("accept-extra-field-"+name, rawZip(t, func(h *zip.FileHeader) { h.Extra = []byte(extra) }, ""), lookleap.CodeOK, "SKILL.md")
	}
	for name, at := range map[string][]int{"both": {18, 20, 22, 24}, "compressed": {18, 20}, "size": {22, 24}} {
		check("accept-sizes-in-64-bits-"+name+"", rawZip64(t, 16, at...), lookleap.CodeOK, "SKILL.md")
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
