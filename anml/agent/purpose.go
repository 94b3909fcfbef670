package agent

import (
	"strings"
	"sync"

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

// vaguePurposes are folded purposes that do not say what a value is for.
var vaguePurposes = sync.OnceValue(func() map[string]bool {
	vague := map[string]bool{"": true}
	for _, word := range [...]string{"data", "info", "information", "required", "other", "misc", "miscellaneous", "n/a", "none"} {
		vague[fold(word).text] = true
	}
	return vague
})

// judgePurpose judges a purpose by its words alone. It is vague if it is blank, repeats the name of
// the field or is one of a few empty words. All others pass, because words alone cannot show what
// is plausible.
func judgePurpose(s Subject) PurposeVerdict {
	if purpose := fold(s.Purpose).text; vaguePurposes()[purpose] || purpose == fold(s.Field).text {
		return PurposeVague
	}
	return PurposeOK
}

// The sensitive categories of section 14.2.
const (
	CategoryHealth   = "health"
	CategoryFinance  = "finance"
	CategoryLocation = "location"
)

// sensitiveWords are searched anywhere in a field's name or a purpose, in any case. A false match
// only asks the user once more.
var sensitiveWords = [...][2]string{
	{"health", CategoryHealth}, {"medical", CategoryHealth}, {"diagnos", CategoryHealth},
	{"insurance", CategoryFinance}, {"financ", CategoryFinance}, {"bank", CategoryFinance},
	{"payment", CategoryFinance}, {"credit", CategoryFinance}, {"income", CategoryFinance},
	{"location", CategoryLocation}, {"geo", CategoryLocation}, {"whereabouts", CategoryLocation},
}

// sensitiveCategory returns the category of a text by its words, or "". It looks at the text as it
// is written, and as a person reads it: without invisible characters, and with plain letters.
func sensitiveCategory(text string) string {
	written, read := strings.ToLower(text), ""
	if !isASCII(text) {
		read = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.Map(func(r rune) rune {
			if unseen(r) {
				return -1
			}
			return r
		}, text))))
	}
	for _, word := range sensitiveWords {
		if strings.Contains(written, word[0]) || strings.Contains(read, word[0]) {
			return word[1]
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
