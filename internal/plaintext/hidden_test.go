package plaintext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Hidden
	}{
		{"nothing", "", Hidden{}},
		{"ordinary", "# Refunds\r\n\n\tPay \"now\" \\ \u00fc\u4e2d\u05d0 e\u0301", Hidden{}},
		{"control", "\x00\x1b\x7f\u0085\v\r", Hidden{Control: 6}},
		{"separators", "\u2028\u2029", Hidden{LineBreak: 2}},
		{"bidi", "\u202a\u202e\u2066\u2069\u200e\u061c", Hidden{Bidi: 6}},
		{"zero-width", "\u200b\u200d\u00ad\ufeff\u3164\u180e\u0600", Hidden{ZeroWidth: 7}},
		{"variation", "\ufe0f\U000e01ef\u180b", Hidden{Variation: 3}},
		{"after-the-tags", "\U000e0080", Hidden{ZeroWidth: 1}},
		{"tags", "\U000e0001\U000e0020\U000e007f\U000e0000", Hidden{Tag: 4}},
		{"spaces", "\u00a0\u3000\u2800", Hidden{Space: 3}},
		{"marks", "\u0301a\n\u0301b\u0336", Hidden{Mark: 3}},
		{"after-a-mark-across", "b\u0336\u0301", Hidden{Mark: 2}},
		{"after-a-spacing-mark", "\u0915\u0951\u0951\u0951\u093e\u0951\u0951", Hidden{}},
		{"many-spacing-marks", "\u0915" + strings.Repeat("\u093e", 9), Hidden{}},
		{"mark-after-hidden", "\x1b\u0301", Hidden{Control: 1, Mark: 1}},
		{"mark-after-letter-and-hidden", "a\x1b\u0301", Hidden{Control: 1, Mark: 1}},
		{"private", "\ue000\U00100000", Hidden{Private: 2}},
		{"unassigned", "\u0378\ufffe", Hidden{Unassigned: 2}},
		{"invalid", "\xff\xc0\xae", Hidden{Invalid: 3}},
		{"blanks", "a          b", Hidden{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Count(c.text); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("C19", func(t *testing.T) {
		t.Run("accept-ordinary-body", func(t *testing.T) {
			if n := Count("Pay the invoice.\n").Total(); n != 0 {
				t.Errorf("%d hidden characters", n)
			}
		})
		t.Run("reject-smuggled-instruction", func(t *testing.T) {
			text := "Pay the invoice."
			for _, c := range "rm -rf" {
				text += string(0xe0000 + c)
			}
			h := Count(text + "\ufe0f\u200d")
			if h.Tag != 6 || h.Variation != 1 || h.ZeroWidth != 1 || h.Total() != 8 {
				t.Errorf("%s", h)
			}
		})
	})
}

func TestHiddenText(t *testing.T) {
	h := Hidden{Control: 2, Tag: 14}
	if h.String() != "2 control, 14 tag" || h.Total() != 16 || (Hidden{}).String() != "none" {
		t.Errorf("%s, %d, %s", h, h.Total(), Hidden{})
	}
	data, err := json.Marshal(h)
	if err != nil || string(data) != `{"control":2,"tag":14}` {
		t.Errorf("%s, %v", data, err)
	}
}

// TestInvisible: the quick answer agrees with the classes that are counted.
func TestInvisible(t *testing.T) {
	for c := rune(0); c <= unicode.MaxRune; c++ {
		class := classOf(c)
		want := class == control && c != '\t' && c != '\n' || class == unassigned && (c&0xfffe == 0xfffe || 0xfdd0 <= c && c <= 0xfdef)
		switch class {
		case separator, bidi, zeroWidth, variation, tag:
			want = true
		}
		if got := Invisible(c); got != want {
			t.Errorf("%U: %t", c, got)
		}
	}
}
