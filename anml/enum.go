package anml

import "slices"

// The zero value of each enumeration is the safe one: an unknown word never reads as a
// permission.

// Role says which side wrote a document (section 8.1).
type Role uint8

const (
	RoleUnspecified Role = iota // absent or an unknown word
	RoleService
	RoleAgentResponse
)

// Requires says what a disclosure rule demands before a field may be answered
// (sections 8.4.1 and 16.6). Compare with Rank, not by value.
type Requires uint8

const (
	ExplicitConsent Requires = iota // the user approved this field for this destination; also every unknown word
	Authentication                  // the user is authenticated, and explicit consent
	ImplicitConsent
	RequiresNothing
)

// Rank returns how restrictive the value is: none 0, implicit consent 1, explicit consent 2,
// authentication 3.
func (r Requires) Rank() int { return [...]int{2, 3, 1, 0}[min(r, 3)] }

// Stricter returns the more restrictive of two values (section 11.4).
func (r Requires) Stricter(other Requires) Requires {
	if other.Rank() > r.Rank() {
		return other
	}
	return r
}

// Usage says what may be done with content, in ascending order (section 16.5).
type Usage uint8

const (
	UsageNone Usage = iota // only to read and show it now; also every unknown word
	UsageDisplay
	UsageCache
	UsageStore
	UsageTrain
)

// Allows reports whether this value grants a use.
func (u Usage) Allows(use Usage) bool { return use <= u }

// Auth says whether an action needs authentication (section 8.6.1).
type Auth uint8

const (
	AuthRequired Auth = iota // also every unknown word
	AuthOptional
	AuthNone // also if the attribute is absent
)

// Result is the outcome that a status states (section 8.13).
type Result uint8

const (
	ResultError Result = iota // also every unknown word
	ResultPartial
	ResultSuccess
)

// Confidentiality says who may see an inform (section 8.7.1).
type Confidentiality uint8

const (
	Private Confidentiality = iota // also every unknown word
	Restricted
	Public // also if the attribute is absent
)

// Priority says how important an inform is (section 8.7.1).
type Priority uint8

const (
	PriorityNormal Priority = iota
	PriorityLow
	PriorityHigh
)

// StepStatus is the state of a flow step (section 8.5.3).
type StepStatus uint8

const (
	StepUnstated StepStatus = iota // like pending
	StepPending
	StepCurrent
	StepCompleted
	StepSkipped
)

// Inference says how much a medium needs analysis (section 8.10.2).
type Inference uint8

const (
	InferenceUnspecified Inference = iota // like InferenceNone
	InferenceNone
	InferenceOptional
	InferenceRequired
)

// Type is the type of a value (section 8.11).
type Type uint8

const (
	TypeString Type = iota // also if the attribute is absent or an unknown word
	TypeNumber
	TypeBoolean
	TypeDate
	TypeDateTime
	TypeURI
	TypeEnum // of parameters only
)

// ConsentKind says how the user agreed to an answer (section 8.7.3).
type ConsentKind uint8

const (
	ConsentUnstated ConsentKind = iota
	ConsentExplicit
	ConsentImplicit
	ConsentDelegated
)

// Reason says why a field is refused (section 8.7.4). A refusal with an unknown reason is still
// a refusal.
type Reason string

const (
	ConstraintViolation Reason = "constraint-violation"
	UserDenied          Reason = "user-denied"
	PolicyViolation     Reason = "policy-violation"
	UnsupportedField    Reason = "unsupported-field"
	TrustInsufficient   Reason = "trust-insufficient"
)

// Known reports whether the draft defines the reason.
func (r Reason) Known() bool {
	return slices.Contains(reasonWords[:], string(r))
}

// LanguagePolicy says which language a persona asks for (section 8.8.2).
type LanguagePolicy uint8

const (
	LanguageUnstated LanguagePolicy = iota
	LanguageNative                  // the user's language
	LanguageMatch                   // the document's language
	LanguageFixed                   // the language that the document names
)

// Perspective is the grammatical person of a persona (section 8.8.4).
type Perspective uint8

const (
	PerspectiveUnstated Perspective = iota
	FirstPerson
	ThirdPerson
)

// Relationship says how two sites are related (section 17.1). Unknown values are kept.
type Relationship string

const (
	CarriesProducts     Relationship = "carries-products"
	LicensedDistributor Relationship = "licensed-distributor"
	AuthorizedService   Relationship = "authorized-service"
	OfficialPartner     Relationship = "official-partner"
	Affiliate           Relationship = "affiliate"
	ContentAggregator   Relationship = "content-aggregator"
)

// Known reports whether the registry of section 17.1 has the value.
func (r Relationship) Known() bool {
	switch r {
	case CarriesProducts, LicensedDistributor, AuthorizedService, OfficialPartner, Affiliate, ContentAggregator:
		return true
	}
	return false
}

// The words of the draft, by the values of the enumerations.
var (
	roleWords            = [...]string{"", "service", "agent-response"}
	requiresWords        = [...]string{"explicit-consent", "authentication", "implicit-consent", "none"}
	usageWords           = [...]string{"none", "display", "cache", "store", "train"}
	authWords            = [...]string{"required", "optional", "none"}
	resultWords          = [...]string{"error", "partial", "success"}
	confidentialityWords = [...]string{"private", "restricted", "public"}
	priorityWords        = [...]string{"normal", "low", "high"}
	stepStatusWords      = [...]string{"", "pending", "current", "completed", "skipped"}
	inferenceWords       = [...]string{"", "none", "optional", "required"}
	typeWords            = [...]string{"string", "number", "boolean", "date", "datetime", "uri", "enum"}
	reasonWords          = [...]string{string(ConstraintViolation), string(UserDenied), string(PolicyViolation),
		string(UnsupportedField), string(TrustInsufficient)}
	consentWords     = [...]string{"", "explicit", "implicit", "delegated"}
	languageWords    = [...]string{"", "native", "match", "fixed"}
	perspectiveWords = [...]string{"", "first", "third"}
)

// word returns the word of a value, and that of the zero value for an unknown one.
func word[E ~uint8](words []string, e E) string {
	if int(e) < len(words) {
		return words[e]
	}
	return words[0]
}

// parse returns the value of a word, and the zero value for an unknown word.
func parse[E ~uint8](words []string, text string) E {
	for i, w := range words {
		if w == text && text != "" {
			return E(i)
		}
	}
	return 0
}

// parseUsage returns the usage for its word, UsageNone for an unknown word.
func parseUsage(s string) Usage { return parse[Usage](usageWords[:], s) }

// parseRequires returns the requirement for its word, ExplicitConsent for an unknown word.
func parseRequires(s string) Requires { return parse[Requires](requiresWords[:], s) }

// ParseType returns the type for its word, TypeString for an unknown word.
func ParseType(s string) Type {
	switch s { // faster than parse: this runs for every field
	case "number":
		return TypeNumber
	case "boolean":
		return TypeBoolean
	case "date":
		return TypeDate
	case "datetime":
		return TypeDateTime
	case "uri":
		return TypeURI
	case "enum":
		return TypeEnum
	}
	return TypeString
}

// String returns the word of the draft, "" for the zero value.
func (r Role) String() string { return word(roleWords[:], r) }

// String returns the word of the draft.
func (r Requires) String() string { return word(requiresWords[:], r) }

// String returns the word of the draft.
func (u Usage) String() string { return word(usageWords[:], u) }

// String returns the word of the draft.
func (a Auth) String() string { return word(authWords[:], a) }

// String returns the word of the draft.
func (r Result) String() string { return word(resultWords[:], r) }

// String returns the word of the draft.
func (c Confidentiality) String() string { return word(confidentialityWords[:], c) }

// String returns the word of the draft.
func (p Priority) String() string { return word(priorityWords[:], p) }

// String returns the word of the draft, "" for the zero value.
func (s StepStatus) String() string { return word(stepStatusWords[:], s) }

// String returns the word of the draft, "" for the zero value.
func (i Inference) String() string { return word(inferenceWords[:], i) }

// String returns the word of the draft.
func (t Type) String() string { return word(typeWords[:], t) }

// String returns the word of the draft, "" for the zero value.
func (c ConsentKind) String() string { return word(consentWords[:], c) }

// String returns the word of the draft, "" for the zero value.
func (p LanguagePolicy) String() string { return word(languageWords[:], p) }

// String returns the word of the draft, "" for the zero value.
func (p Perspective) String() string { return word(perspectiveWords[:], p) }
