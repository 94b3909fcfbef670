package dvs

import (
	"bytes"
	"path"
	"strings"
)

// Kind is what a bundled file is for (section 4.5). The zero value is the one
// with the strictest rules.
type Kind uint8

const (
	// Script runs, or might: only with consent, and only from the skill's own
	// directory. Whatever is of no known kind counts as one.
	Script Kind = iota
	// Data is read on demand.
	Data
	// Template is filled in by the agent.
	Template
	// Instructions are more Markdown for the agent.
	Instructions
)

var kindNames = [...]string{"script", "data", "template", "instructions"}

// String gives script, data, template or instructions.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Script]
}

// MarshalText gives what String gives.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// KindOf tells the kind of a file by its path below the skill's directory and
// the first octets of its content, which may be nil if it was not read yet.
func KindOf(file string, content []byte) Kind {
	directory, _, nested := strings.Cut(file, "/")
	if nested {
		directory = foldName(directory) // a file system may not tell scripts and Scripts apart
	}
	extension := strings.ToLower(path.Ext(file))
	switch known := extensions[extension]; {
	case nested && (directory == "scripts" || directory == "bin"), isShebang(content), known == 0:
		return Script
	case known == markdownFile:
		return Instructions
	case nested && directory == "templates":
		return Template
	default:
		return Data
	}
}

// isShebang reports whether a file names its interpreter, perhaps behind the mark
// that some editors write.
func isShebang(content []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(content, []byte(byteOrderMark)), []byte("#!"))
}

const (
	markdownFile = 1 + iota
	dataFile
)

// extensions are those of files that nothing runs by itself.
var extensions = func() map[string]int {
	table := map[string]int{".md": markdownFile, ".markdown": markdownFile, ".mdx": markdownFile}
	for e := range strings.FieldsSeq(`.txt .rst .csv .tsv .json .jsonl .ndjson .json5 .yaml .yml .toml .ini .cfg .conf .properties .xml .xsd .html .htm .css .svg .png .jpg .jpeg
		.gif .webp .avif .bmp .ico .tif .tiff .pdf .docx .xlsx .pptx .odt .ods .odp .mp3 .wav .ogg .mp4 .webm .woff .woff2 .ttf .otf .tmpl .tpl .template .j2 .mustache .hbs
		.parquet .geojson .proto .graphql .bib .tex .po .pot .ics .vcf .log .lock .sum`) {
		table[e] = dataFile
	}
	return table
}()
