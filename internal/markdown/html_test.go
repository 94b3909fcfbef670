package markdown_test

import "testing"

func TestRawHTML(t *testing.T) {
	check(t, map[string]string{
		"<pre>\na\n\nb</pre>\nc\n":       `0-17 html "<pre>\na\n\nb</pre>\n"; 17-19 17:"c"`,
		"<script\nx\n\n</script>\nc\n":   `0-21 html "<script\nx\n\n</script>\n"; 21-23 21:"c"`,
		"<STYLE>a</Style>b\nc\n":         `0-18 html "<STYLE>a</Style>b\n"; 18-20 18:"c"`,
		"<textarea>\n\n</textarea>\nc\n": `0-24 html "<textarea>\n\n</textarea>\n"; 24-26 24:"c"`,
		"<pre2>\n\nb\n":                  `0-7 html "<pre2>\n"; 8-10 8:"b"`,
		"<pre/>\n\nb\n":                  `0-7 0:tag "<pre/>"; 8-10 8:"b"`,
		"</pre>\na\n\nb\n":               `0-9 html "</pre>\na\n"; 10-12 10:"b"`,
		"<pre\tx>\n\nb</pre>\n":          `0-17 html "<pre\tx>\n\nb</pre>\n"`,
		"<pre >\n\n</script>\nb\n":       `0-18 html "<pre >\n\n</script>\n"; 18-20 18:"b"`,
		"<pre>\n\n</pre x>\n</ pre>\n</pre\n</prefix>\n</pre>\nb\n": `0-47 html "<pre>\n\n</pre x>\n</ pre>\n</pre\n</prefix>\n</pre>\n"; 47-49 47:"b"`,
		"<pre>\n</textareas></pre>\nb\n":                            `0-25 html "<pre>\n</textareas></pre>\n"; 25-27 25:"b"`,
		"<pre>\n</>\n<//pre>\n":                                     `0-18 html "<pre>\n</>\n<//pre>\n"`,
		"<script>a</b></script>\nb\n":                               `0-23 html "<script>a</b></script>\n"; 23-25 23:"b"`,
		"a\n<pre>\n\n</pre>\nb\n":                                   `0-2 0:"a"; 2-16 html "<pre>\n\n</pre>\n"; 16-18 16:"b"`,
		"<pre>\n</textareas>\n\n</pre>\nb\n":                        `0-27 html "<pre>\n</textareas>\n\n</pre>\n"; 27-29 27:"b"`,
	})
}

func TestCommentBlocks(t *testing.T) {
	check(t, map[string]string{
		"<!-- a\n\nb --> c\nd\n": `0-16 html "<!-- a\n\nb --> c\n"; 16-18 16:"d"`,
		"<!-->\na\n-->\nb\n":     `0-6 html "<!-->\n"; 6-14 6:"a" 8:"-->" 12:"b"`,
		"<!- a\n\nb\n":           `0-6 0:"<!- a"; 7-9 7:"b"`,
		"a\n<!-- b -->\nc\n":     `0-2 0:"a"; 2-13 html "<!-- b -->\n"; 13-15 13:"c"`,
	})
}

func TestInstructionBlocks(t *testing.T) {
	check(t, map[string]string{
		"<?a\n\n?>b\nc\n": `0-9 html "<?a\n\n?>b\n"; 9-11 9:"c"`,
		"<?a>\n\nb\n":     `0-8 html "<?a>\n\nb\n"`,
	})
}

func TestDeclarationBlocks(t *testing.T) {
	check(t, map[string]string{
		"<!A\n\n>b\nc\n": `0-8 html "<!A\n\n>b\n"; 8-10 8:"c"`,
		"<!a>\nb\n":      `0-5 html "<!a>\n"; 5-7 5:"b"`,
		"<! a\n\nb\n":    `0-5 0:"<! a"; 6-8 6:"b"`,
		"<!1>\n\nb\n":    `0-5 0:"<!1>"; 6-8 6:"b"`,
		"<!\n":           `0-3 0:"<!"`,
		"<!A\n\nb\n":     `0-7 html "<!A\n\nb\n"`,
	})
}

func TestSectionBlocks(t *testing.T) {
	check(t, map[string]string{
		"<![CDATA[\n\n]]>a\nb\n": `0-16 html "<![CDATA[\n\n]]>a\n"; 16-18 16:"b"`,
		"<![CDATA\n\n]]>\n":      `0-9 0:"<![CDATA"; 10-14 10:"]]>"`,
		"<![CDATA[\n]>\n\nb\n":   `0-16 html "<![CDATA[\n]>\n\nb\n"`,
	})
}

func TestBlockTags(t *testing.T) {
	check(t, map[string]string{
		"<div>\na\n\nb\n":      `0-8 html "<div>\na\n"; 9-11 9:"b"`,
		"</div>\na\n\nb\n":     `0-9 html "</div>\na\n"; 10-12 10:"b"`,
		"<div/>\na\n":          `0-9 html "<div/>\na\n"`,
		"<div\na\n\nb\n":       `0-7 html "<div\na\n"; 8-10 8:"b"`,
		"<div\tx\na\n":         `0-9 html "<div\tx\na\n"`,
		"<div/\na\n":           `0-8 0:"<div/" 6:"a"`,
		"<divx>\na\n\nb\n":     `0-9 html "<divx>\na\n"; 10-12 10:"b"`,
		"<DIV>\na\n":           `0-8 html "<DIV>\na\n"`,
		"<h1>\na\n":            `0-7 html "<h1>\na\n"`,
		"<h7> b\na\n":          `0-9 0:tag "<h7>" 4:" b" 7:"a"`,
		"<blockquote>\na\n":    `0-15 html "<blockquote>\na\n"`,
		"<blockquotex> b\na\n": `0-18 0:tag "<blockquotex>" 13:" b" 16:"a"`,
		"a\n<div>\nb\n\nc\n":   `0-2 0:"a"; 2-10 html "<div>\nb\n"; 11-13 11:"c"`,
		"a\n</p>\nb\n":         `0-2 0:"a"; 2-9 html "</p>\nb\n"`,
		"    <div>\n":          `0-10 code "    <div>\n"`,
		"   <div>\n":           `0-9 html "   <div>\n"`,
		"> <div>\n> a\nb\n":    `0-12 html "<div>\na\n"; 12-14 12:"b"`,
		"- <div>\n\n  a\n":     `0-8 html "<div>\n"; 9-13 11:"a"`,
		"</div/>\na\n":         `0-10 html "</div/>\na\n"`,
		"</div x>\na\n":        `0-11 html "</div x>\na\n"`,
		"<div*>\na\n":          `0-9 0:"<div*>" 7:"a"`,
	})
}
