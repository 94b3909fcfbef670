// Package kit is the conformance kit: cases for implementations in any language, and a runner that
// scores a program. docs/conformance-kit.md describes the protocol.
//
// The cases are made from the vectors of the packages, below testdata/vectors of each. After a
// change of these run
//
//	go run ./internal/kit/lookleap-kit -update
//
// and the tests of this package fail until that is done.
package kit

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
)

// Protocol is the version of the exchange between a runner and a program.
const Protocol = 1

// The classes of an answer.
const (
	Accept      = "accept"
	Reject      = "reject"
	Unsupported = "unsupported" // the program does not implement the operation
)

// Case is one thing to decide.
type Case struct {
	ID          string          `json:"id"`
	Requirement string          `json:"requirement"`
	Operation   string          `json:"operation"`
	Input       json.RawMessage `json:"input"`
	Class       string          `json:"class"`   // Accept or Reject
	Outcome     map[string]any  `json:"outcome"` // members that an equal answer has
}

// Document holds the cases of one document.
type Document struct {
	Title string `json:"document"` // with its version
	Cases []Case `json:"cases"`
}

// Manifest lists the files of a kit.
type Manifest struct {
	Protocol int    `json:"protocol"`
	Files    []File `json:"files"`
}

// File is one file of a kit.
type File struct {
	Name     string `json:"name"`
	Document string `json:"document"`
	Cases    int    `json:"cases"`
	SHA256   string `json:"sha256"` // of the file, in hexadecimal
}

//go:embed cases/*.json
var embedded embed.FS

// Embedded returns the files of the kit that is part of the module.
func Embedded() fs.FS {
	dir, err := fs.Sub(embedded, "cases")
	if err != nil {
		panic(err) // the name is constant and valid
	}
	return dir
}

// Load reads a kit. It returns an error if a file does not have the digest of the manifest.
func Load(dir fs.FS) ([]Document, error) {
	var manifest Manifest
	if err := readJSON(dir, "manifest.json", &manifest); err != nil {
		return nil, err
	}
	if manifest.Protocol != Protocol {
		return nil, fmt.Errorf("the kit has protocol %d, and this runner %d", manifest.Protocol, Protocol)
	}
	var documents []Document
	for _, file := range manifest.Files {
		data, err := fs.ReadFile(dir, file.Name)
		if err != nil {
			return nil, err
		}
		if digest(data) != file.SHA256 {
			return nil, fmt.Errorf("%s does not have the digest of the manifest", file.Name)
		}
		var d Document
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name, err)
		}
		documents = append(documents, d)
	}
	return documents, nil
}

func readJSON(dir fs.FS, name string, value any) error {
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
