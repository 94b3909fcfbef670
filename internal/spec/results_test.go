package spec

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// events writes results as go test -json does. Each line is "ACTION PACKAGE TEST".
func events(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		words := strings.SplitN(line, " ", 3)
		data, err := json.Marshal(map[string]string{"Action": words[0], "Package": modulePath + "/" + words[1], "Test": words[2]})
		if err != nil {
			panic(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

func results(t *testing.T, lines ...string) *Results {
	t.Helper()
	r := &Results{}
	if err := r.Read(strings.NewReader(events(lines...))); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatShowsARequirement(t *testing.T) {
	const id = "DVS-3.1-04"
	for name, test := range map[string]struct {
		lines []string
		want  bool
	}{
		"accept":              {[]string{"pass dvs TestRoot/DVS-3.1-04/accept-same-host"}, true},
		"reject":              {[]string{"pass dvs TestRoot/DVS-3.1-04/reject"}, true},
		"below a group":       {[]string{"pass dvs TestRoot/hosts/DVS-3.1-04/reject-other"}, true},
		"below accept":        {[]string{"pass dvs TestRoot/DVS-3.1-04/accept/one"}, true},
		"beside another id":   {[]string{"pass dvs TestRoot/DVS-3.1-05/accept/DVS-3.1-04/reject"}, true},
		"name that was taken": {[]string{"pass dvs TestRoot/DVS-3.1-04#01/accept#02"}, true},
		"with its parents":    {[]string{"pass dvs TestRoot", "pass dvs TestRoot/DVS-3.1-04", "pass dvs TestRoot/DVS-3.1-04/accept"}, true},
		"twice":               {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "pass dvs TestRoot/DVS-3.1-04/accept"}, true},
		"skipped in one run":  {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "skip dvs TestRoot/DVS-3.1-04/accept"}, true},
		"other id fails":      {[]string{"fail dvs TestRoot", "pass dvs TestRoot/DVS-3.1-04/accept", "fail dvs TestRoot/DVS-3.1-05/accept"}, true},

		"nothing":                   {[]string{"pass dvs TestRoot"}, false},
		"no accept or reject":       {[]string{"pass dvs TestRoot/DVS-3.1-04"}, false},
		"another word":              {[]string{"pass dvs TestRoot/DVS-3.1-04/works"}, false},
		"accept is not next":        {[]string{"pass dvs TestRoot/DVS-3.1-04/host/accept"}, false},
		"part of a step":            {[]string{"pass dvs TestRoot/DVS-3.1-04-host/accept"}, false},
		"test function":             {[]string{"pass dvs DVS-3.1-04_accept"}, false},
		"parent only":               {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "skip dvs TestRoot/DVS-3.1-04/accept/one"}, false},
		"skipped":                   {[]string{"skip dvs TestRoot/DVS-3.1-04/accept"}, false},
		"started":                   {[]string{"run dvs TestRoot/DVS-3.1-04/accept", "pass dvs TestRoot"}, false},
		"fails":                     {[]string{"fail dvs TestRoot/DVS-3.1-04/accept"}, false},
		"another test of it fails":  {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "fail root TestOther/DVS-3.1-04/reject"}, false},
		"fails without accept":      {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "fail dvs TestRoot/DVS-3.1-04"}, false},
		"fails in another run":      {[]string{"fail dvs TestRoot/DVS-3.1-04/accept", "pass dvs TestRoot/DVS-3.1-04/accept"}, false},
		"fails in the run before":   {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "fail dvs TestRoot/DVS-3.1-04/accept"}, false},
		"same name, other package":  {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "fail root TestRoot/DVS-3.1-04/accept"}, false},
		"taken name of it fails":    {[]string{"pass dvs TestRoot/DVS-3.1-04/accept", "fail dvs TestRoot/DVS-3.1-04#01/accept"}, false},
		"only the id below it":      {[]string{"pass dvs TestRoot/DVS-3.1-05/accept/DVS-3.1-04"}, false},
		"other letter case":         {[]string{"pass dvs TestRoot/dvs-3.1-04/accept"}, false},
		"id with a space after it":  {[]string{"pass dvs TestRoot/DVS-3.1-04_/accept"}, false},
		"word that begins likewise": {[]string{"pass dvs TestRoot/DVS-3.1-04/Accept"}, false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			if got := results(t, test.lines...).evidence()[id].holds(); got != test.want {
				t.Errorf("%q: shown is %v", test.lines, got)
			}
		})
	}
}

func TestWhatShowsAnAttackCase(t *testing.T) {
	for line, want := range map[string]bool{
		"pass fetch TestFetch/A01/reject-host":  true,
		"pass fetch TestFetch/A01":              true,
		"pass fetch TestFetch/urls/A01/x/y":     true,
		"pass fetch TestFetch/A01#01":           true,
		"pass fetch TestFetch/A010/reject":      false,
		"pass fetch TestFetch/A01-A02/reject":   false,
		"pass fetch TestFetch/a01/reject":       false,
		"skip fetch TestFetch/A01/reject":       false,
		"fail fetch TestFetch/A01/reject":       false,
		"pass fetch TestA01/reject":             false,
		"pass fetch TestFetch/reject-A01/fetch": false,
	} {
		if got := results(t, line).evidence()["A01"].holds(); got != want {
			t.Errorf("%s: shown is %v", line, got)
		}
	}
}

func TestUnknownIDs(t *testing.T) {
	s := loadSmall(t)
	r := results(t,
		"pass dvs TestRoot/DVS-3.1-04/accept",
		"pass dvs TestRoot/DVS-3.1-4/accept",
		"skip dvs TestRoot/DVS-3.1-99",
		"fail dvs TestRoot/WK-1-01b/accept",
		"pass dvs TestRoot/WK-B-01/accept",
		"pass dvs TestRoot/AGT-2/accept",
		"pass dvs TestRoot/AIU-1-01/accept",
		"pass dvs TestRoot/ANML-8.1-01/accept",
		"pass dvs TestRoot/ANML-8.1-01/reject",
		"pass dvs TestRoot/WK-A-01#01/accept",
		"pass dvs TestRoot/A01/reject",
		"pass dvs TestRoot/A99/reject",
		"pass dvs TestRoot/ANML-documents/DVS-skills/RFC-8615-01/A999/Z01",
	)
	want := []string{"A99", "AGT-2", "AIU-1-01", "ANML-8.1-01", "DVS-3.1-4", "DVS-3.1-99", "WK-1-01b", "WK-B-01"}
	got := r.unknown(func(id string) bool { return slices.Contains(s.ids(), id) })
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], " ")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unknown are %q, want %q", got, want)
	}
}

func TestRead(t *testing.T) {
	noise := "go: downloading\n{\"Action\":\"start\"}\n{\"Action\":\"output\",\"Test\":\"TestRoot/DVS-3.1-04/accept\",\"Output\":\"--- PASS\"}\n" +
		"{\"Action\":\"pass\",\"Package\":\"dvs\"}\n{\"Action\":\"build-fail\",\"ImportPath\":\"dvs\"}\n\n{\"Action\":\n"
	r := &Results{}
	if err := r.Read(strings.NewReader(noise)); err != nil || r.Len() != 0 {
		t.Errorf("input without outcomes has %d, %v", r.Len(), err)
	}
	if err := r.Read(strings.NewReader(noise + events("pass dvs TestRoot") + noise)); err != nil {
		t.Error(err)
	}
	if err := r.Read(strings.NewReader(events("pass examples/mcp TestRoot"))); err != nil || r.Len() != 2 {
		t.Errorf("the results of two modules are %v, %v", r.tests(), err)
	}
	if err := r.Read(strings.NewReader(strings.Repeat("x", maxLine+1))); err == nil {
		t.Error("an endless line is accepted")
	}
}

// TestOrderDoesNotMatter has the lines in random order, as -shuffle prints them.
func TestOrderDoesNotMatter(t *testing.T) {
	s := loadSmall(t)
	lines := []string{
		"pass dvs TestRoot/DVS-3.1-04/accept-a", "pass dvs TestRoot/DVS-3.1-04/accept-a/b", "pass dvs TestRoot/DVS-3.1-04/accept-c", "pass dvs TestRoot",
		"pass dvs TestOther/DVS-3.1-04/reject", "fail root TestRoot/WK-1-01/accept", "pass dvs TestRoot/WK-1-01/accept", "pass dvs TestRoot/A01", "skip dvs TestRoot/F01",
	}
	want := s.Pages(results(t, lines...), nil)
	for range 50 {
		rand.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		if got := s.Pages(results(t, lines...), nil); !reflect.DeepEqual(got, want) {
			t.Fatalf("the order %q makes other pages", lines)
		}
	}
}
