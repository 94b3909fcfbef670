package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rootModule is the module that is released; the others are part of the repository.
const rootModule = "github.com/lookleap/lookleap"

// The members of a CycloneDX 1.6 document that are used here.
type sbom struct {
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Revision   int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Scope      string     `json:"scope,omitempty"` // required: compiled into users' programs
	Licenses   []license  `json:"licenses"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type license struct {
	License struct {
		ID   string `json:"id,omitempty"`   // of SPDX
		Name string `json:"name,omitempty"` // if the module has no licence text
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dependency is a module that a module of the repository uses.
type dependency struct {
	module
	required bool            // by packages of the root module that are not tests
	usedBy   map[string]bool // directories of modules
}

// billOfMaterials returns the CycloneDX document of all modules of the repository. It has neither
// a time nor a serial number, so that equal dependencies give equal bytes.
func billOfMaterials() ([]byte, error) {
	found, err := dependencies()
	if err != nil {
		return nil, err
	}
	own, err := licenseOf(".")
	if err != nil {
		return nil, err
	}
	var unknown []error
	bom := sbom{Format: "CycloneDX", Version: "1.6", Revision: 1,
		Metadata: metadata{newComponent("library", module{Path: rootModule}, own)}}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		d := found[key]
		id, err := licenseOf(d.Dir)
		if err != nil && !withoutText[d.Path] {
			unknown = append(unknown, fmt.Errorf("%s: %w", key, err))
		}
		c := newComponent("library", d.module, id)
		c.Scope = "excluded"
		if d.required {
			c.Scope = "required"
		}
		c.Properties = []property{{"lookleap:used-by", strings.Join(slices.Sorted(maps.Keys(d.usedBy)), " ")}}
		if d.Sum != "" {
			c.Properties = append(c.Properties, property{"go:sum", d.Sum})
		}
		bom.Components = append(bom.Components, c)
	}
	if len(unknown) > 0 {
		return nil, errors.Join(unknown...)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(bom)
	return out.Bytes(), err
}

func newComponent(kind string, m module, licenseID string) component {
	purl := "pkg:golang/" + m.Path
	if m.Version != "" {
		purl += "@" + m.Version
	}
	c := component{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Licenses: make([]license, 1)}
	c.Licenses[0].License.ID = licenseID
	if licenseID == "" {
		c.Licenses[0].License.Name = "none in the module"
	}
	return c
}

// dependencies returns the modules that are used, by path and version.
func dependencies() (map[string]*dependency, error) {
	dirs, err := moduleDirs()
	if err != nil {
		return nil, err
	}
	found := make(map[string]*dependency)
	for _, dir := range dirs[1:] { // of the nested modules: as they are built here
		if err := addDependencies(found, dir, systems[0], "-test"); err != nil {
			return nil, err
		}
	}
	for _, system := range systems {
		if err := errors.Join(addDependencies(found, ".", system, "-test"), addDependencies(found, ".", system)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// addDependencies adds what the packages of a module use. Without the flag -test it is required.
func addDependencies(found map[string]*dependency, dir, system string, flags ...string) error {
	packages, err := listPackages(dir, system, append(flags, "./...")...)
	if err != nil {
		return err
	}
	for _, p := range packages {
		m := p.Module
		if p.Standard || m == nil || m.Main || strings.HasPrefix(m.Path, rootModule) {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		key := m.Path + "@" + m.Version
		if found[key] == nil {
			found[key] = &dependency{module: *m, usedBy: map[string]bool{}}
		}
		found[key].usedBy[dir] = true
		found[key].required = found[key].required || dir == "." && len(flags) == 0
	}
	return nil
}

// withoutText are the modules that have no licence text, as far as they were looked at. None of them
// is required.
var withoutText = map[string]bool{
	"github.com/nexus-rpc/nexus-proto-annotations": true, // an indirect dependency of the Temporal SDK
}

// licenseTexts has sentences that only one licence has.
var licenseTexts = []struct {
	id        string
	sentences []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"MPL-2.0", []string{"Mozilla Public License", "2.0"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "Neither the name"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms", "THIS SOFTWARE IS PROVIDED"}},
	{"Unlicense", []string{"This is free and unencumbered software released into the public domain."}},
	{"ISC", []string{"Permission to use, copy, modify, and distribute this software for any purpose with or without fee"}},
	{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"}},
	{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
}

// licenseOf returns the SPDX identifier of a module's licence. A licence that it does not know is an
// error: someone has to read the text before the module is used.
func licenseOf(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		base := strings.ToUpper(filepath.Base(name))
		if !strings.Contains(base, "LICENSE") && !strings.Contains(base, "LICENCE") && !strings.HasPrefix(base, "COPYING") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		text := strings.Join(strings.Fields(string(data)), " ")
		for _, known := range licenseTexts {
			if !slices.ContainsFunc(known.sentences, func(s string) bool { return !strings.Contains(text, s) }) {
				return known.id, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no licence that is known: read it and add it to .ci/supply", dir)
}
