package dvs_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func ExampleReadArchive() {
	var archive bytes.Buffer
	err := dvs.WriteArchive(&archive, dvs.TarGzip, map[string][]byte{
		dvs.EntryFile:    []byte("---\nname: refund\ndescription: Returns a payment.\n---\nRun scripts/run.sh.\n"),
		"scripts/run.sh": []byte("#!/bin/sh\n"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := dvs.ReadArchive(&archive, dvs.Limits{})
	fmt.Println(slices.Sorted(maps.Keys(files)), err)

	_, err = dvs.ReadArchive(bytes.NewReader([]byte("<html>")), dvs.Limits{})
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// [SKILL.md scripts/run.sh] <nil>
	// bad-archive
}

func ExampleParseArtifactURL() {
	archive, err := dvs.ParseSkillURL("https://example.com/skills/refund.tar.gz", dvs.Rules{})
	fmt.Println(archive, archive.Artifact(), err)

	// An index of v0.2 may list a skill at any URL and says what it is.
	download, err := dvs.ParseArtifactURL("https://example.com/download/7", dvs.SkillArchive, dvs.Rules{})
	fmt.Println(download, download.Artifact(), err)
	// Output:
	// https://example.com/skills/refund.tar.gz archive <nil>
	// https://example.com/download/7 archive <nil>
}
