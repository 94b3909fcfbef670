package anml

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// formAction is an action that is sent as form data.
func formAction(t *testing.T) Action {
	t.Helper()
	d, err := ParseXML([]byte(service(`<interact><action id="a" endpoint="/" method="POST" enctype="Multipart/Form-Data; boundary=chosen-by-the-document"/></interact>`)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return first(d.Interact().Actions())
}

// zeros is a source of randomness that draws the same for ever.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

var zeroBoundary = "form-" + strings.Repeat("0", 2*boundarySize)

func TestMultipart(t *testing.T) {
	a := formAction(t)
	t.Run("ANML-8.6.1-05/accept-multipart", func(t *testing.T) {
		r, err := a.encodeRandom([]Arg{{Name: "a", Value: "1"}, {Name: "b c", Value: "x\r\ny"}}, zeros{})
		want := "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\nContent-Disposition: form-data; name=\"b c\"\r\n\r\nx\r\ny\r\n--B--\r\n"
		if err != nil || r.Query != "" || r.ContentType != "multipart/form-data; boundary="+zeroBoundary || strings.ReplaceAll(string(r.Body), zeroBoundary, "B") != want {
			t.Errorf("%+v, %v\n%s", r, err, r.Body)
		}
	})
	t.Run("ANML-9.3-03/accept-multipart-as-net-http-reads-it", func(t *testing.T) {
		args := []Arg{{Name: "übung", Value: "Straße"}, {Name: "tags[]", Value: ""}, {Name: "a;b", Value: "--\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\ntrue"}, {Name: "%22", Value: "100%"}}
		r, err := a.Encode(args)
		if err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequest("POST", "https://example.com/", strings.NewReader(string(r.Body)))
		req.Header.Set("Content-Type", r.ContentType)
		if err := req.ParseMultipartForm(1 << 20); err != nil {
			t.Fatal(err)
		}
		if len(req.MultipartForm.Value) != len(args) || len(req.MultipartForm.File) != 0 {
			t.Errorf("%d fields, %d files", len(req.MultipartForm.Value), len(req.MultipartForm.File))
		}
		for _, arg := range args {
			if got := req.MultipartForm.Value[arg.Name]; len(got) != 1 || got[0] != arg.Value {
				t.Errorf("%q is read as %q", arg.Name, got)
			}
		}
	})
	t.Run("ANML-8.6.1-05/accept-no-arguments", func(t *testing.T) {
		r, err := a.Encode(nil)
		if err != nil || len(formParts(t, r)) != 0 {
			t.Error(r, err)
		}
	})
	t.Run("ANML-8.6.1-05/accept-fresh-boundaries", func(t *testing.T) {
		one, _ := a.Encode(nil)
		two, _ := a.Encode(nil)
		if one.ContentType == two.ContentType || strings.Contains(one.ContentType, "chosen") {
			t.Error(one.ContentType)
		}
	})
	for _, name := range []string{"a\r\nX-Evil: 1", "a\nb", `a"; filename="x`, `a\`, "a\x00", "a\xff", "a\tb", "a\rb", "a\x7f"} {
		t.Run("ANML-8.6.1-05/reject-name-"+plaintext.Quote(name, maxQuoted), func(t *testing.T) {
			if r, err := a.Encode([]Arg{{Name: name, Value: "1"}}); !errors.Is(err, ErrParamInvalid) || r.Body != nil {
				t.Errorf("%s, %v", r.Body, err)
			}
		})
	}
	t.Run("ANML-8.6.1-05/reject-known-boundary", func(t *testing.T) {
		if _, err := a.encodeRandom([]Arg{{Name: "a", Value: "\r\n--" + zeroBoundary + "--"}}, zeros{}); !errors.Is(err, ErrParamInvalid) {
			t.Error(err)
		}
	})
	t.Run("ANML-8.6.1-05/reject-known-boundary-in-a-name", func(t *testing.T) {
		if _, err := a.encodeRandom([]Arg{{Name: zeroBoundary, Value: "1"}}, zeros{}); !errors.Is(err, ErrParamInvalid) {
			t.Error(err)
		}
	})
	t.Run("ANML-8.6.1-05/reject-without-randomness", func(t *testing.T) {
		if r, err := a.encodeRandom(nil, strings.NewReader("short")); !errors.Is(err, io.ErrUnexpectedEOF) || r.ContentType != "" {
			t.Error(r, err)
		}
	})
}

// TestMultipartRoundTrip: whatever is sent, a standard reader reads exactly that.
func TestMultipartRoundTrip(t *testing.T) {
	a := formAction(t)
	rapid.Check(t, func(rt *rapid.T) {
		var args []Arg
		for range rapid.IntRange(0, 4).Draw(rt, "count") {
			args = append(args, Arg{Name: rapid.String().Draw(rt, "name"), Value: string(rapid.SliceOf(rapid.Byte()).Draw(rt, "value"))})
		}
		r, err := a.Encode(args)
		if err != nil {
			for _, arg := range args {
				if !plainFormName(arg.Name) {
					return
				}
			}
			rt.Fatal(err)
		}
		parts := formParts(rt, r)
		if len(parts) != len(args) {
			rt.Fatalf("%d parts for %d arguments", len(parts), len(args))
		}
		for i, arg := range args {
			if parts[i] != [2]string{arg.Name, arg.Value} {
				rt.Fatalf("%q is read as %q", arg.Name, parts[i])
			}
		}
	})
}

// formParts reads form data as the standard library does.
func formParts(t interface{ Fatal(...any) }, r Request) (parts [][2]string) {
	_, params, err := mime.ParseMediaType(r.ContentType)
	if err != nil {
		t.Fatal(err)
	}
	form := multipart.NewReader(strings.NewReader(string(r.Body)), params["boundary"])
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := io.ReadAll(part)
		if err != nil || len(part.Header) != 1 || part.FileName() != "" {
			t.Fatal(part.Header, err)
		}
		parts = append(parts, [2]string{part.FormName(), string(value)})
	}
}
