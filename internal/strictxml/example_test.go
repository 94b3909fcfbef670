package strictxml_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lookleap/lookleap/internal/strictxml"
)

// A sitemap of any length is read through a window.
func ExampleNewReader() {
	sitemap := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.com/?a=1&amp;b=2</loc></url></urlset>`
	s := strictxml.NewReader(strings.NewReader(sitemap), strictxml.Options{Limits: strictxml.Limits{Bytes: 50 << 20}})
	inLoc := false
	for {
		tok, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		switch tok.Kind {
		case strictxml.StartElement, strictxml.EndElement:
			inLoc = tok.Kind == strictxml.StartElement && tok.Name.Local == "loc"
		case strictxml.Text:
			if inLoc {
				fmt.Println(tok.Text)
			}
		}
	}
	// Output: https://example.com/?a=1&b=2
}

func ExampleNewBytes() {
	s := strictxml.NewBytes([]byte("<a>\n  <b c='1' c='2'/>\n</a>"), strictxml.Options{})
	for {
		if _, err := s.Next(); err != nil {
			var e *strictxml.Error
			fmt.Println(errors.As(err, &e), e.Code, e.Line, e.Column, e.Path)
			fmt.Println(err)
			return
		}
	}
	// Output:
	// true duplicate-attribute 2 12 /a
	// 2:12: the attribute c appears twice in one tag (duplicate-attribute); keep one of them
}
