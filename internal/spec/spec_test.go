package spec

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoad(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{"wellknown": 50, "agentstxt": 78, "dvs": 186, "anml-1-11": 414, "anml-12-17": 356, "aiuri": 93}
	for _, register := range s.Registers {
		if len(register.Requirements) != rows[register.Name] {
			t.Errorf("%s has %d rows, want %d", register.Name, len(register.Requirements), rows[register.Name])
		}
		for _, r := range register.Requirements {
			if r.Package == NoPackage && s.Excluded[r.ID] == "" {
				t.Errorf("%s belongs to no package and has no reason", r.ID)
			}
		}
	}
	if len(s.Registers) != len(rows) || len(s.Attacks) != 281 {
		t.Errorf("there are %d registers and %d attack cases", len(s.Registers), len(s.Attacks))
	}
}

const columns = "id\tlevel\tparty\tsection\tpackage\trequirement\texpected\truling\n"

// small has two registers with rows, two attack groups, one exclusion and one
// complete package.
func small() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"registers/wellknown.tsv": columns +
			"WK-1-01\tMUST\tagent\t1\twellknown\tone\ta [accept*] x -> y\t-\n" +
			"WK-1-02\tDEF\timplementation\t1\t(none)\ttwo\t\t\n" +
			"WK-A-01\tSHOULD\tservice\tA\twellknown\tthree | \"four\"\ta [reject] no\tR-W1\n",
		"registers/dvs.tsv": columns +
			"DVS-3.1-04\tMUST NOT\tagent\t3.1\tdvs\tfour\ta [accept*] yes\t\n" +
			"DVS-3.1-05\tMAY\tdocument\t3.1\tdvs\tfive\ta [accept] yes\t\n",
		"registers/agentstxt.tsv":  columns,
		"registers/anml-1-11.tsv":  columns,
		"registers/anml-12-17.tsv": columns,
		"registers/aiuri.tsv":      columns,
		"registers/attacks.tsv":    "id\tgroup\ttitle\texpected\nA01\tURLs\thosts\ta [reject-host] no\nA02\tURLs\tpaths\ta [reject] no\nF01\tFetching\taddresses\ta [reject] no\n",
		"excluded.tsv":             "id\treason\nWK-1-02\tnobody can tell\n",
		"complete.tsv":             "package\nwellknown\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func loadSmall(t *testing.T) *Spec {
	t.Helper()
	s, err := load(small())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRows(t *testing.T) {
	s := loadSmall(t)
	got := s.Registers[0].Requirements[2]
	if want := (Requirement{"WK-A-01", "SHOULD", "service", "A", "wellknown", `three | "four"`, "a [reject] no", "R-W1", []Clause{{"a", []string{"reject"}, "no"}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the row is %+v", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ file, old, new, want string }{
		{"registers/dvs.tsv", "DVS-3.1-05", "DVS-3.1-04", "registers/dvs.tsv:3: DVS-3.1-04 is there twice"},
		{"registers/dvs.tsv", "DVS-3.1-05", "WK-1-01", "registers/dvs.tsv:3: WK-1-01 is there twice"},
		{"registers/dvs.tsv", "DVS-3.1-05", "DVS-3.1-5", `"DVS-3.1-5" is no id`},
		{"registers/dvs.tsv", "DVS-3.1-05", "XYZ-3.1-05", `"XYZ-3.1-05" is no id`},
		{"registers/dvs.tsv", "MAY", "MIGHT", `unknown level "MIGHT"`},
		{"registers/dvs.tsv", "document", "reader", `unknown party "reader"`},
		{"registers/dvs.tsv", "\tdvs\tfive", "\tskills\tfive", `unknown package "skills"`},
		{"registers/dvs.tsv", "five", "", "DVS-3.1-05 demands nothing"},
		{"registers/dvs.tsv", "five\t", "five", "registers/dvs.tsv:3: there are 7 columns, want 8"},
		{"registers/dvs.tsv", "yes\t\nDVS-3.1-05", "yes\t\n\nDVS-3.1-05", "registers/dvs.tsv:3: there are 1 columns, want 8"},
		{"registers/dvs.tsv", "ruling", "rulings", "registers/dvs.tsv: the columns are"},
		{"registers/attacks.tsv", "A02", "A01", "A01 is there twice"},
		{"registers/attacks.tsv", "A02", "A2", `"A2" is no attack case`},
		{"registers/attacks.tsv", "\tpaths", "\t", `"A02" is no attack case`},
		{"registers/attacks.tsv", "a [reject-host] no", "no", "registers/attacks.tsv:2: A01 has no clauses"},
		{"registers/attacks.tsv", "a [reject-host] no", "a [no] no", "registers/attacks.tsv:2: A01: "},
		{"excluded.tsv", "WK-1-02", "WK-1-03", "WK-1-03 is no requirement"},
		{"excluded.tsv", "WK-1-02\tnobody can tell\n", "", "WK-1-02 has clauses: false"},
		{"excluded.tsv", "nobody can tell", "", "WK-1-02 has no reason"},
		{"excluded.tsv", "\nWK-1-02", "\nWK-1-02\ttwice\nWK-1-02", "excluded.tsv:3: WK-1-02 is there twice"},
		{"excluded.tsv", "WK-1-02", "WK-1-01", "WK-1-01 binds the agent: package wellknown has to meet it"},
		{"complete.tsv", "wellknown", "known", `"known" is no package`},
		{"complete.tsv", "wellknown", "(none)", `"(none)" is no package`},
		{"complete.tsv", "wellknown\n", "wellknown\nwellknown\n", "wellknown is there twice"},
	} {
		files := small()
		text := string(files[test.file].Data)
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Fatalf("%s has no %q", test.file, test.old)
		}
		files[test.file] = &fstest.MapFile{Data: []byte(changed)}
		if _, err := load(files); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with %q: %v, want %s", test.file, test.new, err, test.want)
		}
	}
	for name := range small() {
		files := small()
		delete(files, name)
		if _, err := load(files); err == nil {
			t.Errorf("the tables are accepted without %s", name)
		}
	}
}

// TestExclusions accepts the rows that may be excluded besides those without a package.
func TestExclusions(t *testing.T) {
	files := small()
	for name, clause := range map[string]string{"registers/wellknown.tsv": "a [reject] no", "registers/dvs.tsv": "a [accept] yes"} {
		files[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(files[name].Data), clause, "in words", 1))}
	}
	files["excluded.tsv"] = &fstest.MapFile{Data: []byte("id\treason\nWK-1-02\tno one can tell\nWK-A-01\tbinds services\nDVS-3.1-05\tadvice\n")}
	if _, err := load(files); err != nil {
		t.Error(err)
	}
}
