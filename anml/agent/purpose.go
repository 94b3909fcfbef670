package agent

import (
	"context"
	"strings"
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
var vaguePurposes = [...]string{"data", "info", "information", "required", "other", "misc", "miscellaneous", "n/a", "na", "none", "-"}

// JudgePurpose is the judgement of a purpose by its words alone: one that is
// blank, repeats the name of the field, or is one of a few empty words is vague;
// all others pass, since what is plausible is more than words can tell.
func JudgePurpose(_ context.Context, s Subject) (PurposeVerdict, error) {
	purpose := strings.Trim(s.Purpose, " \t\r\n.!")
	if purpose == "" || strings.EqualFold(purpose, s.Field) {
		return PurposeVague, nil
	}
	for _, w := range vaguePurposes {
		if strings.EqualFold(purpose, w) {
			return PurposeVague, nil
		}
	}
	return PurposeOK, nil
}

// The sensitive categories of section 14.2.
const (
	CategoryHealth   = "health"
	CategoryFinance  = "finance"
	CategoryLocation = "location"
)

// sensitiveWords are looked for anywhere in a field's name or a purpose, in any
// case: a word too many only asks the user once more.
var sensitiveWords = [...]struct{ word, category string }{
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

// sensitiveCategory finds the category of a text by its words, "" for none.
func sensitiveCategory(text string) string {
	for i := range len(text) {
		switch text[i] | 0x20 {
		case 'h', 'm', 'd', 'i', 'f', 'b', 'p', 'c', 'l', 'g', 'w':
			for _, s := range &sensitiveWords {
				if s.word[0] == text[i]|0x20 && len(text)-i >= len(s.word) && strings.EqualFold(text[i:i+len(s.word)], s.word) {
					return s.category
				}
			}
		}
	}
	return ""
}
