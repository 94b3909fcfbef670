package hostflags_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
)

// The development mode rewrites URLs of one's own machine, and no others.
func TestURL(t *testing.T) {
	for arg, want := range map[string]string{
		"localhost:8080":             "https://localhost.example",
		"localhost:8080/a?b":         "https://localhost.example/a?b",
		"http://localhost/":          "https://localhost.example/",
		"https://127.0.0.1:8443/x":   "https://localhost.example/x",
		"[::1]:8080":                 "https://localhost.example",
		"http://shop.example/a":      "https://localhost.example/a",
		"app.localhost:3000":         "https://localhost.example",
		"https://shop.example/a":     "https://shop.example/a",
		"ftp://localhost/":           "ftp://localhost/",
		"shop.example":               "shop.example",
		"-":                          "-",
		"https://localhost.evil.com": "https://localhost.evil.com",
	} {
		f := hostflags.Flags{Dev: true}
		if got, err := f.URL(arg); got != want || err != nil {
			t.Errorf("%s: %s, %v", arg, got, err)
		}
		plain := hostflags.Flags{}
		if got, err := plain.URL(arg); got != arg || err != nil || len(plain.Skipped()) > 0 {
			t.Errorf("without --dev, %s became %s, %v", arg, got, err)
		}
	}
}

func Example() {
	var network hostflags.Flags
	set := flag.NewFlagSet("agent", flag.ContinueOnError)
	network.Declare(set)
	if err := set.Parse([]string{"--dns", "tls://192.0.2.53", "--at", "2026-11-01T00:00:00Z"}); err != nil {
		fmt.Println(err)
		return
	}
	host, err := network.NewHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer host.Close()
	fmt.Println(host.Time().Format("2006-01-02"))

	network.Connect = "localhost"
	_, err = network.NewHost()
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// 2026-11-01
	// usage
}

// A Public Suffix List from a file counts for the whole process, and only a complete one.
func TestSuffixList(t *testing.T) {
	defer lookleap.UsePublicSuffixList(nil)
	const list = "// VERSION: 2030-01-02\n// ===BEGIN PRIVATE DOMAINS===\npages.example\n// ===END PRIVATE DOMAINS===\n"
	for name, c := range map[string]struct {
		content string
		code    lookleap.Code
	}{"complete": {list, lookleap.CodeOK}, "cut": {list[:len(list)-20], lookleap.CodeUsage}, "page": {"<html>", lookleap.CodeUsage}} {
		t.Run(name, func(t *testing.T) {
			lookleap.UsePublicSuffixList(nil)
			file := filepath.Join(t.TempDir(), "list.dat")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			f := hostflags.Flags{SuffixList: file}
			host, err := f.NewHost()
			if lookleap.CodeOf(err) != c.code {
				t.Fatal(err)
			}
			if err == nil {
				defer host.Close()
			}
			if used := strings.Contains(lookleap.PublicSuffixVersion(), "2030-01-02"); used != (err == nil) {
				t.Error(lookleap.PublicSuffixVersion())
			}
		})
	}
}

// TestNoFile: a flag that names no file is wrong usage, and the error names the fix.
func TestNoFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for flag, with := range map[string]func(path string) hostflags.Flags{
		"--ca":                 func(path string) hostflags.Flags { return hostflags.Flags{CA: path} },
		"--anchor":             func(path string) hostflags.Flags { return hostflags.Flags{Anchor: path} },
		"--public-suffix-list": func(path string) hostflags.Flags { return hostflags.Flags{SuffixList: path} },
	} {
		for path, fix := range map[string]string{
			missing: "check the path", os.DevNull: "name a regular file", t.TempDir(): "name a regular file",
		} {
			flags := with(path)
			_, err := flags.NewHost()
			if e := new(lookleap.Error); !errors.As(err, &e) || e.Code != lookleap.CodeUsage || !strings.HasPrefix(e.Message, flag+":") || !strings.HasPrefix(e.Fix, fix) {
				t.Errorf("%s %s: %v", flag, path, err)
			}
		}
	}
}
