package dvs

import (
	"reflect"
	"strings"
	"testing"
)

// samePlain holds the plain reader to the answer of the YAML parser.
func samePlain(t interface {
	Helper()
	Fatalf(string, ...any)
}, header string) {
	t.Helper()
	if checkCharacters([]byte(header), span{0, len(header)}) != nil {
		return
	}
	start := origin{Line: 2, Offset: 4}
	plain, ok := readPlain(header, start)
	if !ok {
		return
	}
	slow, f := readYAML([]byte(header), start, 16)
	if f != nil {
		t.Fatalf("%q: the YAML parser refuses: %+v", header, f)
	}
	if !reflect.DeepEqual(plain, slow) {
		t.Fatalf("%q:\nplain %+v\nYAML  %+v", header, plain, slow)
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, header := range []string{
		"name: a\ndescription: b\n",
		"name: a\r\ndescription: b c, d (e) \"f\"\r\n\r\nlicense: 'x y'\r\n",
		"name: a\ndescription: \"b\"\nmetadata:\n  author: x\n  version: \"1.0\"\n\ntags:\n  - x\n  - 'y'\n",
		"a: ~\nb:\nc: null\nd: é ü\n",
		"a:\n  b:\n  c: d\ne: f#g:h\n",
		"a: >-\n  b\n  c\n",
	} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if len(header) > 0 && !strings.HasSuffix(header, "\n") {
			header += "\n"
		}
		samePlain(t, header)
	})
}

// TestPlainLines makes every header of up to three lines that are near what the plain reader knows.
func TestPlainLines(t *testing.T) {
	lines := []string{
		"a: b\n", "a:\n", "b: c d\r\n", "  c: d\n", "  c:\n", "    e: f\n", "  - x\n", "- x\n", "  -\n", "  - \n", "  -x\n", "  - 'q'\n",
		"\n", "  \n", "a: 'b'\n", "a: \"b\" c\n", "a: b #c\n", "a: b#c:d\n", "~: x\n", "a:b\n", "-a: b\n", "a: -\n", "a: b: c\n", "  a: 'x\n", "a: b\tc\n",
		"  -xy\n", "a: '\n", "a: ~\n",
	}
	var add func(header string, left int)
	used := 0
	add = func(header string, left int) {
		samePlain(t, header)
		if _, ok := readPlain(header, origin{Line: 2}); ok {
			used++
		}
		if left > 0 {
			for _, line := range lines {
				add(header+line, left-1)
			}
		}
	}
	add("", 3)
	if used < 100 {
		t.Errorf("%d headers were read by the plain reader", used)
	}
}

// TestPanicOfParser: a panic of the YAML parser is an error.
func TestPanicOfParser(t *testing.T) {
	if err := unmarshal([]byte("a: b\n"), nil); err == nil {
		t.Error("nothing says that the parser gave up")
	}
}

func TestPlainIsUsed(t *testing.T) {
	for _, header := range []string{
		"name: a\ndescription: Use it when somebody asks (really) \"now\", e.g. 10:30 or a#b.\n",
		"name: a\r\ndescription: b\r\nlicense: MIT\r\n",
		"name: a\ndescription: \"b: c\"\nmetadata:\n  author: x\n  version: \"1.0\"\nallowed-tools: Read, Bash(git:*)\n",
		"name: a\ndescription: 'b'\ntags:\n  - x\n  - y\n",
		"name: a\ntags:\n  -  x  \n  - 'y' \n\nother:\nmetadata:\n    k: v\n    l:\n",
	} {
		if _, ok := readPlain(header, origin{Line: 2}); !ok {
			t.Errorf("%q goes to the YAML parser", header)
		}
	}
}

func FuzzSkill(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nbody\n",
		"---\nname: a\ndescription: Use when: b\nmetadata:\n  author: x\n---\nbody\n",
		"\n<!-- x -->\n---\nName: My Skill\ndescription: >-\n  foo\n----\n# body\n",
		"```yaml\nname: a\ndescription: \"b\n```\nbody\n",
		"\xff\xfe-\x00-\x00-\x00\n\x00", "name：a\r- description：b\r", "---\n- **name**: a\n  description: *b\n...\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skill, findings, err := ParseSkill(data, DVS, Limits{})
		if (skill == nil) != (err != nil) {
			t.Fatalf("%v and %v", skill, err)
		}
		for _, f := range findings {
			if f.Line < 1 || f.Column < 1 || f.Offset > len(data) || f.Fix == "" || !f.Code.Known() {
				t.Fatalf("%+v", f)
			}
		}
		stricter, _, strictErr := ParseSkill(data, AgentSkills, Limits{})
		lenient, _, lenientErr := ParseSkill(data, Lenient, Limits{})
		if strictErr == nil && (err != nil || stricter.Name != skill.Name) {
			t.Fatalf("AgentSkills accepts what DVS refuses: %v", err)
		}
		if err == nil {
			if lenientErr != nil {
				t.Fatalf("Lenient refuses what DVS accepts: %v", lenientErr)
			}
			if lenient.Name != skill.Name || lenient.Description != skill.Description || lenient.Body != skill.Body || lenient.Header != skill.Header {
				t.Fatalf("Lenient reads %q %q, DVS %q %q", lenient.Name, lenient.Description, skill.Name, skill.Description)
			}
			meta, _, err := ParseMetadata(data, DVS, Limits{})
			if err != nil || !reflect.DeepEqual(*meta, skill.Metadata) {
				t.Fatalf("the header alone reads otherwise: %+v, %v", meta, err)
			}
		}
	})
}
