package agent

import (
	"cmp"
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Subject is what a service wants to know, as the user's hooks judge it. Its
// texts are the service's and untrusted.
type Subject struct {
	Field     string
	Purpose   string // "" when none is stated
	Category  string // that the profile gives the value, "" when it gives none
	Owner     string // domain whose ask it is
	Recipient string // host that would receive the value
}

// PurposeVerdict is what becomes of a stated purpose (section 14.3).
type PurposeVerdict uint8

// The verdicts. The zero value refuses.
const (
	PurposeImplausible PurposeVerdict = iota // it does not fit the field: refused
	PurposeVague                             // the user is asked, with a warning
	PurposeOK
)

// vaguePurposes say nothing about what a value is for.
var vaguePurposes = [...]string{"data", "info", "information", "required", "other", "misc", "miscellaneous", "na", "none"}

// JudgePurpose is the judgement of a purpose by its words alone: one that is
// blank, repeats the name of the field, or is one of a few empty words is vague;
// all others pass, since what is plausible is more than words can tell.
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

// legible is a text as somebody reads it: without characters that nobody sees, and
// with compatibility forms of letters turned into the letters.
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
		if r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.N) {
			return ' '
		}
		return r
	}, text)
}

// sameLetters reports whether two texts are the same but for the case of their
// ASCII letters and for all that is neither letter nor digit.
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

// fromLetter cuts off what stands before the first letter or digit.
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

// sensitiveWords are looked for anywhere in a field's name or a purpose, in any
// case: a word too many only asks the user once more.
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

// sensitiveByLetter are those words by their first letter.
var sensitiveByLetter = func() (by [256][]sensitiveWord) {
	for _, s := range sensitiveWords {
		by[s.word[0]] = append(by[s.word[0]], s)
	}
	return by
}()

// sensitiveCategory finds the category of a text by its words, "" for none: as it
// is written, and as somebody reads it.
func sensitiveCategory(text string) string {
	if isASCII(text) {
		return findSensitive(text)
	}
	return cmp.Or(findSensitive(text), findSensitive(legible(text)))
}

func findSensitive(text string) string {
	for i := range len(text) {
		for _, s := range sensitiveByLetter[text[i]|0x20] {
			if len(text)-i >= len(s.word) && strings.EqualFold(text[i:i+len(s.word)], s.word) {
				return s.category
			}
		}
	}
	return ""
}

// secretNames are names of credentials and of official numbers, as [fieldKey] writes
// them. An argument of such a name is the user's to give, whoever holds its value.
var secretNames = func() map[string]bool {
	names := make(map[string]bool)
	for _, name := range [...]string{
		"password", "passwd", "passphrase", "pin", "cvv", "cvc", "otp", "secret", "api key", "access token", "card number",
		"passport", "passport number", "ssn", "social security number", "national id", "tax id", "iban", "account number",
		"driving licence", "driver license", "date of birth", "birthday", "birthdate", "dob",
	} {
		names[fieldKey(name)] = true
	}
	return names
}()

// secretName reports whether the key of a field is that of a secret.
func secretName(key string) bool { return secretNames[key] }
