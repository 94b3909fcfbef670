package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestUnreadIndex tells an origin that lists nothing from one of which it is
// unknown what it lists.
func TestUnreadIndex(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("quiet.example").File("/", "text/html", "<title>x</title>")
	n.Site("broken.example").File("/.well-known/skills/index.json", "application/json", "[")
	door := opened(t, n).Args()
	for _, c := range []struct {
		site string
		exit int
		code lookleap.Code
	}{
		{"quiet.example", exitAccepted, lookleap.CodeOK},
		{"broken.example", exitRefused, dvs.CodeBadIndex},
		{"nobody.example", exitRefused, lookleap.CodeNoAddress},
	} {
		var stdout, stderr bytes.Buffer
		exit := run(context.Background(), append(append([]string{}, door...), "--json", "skills", "https://"+c.site+"/"), nil, &stdout, &stderr)
		if exit != c.exit || !strings.Contains(stdout.String(), `"code":"`+string(c.code)+`","message"`) {
			t.Errorf("%s: exit %d, %s%s", c.site, exit, &stdout, &stderr)
		}
	}
}
