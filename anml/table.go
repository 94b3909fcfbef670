package anml

import "github.com/lookleap/lookleap/internal/anmltable"

func init() { anmltable.Elements = elementTable }

// elementTable is the schema for programs that generate documents from it.
func elementTable() []anmltable.Element {
	types := [...]anmltable.Type{tString: anmltable.TypeText, tBool: anmltable.TypeBool, tInteger: anmltable.TypeNumber,
		tNumber: anmltable.TypeNumber, tURI: anmltable.TypeURI, tLang: anmltable.TypeLang, tDateTime: anmltable.TypeTime,
		tMedia: anmltable.TypeMedia, tDomain: anmltable.TypeDomain, tEnum: anmltable.TypeWord, tMethod: anmltable.TypeMethod}
	table := make([]anmltable.Element, 0, kindCount-kAnml)
	for _, s := range schema[kAnml:] {
		e := anmltable.Element{Name: s.name, Text: s.content == textOnly || s.content == mixed}
		for _, a := range s.attrs {
			e.Attributes = append(e.Attributes, anmltable.Attribute{Name: a.name, Type: types[a.typ], Words: a.enum})
		}
		for _, c := range s.children {
			e.Children = append(e.Children, anmltable.Child{Element: int(c.kind - kAnml), Many: c.many})
		}
		table = append(table, e)
	}
	return table
}
