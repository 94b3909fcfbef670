package markdown_test

import "testing"

func TestCodeSpans(t *testing.T) {
	check(t, map[string]string{
		"a `b` c":              `0-7 0:"a " 3:code "b" 5:" c"`,
		"``a`b``":              "0-7 2:code \"a`b\"",
		"`a":                   "0-2 0:\"`a\"",
		"`a``b`":               "0-6 1:code \"a``b\"",
		"`a\nb`":               `0-5 1:code "a" 3:code "b"`,
		"\\`a`":                "0-4 0:\"\\\\`a`\"",
		"`\\`":                 `0-3 1:code "\\"`,
		"`` ` ``":              "0-7 2:code \" ` \"",
		"a`":                   "0-2 0:\"a`\"",
		"`a` ``b`` `c`":        `0-13 1:code "a" 3:" " 6:code "b" 9:" " 11:code "c"`,
		"`` `a``":              "0-7 2:code \" `a\"",
		"``a` `b":              "0-7 0:\"``a\" 4:code \" \" 6:\"b\"",
		"`a``b``c`":            "0-9 1:code \"a``b``c\"",
		"x `a ``b` ``c`` d`e`": "0-20 0:\"x \" 3:code \"a ``b\" 9:\" \" 12:code \"c\" 15:\" d\" 18:code \"e\"",
		"```a``b```":           "0-10 3:code \"a``b\"",
	})
}

func TestEscapes(t *testing.T) {
	check(t, map[string]string{
		"\\[a](b)":    `0-7 0:"\\[a](b)"`,
		"a\\":         `0-2 0:"a\\"`,
		"\\a[b](c)":   `0-8 0:"\\a[b]" 6:link "c"`,
		"\\<b>":       `0-4 0:"\\<b>"`,
		"\\\\<b>":     `0-5 0:"\\\\" 2:tag "<b>"`,
		"\\!\\[a](b)": `0-9 0:"\\!\\[a](b)"`,
		"[a\\](b)":    `0-7 0:"[a\\](b)"`,
		"\\é<b>":      `0-6 0:"\\é" 3:tag "<b>"`,
	})
}

func TestAutolinks(t *testing.T) {
	check(t, map[string]string{
		"<http://a>":    `0-10 1:link "http://a"`,
		"<a:b>":         `0-5 0:"<a:b>"`,
		"<ab:c>":        `0-6 1:link "ab:c"`,
		"<a+b.c-1:d>":   `0-11 1:link "a+b.c-1:d"`,
		"<1ab:c>":       `0-7 0:"<1ab:c>"`,
		"<-ab:c>":       `0-7 0:"<-ab:c>"`,
		"<http://a b>":  `0-12 0:"<http://a b>"`,
		"<http://a<b>":  `0-12 0:"<http://a" 9:tag "<b>"`,
		"<http://a\nb>": `0-12 0:"<http://a" 10:"b>"`,
		"<ab:>":         `0-5 1:link "ab:"`,
		"<a@b.c>":       `0-7 1:link "mailto:a@b.c"`,
		"<a@-b>":        `0-6 0:"<a@-b>"`,
		"<a@b->":        `0-6 0:"<a@b->"`,
		"<a@b-c>":       `0-7 1:link "mailto:a@b-c"`,
		"<a@b..c>":      `0-8 0:"<a@b..c>"`,
		"<@b>":          `0-4 0:"<@b>"`,
		"<a@>":          `0-4 0:"<a@>"`,
		"<a@b_c>":       `0-7 0:"<a@b_c>"`,
		"<é@b>":         `0-6 0:"<é@b>"`,
		"<a@é>":         `0-6 0:"<a@é>"`,
		"<ab:é>":        `0-7 1:link "ab:é"`,
		"<aé:b>":        `0-7 0:"<aé:b>"`,
		"<a_b:c>":       `0-7 0:"<a_b:c>"`,
		"<a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>":  `0-67 1:link "mailto:a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"`,
		"<a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>": `0-68 0:"<a@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>"`,
		"<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:b>":                                 `0-36 1:link "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:b"`,
		"<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:b>":                                `0-37 0:"<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:b>"`,
		"<":                                                                    `0-1 0:"<"`,
		"<a":                                                                   `0-2 0:"<a"`,
		"<a@b":                                                                 `0-4 0:"<a@b"`,
		"<.!#$%&'*+/=?^_`{|}~-0Z@b>":                                           "0-26 1:link \"mailto:.!#$%&'*+/=?^_`{|}~-0Z@b\"",
		"<a\\@b>":                                                              `0-6 0:"<a\\@b>"`,
		"<a b@c>":                                                              `0-7 0:"<a b@c>"`,
		"<Zz:b>":                                                               `0-6 1:link "Zz:b"`,
		"x <http://a> y":                                                       `0-14 0:"x " 3:link "http://a" 12:" y"`,
		"<a@B.9>":                                                              `0-7 1:link "mailto:a@B.9"`,
		"<:a>":                                                                 `0-4 0:"<:a>"`,
		"<a@b@c>":                                                              `0-7 0:"<a@b@c>"`,
		"<a@b:c>":                                                              `0-7 0:"<a@b:c>"`,
	})
}

func TestInlineTags(t *testing.T) {
	check(t, map[string]string{
		"a<b>c":                             `0-5 0:"a" 1:tag "<b>" 4:"c"`,
		"a </b >c":                          `0-8 0:"a " 2:tag "</b >" 7:"c"`,
		"a <b c=d/>e":                       `0-11 0:"a " 2:tag "<b c=d/>" 10:"e"`,
		"a <!-- b --> c":                    `0-14 0:"a " 2:tag "<!-- b -->" 12:" c"`,
		"a <!--> b":                         `0-9 0:"a " 2:tag "<!-->" 7:" b"`,
		"a <!---> b":                        `0-10 0:"a " 2:tag "<!--->" 8:" b"`,
		"a <!-- b":                          `0-8 0:"a <!-- b"`,
		"a <?b?> c":                         `0-9 0:"a " 2:tag "<?b?>" 7:" c"`,
		"a <?b":                             `0-5 0:"a <?b"`,
		"a <!B c> d":                        `0-10 0:"a " 2:tag "<!B c>" 8:" d"`,
		"a <!B":                             `0-5 0:"a <!B"`,
		"a <!1> c":                          `0-8 0:"a <!1> c"`,
		"a <![CDATA[b]]> c":                 `0-17 0:"a " 2:tag "<![CDATA[b]]>" 15:" c"`,
		"a <![CDATA[b":                      `0-12 0:"a <![CDATA[b"`,
		"a < b":                             `0-5 0:"a < b"`,
		"a <!-- b <!-- c --> d":             `0-21 0:"a " 2:tag "<!-- b <!-- c -->" 19:" d"`,
		"a <? b <? c ?> d":                  `0-16 0:"a " 2:tag "<? b <? c ?>" 14:" d"`,
		"a <b\nc> d":                        `0-9 0:"a " 2:tag "<b\nc>" 7:" d"`,
		"a <!-- b\nc --> d":                 `0-16 0:"a " 2:tag "<!-- b\nc -->" 14:" d"`,
		"a <!-- b --> <!-- c --> <!-- d":    `0-30 0:"a " 2:tag "<!-- b -->" 12:" " 13:tag "<!-- c -->" 23:" <!-- d"`,
		"a <?b?> <?c":                       `0-11 0:"a " 2:tag "<?b?>" 7:" <?c"`,
		"a <!B> <!C":                        `0-10 0:"a " 2:tag "<!B>" 6:" <!C"`,
		"a <![CDATA[b]]> <![CDATA[c":        `0-26 0:"a " 2:tag "<![CDATA[b]]>" 15:" <![CDATA[c"`,
		"a <!-- b <?c?> <!D> <![CDATA[e]]>": `0-33 0:"a <!-- b " 9:tag "<?c?>" 14:" " 15:tag "<!D>" 19:" " 20:tag "<![CDATA[e]]>"`,
		"a <?b <!-- c -->":                  `0-16 0:"a <?b " 6:tag "<!-- c -->"`,
		"a <!":                              `0-4 0:"a <!"`,
		"a <b":                              `0-4 0:"a <b"`,
		"a <b 'c'>":                         `0-9 0:"a <b 'c'>"`,
		"a <!-->-->":                        `0-10 0:"a " 2:tag "<!-->" 7:"-->"`,
		"a <!----> b":                       `0-11 0:"a " 2:tag "<!---->" 9:" b"`,
		"a <?> b ?>":                        `0-10 0:"a " 2:tag "<?> b ?>"`,
	})
}
