// Package anmltable lets programs of this repository generate documents from the
// element table of package anml, so that a new element is in what they generate.
package anmltable

// Element is one element of the draft where it stands in one parent.
type Element struct {
	Name       string
	Text       bool // it may hold text
	Attributes []Attribute
	Children   []Child
}

// Child is an element that may stand in another.
type Child struct {
	Element int // number in the table
	Many    bool
}

// Attribute is one attribute of an element.
type Attribute struct {
	Name  string
	Type  Type
	Words []string // of TypeWord
}

// Type is what the text of an attribute has to be.
type Type uint8

const (
	TypeText Type = iota
	TypeBool
	TypeNumber
	TypeURI
	TypeLang
	TypeTime
	TypeMedia
	TypeDomain
	TypeWord
	TypeMethod
)

// Root is the number of the root element.
const Root = 0

// Elements lists the elements; the root is the first. Package anml sets it.
var Elements func() []Element
