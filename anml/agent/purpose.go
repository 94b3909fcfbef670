package agent

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Subject is what a service asks for, as the functions of a [UserPolicy] see it. Its texts come
// from the service and are untrusted.
type Subject struct {
	Field     string
	Purpose   string // "" if no purpose is stated
	Category  string // of the value in the profile, or ""
	Owner     string // domain whose ask it is
	Recipient string // host that would receive the value
}

// PurposeVerdict is the judgement of a stated purpose (section 14.3).
type PurposeVerdict uint8

// The verdicts. The zero value refuses.
const (
	PurposeImplausible PurposeVerdict = iota // it does not fit the field: refused
	PurposeVague                             // the user is asked, with a warning
	PurposeOK
)

// vaguePurposes do not say what a value is for.
var vaguePurposes = [...]string{"data", "info", "information", "required", "other", "misc", "miscellaneous", "na", "none"}

// JudgePurpose judges a purpose by its words alone. It is vague if it is blank, repeats the name of
// the field or is one of a few empty words. All others pass, because words alone cannot show what
// is plausible.
func JudgePurpose(_ context.Context, s Subject) (PurposeVerdict, error) {
	purpose := legible(s.Purpose)
	if sameLetters(purpose, "") || sameLetters(purpose, legible(s.Field)) {
		return PurposeVague, nil
	}
	for _, w := range vaguePurposes {
		if sameLetters(purpose, w) {
			return PurposeVague, nil
		}
	}
	return PurposeOK, nil
}

// legible returns a text as a person reads it: without invisible characters, and with compatibility
// forms replaced by plain letters.
func legible(text string) string {
	if isASCII(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text)
	text = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.L, unicode.N) {
			return ' '
		}
		return r
	}, text)
}

// sameLetters reports whether two texts have the same letters and digits. It ignores the case of
// ASCII letters and everything between.
func sameLetters(a, b string) bool {
	for {
		a, b = fromLetter(a), fromLetter(b)
		if a == "" || b == "" {
			return a == b
		}
		if lower(a[0]) != lower(b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

// fromLetter returns the text from its first letter or digit on.
func fromLetter(s string) string {
	for s != "" {
		if c := lower(s[0]); c >= utf8.RuneSelf || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return s
		}
		s = s[1:]
	}
	return ""
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// The sensitive categories of section 14.2.
const (
	CategoryHealth   = "health"
	CategoryFinance  = "finance"
	CategoryLocation = "location"
)

// sensitiveWords are searched anywhere in a field's name or a purpose, in any case. A false match
// only asks the user once more.
var sensitiveWords = [...]sensitiveWord{
	{"health", CategoryHealth},
	{"medical", CategoryHealth},
	{"diagnos", CategoryHealth},
	{"insurance", CategoryFinance},
	{"financ", CategoryFinance},
	{"bank", CategoryFinance},
	{"payment", CategoryFinance},
	{"credit", CategoryFinance},
	{"income", CategoryFinance},
	{"location", CategoryLocation},
	{"geo", CategoryLocation},
	{"whereabouts", CategoryLocation},
}

type sensitiveWord struct{ word, category string }

// sensitiveCategory returns the category of a text by its words, or "". It looks at the text as it
// is written and as a person reads it.
func sensitiveCategory(text string) string {
	if isASCII(text) {
		return findSensitive(text)
	}
	return cmp.Or(findSensitive(text), findSensitive(legible(text)))
}

func findSensitive(text string) string {
	for i := range len(text) {
		for _, s := range sensitiveWords {
			if text[i]|0x20 == s.word[0] && len(text)-i >= len(s.word) && strings.EqualFold(text[i:i+len(s.word)], s.word) {
				return s.category
			}
		}
	}
	return ""
}

// secretNames are the keys of names of credentials and official numbers: see [fieldKey]. An
// argument with such a name counts as the user's, whatever its value.
var secretNames = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	for _, name := range [...]string{
		"password", "passwd", "passphrase", "pin", "cvv", "cvc", "otp", "secret", "api key", "access token", "card number",
		"passport", "passport number", "ssn", "social security number", "national id", "tax id", "iban", "account number",
		"driving licence", "driver license", "date of birth", "birthday", "birthdate", "dob",
	} {
		names[fieldKey(name)] = true
	}
	return names
})

// secretName reports whether the key of a field is that of a secret.
func secretName(key string) bool { return secretNames()[key] }
