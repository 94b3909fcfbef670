package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Scores are the deciding files and how many of their mutants the tests notice. The file
// has comments and a line for each deciding file, in the order in which they are shown: the
// path, the digest of the measured text, and the numbers of mutants that were killed,
// survived, are equivalent, did not compile and were left out, separated by tabs. A file
// that was not measured has its path only.
type scores struct {
	path  string
	lines []string
}

func readScores(path string) (*scores, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &scores{path, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}, nil
}

// files returns the deciding files.
func (s *scores) files() (all []string) {
	for _, line := range s.lines {
		if file, _, _ := strings.Cut(line, "\t"); file != "" && !strings.HasPrefix(file, "#") {
			all = append(all, file)
		}
	}
	return all
}

// update writes the outcomes of the deciding files that were measured. Files of which less is
// known now than before, because time was over, keep their line.
func (s *scores) update(root string, tallies map[string]tally) error {
	for i, line := range s.lines {
		file, before, measured := strings.Cut(line, "\t")
		t, ok := tallies[file]
		if !ok || t[Killed]+t[Survived] == 0 {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		digest := digestOf(source)
		if t[LeftOut] > 0 && measured && strings.HasPrefix(before, digest) && strings.HasSuffix(before, "\t0") {
			continue
		}
		s.lines[i] = fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%d\t%d", file, digest, t[Killed], t[Survived], t[Equivalent], t[NotBuilt], t[LeftOut])
	}
	return os.WriteFile(s.path, []byte(strings.Join(s.lines, "\n")+"\n"), 0o644)
}

func digestOf(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:6])
}
