package dvs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestLockfileFormat(t *testing.T) {
	lock := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n", "x.json", "{}"), bundle("c", "name: c\ndescription: b\n")).Lock()
	good := string(must(lock.MarshalJSON()))
	if _, err := dvs.ParseLockfile([]byte(good)); err != nil {
		t.Fatal(err)
	}
	const url = `"url":"https://example.com/s/a/SKILL.md"`
	for name, c := range map[string]struct{ before, after, place string }{
		"unknown-member":          {`{"type"`, `{"more":1,"type"`, "/more"},
		"unknown-member-of-skill": {url, url + `,"hooks":[]`, "/skills/0/hooks"},
		"unknown-member-of-file":  {`{"path":"x.json"`, `{"mode":"0755","path":"x.json"`, "/skills/0/files/1/mode"},
		"member-in-other-case":    {url, strings.ToUpper(url[:5]) + url[5:], "/skills/0"},
		"empty-URL":               {url, `"url":""`, "/skills/0/url"},
		"host-in-capitals":        {url, `"url":"https://EXAMPLE.com/s/a/SKILL.md"`, "/skills/0/url"},
		"default-port":            {url, `"url":"https://example.com:443/s/a/SKILL.md"`, "/skills/0/url"},
		"dots":                    {url, `"url":"https://example.com/s/../s/a/SKILL.md"`, "/skills/0/url"},
		"fragment":                {url, `"url":"https://example.com/s/a/SKILL.md#x"`, "/skills/0/url"},
		"directory-URL":           {url, `"url":"https://example.com/s/a/"`, "/skills/0/url"},
		"plain-http":              {url, `"url":"http://example.com/s/a/SKILL.md"`, "/skills/0/url"},
		"URL-twice":               {`/s/c/SKILL.md"`, `/s/a/SKILL.md"`, "/skills/1/url"},
		"directory-twice":         {`"directory":"c"`, `"directory":"a"`, "/skills/1/directory"},
		"path-twice":              {`"path":"SKILL.md"`, `"path":"X.JSON"`, "/skills/0/files/1/path"},
		"path-that-folds":         {`"path":"x.json"`, `"path":".git/x"`, "/skills/0/files/1/path"},
		"absolute-path":           {`"path":"x.json"`, `"path":"/x"`, "/skills/0/files/1/path"},
		"root-as-path":            {`"path":"x.json"`, `"path":"/"`, "/skills/0/files/1/path"},
		"path-that-climbs":        {`"path":"x.json"`, `"path":"../../x"`, "/skills/0/files/1/path"},
		"empty-path":              {`"path":"x.json"`, `"path":""`, "/skills/0/files/1/path"},
		"empty-root":              {`"trustRoot":"https://example.com/"`, `"trustRoot":""`, "/skills/0/trustRoot"},
		"root-without-slash":      {`"trustRoot":"https://example.com/"`, `"trustRoot":"https://example.com"`, "/skills/0/trustRoot"},
		"root-of-another":         {`"trustRoot":"https://example.com/"`, `"trustRoot":"https://example.net/"`, "/skills/0/trustRoot"},
		"no-digest":               {`"digest":"sha256:`, `"digest":"`, "/skills/0/files/0/digest"},
		"no-SKILL.md":             {`"path":"SKILL.md"`, `"path":"SKILL.txt"`, "/skills/0/files"},
		"empty-written":           {`"written":"sha256:`, `"written":"","x":"`, "/skills/0/files/0/written"},
	} {
		t.Run("O68/reject-"+name, func(t *testing.T) {
			text := strings.Replace(good, c.before, c.after, 1)
			lock, err := dvs.ParseLockfile([]byte(text))
			var e *lookleap.Error
			if lock != nil || !errors.As(err, &e) || e.Code != dvs.CodeBadLock || e.Position.Path != c.place || e.Fix == "" || text == good {
				t.Errorf("%+v\n%s", err, text)
			}
		})
	}
}
