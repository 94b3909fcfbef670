package anml

import "slices"

// The zero value of each enumeration is what a reader may safely assume: an
// unknown word never reads as a permission.

// Role says which side wrote a document (section 8.1).
type Role uint8

const (
	RoleUnspecified Role = iota // the document does not say, or says something unknown
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

// Rank orders the values by restrictiveness: none 0, implicit consent 1,
// explicit consent 2, authentication 3.
func (r Requires) Rank() int { return [...]int{2, 3, 1, 0}[min(r, 3)] }

// Stricter gives the more restrictive of two rules (section 11.4).
func (r Requires) Stricter(other Requires) Requires {
	if other.Rank() > r.Rank() {
		return other
	}
	return r
}

// Usage says what may be done with content, in rising order (section 16.5).
type Usage uint8

const (
	UsageNone Usage = iota // read and show now; also every unknown word
	UsageDisplay
	UsageCache
	UsageStore
	UsageTrain
)

// Allows reports whether a use is within what this value grants.
func (u Usage) Allows(use Usage) bool { return use <= u }

// Auth says whether an action needs authentication (section 8.6.1).
type Auth uint8

const (
	AuthRequired Auth = iota // also every unknown word
	AuthOptional
	AuthNone // also when nothing is said
)

// Result is the outcome that a status states (section 8.13).
type Result uint8

const (
	ResultError Result = iota // also every unknown word
	ResultPartial
	ResultSuccess
)

// Confidentiality of an inform (section 8.7.1).
type Confidentiality uint8

const (
	Private Confidentiality = iota // also every unknown word
	Restricted
	Public // also when nothing is said
)

// Priority of an inform (section 8.7.1).
type Priority uint8

const (
	PriorityNormal Priority = iota
	PriorityLow
	PriorityHigh
)

// StepStatus is the state of a flow step (section 8.5.3).
type StepStatus uint8

const (
	StepUnstated StepStatus = iota // behaves like pending
	StepPending
	StepCurrent
	StepCompleted
	StepSkipped
)

// Inference says how much a medium needs analysis (section 8.10.2).
type Inference uint8

const (
	InferenceUnspecified Inference = iota // acts as none
	InferenceNone
	InferenceOptional
	InferenceRequired
)

// Type is the type of a value (section 8.11).
type Type uint8

const (
	TypeString Type = iota // also every unknown word, and when nothing is said
	TypeNumber
	TypeBoolean
	TypeDate
	TypeDateTime
	TypeURI
	TypeEnum // of parameters only
)

// ConsentKind says how an answer was agreed to (section 8.7.3).
type ConsentKind uint8

const (
	ConsentUnstated ConsentKind = iota
	ConsentExplicit
	ConsentImplicit
	ConsentDelegated
)

// Reason says why a field is refused (section 8.7.4). An unknown reason read
// from a document is still a refusal.
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
	LanguageNative                  // the user's
	LanguageMatch                   // the document's
	LanguageFixed                   // the one named
)

// Perspective is the voice of a persona (section 8.8.4).
type Perspective uint8

const (
	PerspectiveUnstated Perspective = iota
	FirstPerson
	ThirdPerson
)

// Relationship of a site-ref (section 17.1). Unknown values are kept as they are.
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

// words gives the draft's word for each value of an enumeration.
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
	reasonWords          = [...]string{string(ConstraintViolation), string(UserDenied), string(PolicyViolation), string(UnsupportedField), string(TrustInsufficient)}
	consentWords         = [...]string{"", "explicit", "implicit", "delegated"}
	languageWords        = [...]string{"", "native", "match", "fixed"}
	perspectiveWords     = [...]string{"", "first", "third"}
)

func word[E ~uint8](words []string, e E) string {
	if int(e) < len(words) {
		return words[e]
	}
	return words[0]
}

// parse finds a word, matched exactly; anything else is the zero value.
func parse[E ~uint8](words []string, text string) E {
	for i, w := range words {
		if w == text && text != "" {
			return E(i)
		}
	}
	return 0
}

// ParseUsage reads one of the five words; anything else is UsageNone.
func ParseUsage(s string) Usage { return parse[Usage](usageWords[:], s) }

// ParseRequires reads one of the four words; anything else is ExplicitConsent.
func ParseRequires(s string) Requires { return parse[Requires](requiresWords[:], s) }

// ParseType reads one of the seven words; anything else is TypeString.
func ParseType(s string) Type {
	switch s { // of all fields, so fast
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

func (r Role) String() string            { return word(roleWords[:], r) }
func (r Requires) String() string        { return word(requiresWords[:], r) }
func (u Usage) String() string           { return word(usageWords[:], u) }
func (a Auth) String() string            { return word(authWords[:], a) }
func (r Result) String() string          { return word(resultWords[:], r) }
func (c Confidentiality) String() string { return word(confidentialityWords[:], c) }
func (p Priority) String() string        { return word(priorityWords[:], p) }
func (s StepStatus) String() string      { return word(stepStatusWords[:], s) }
func (i Inference) String() string       { return word(inferenceWords[:], i) }
func (t Type) String() string            { return word(typeWords[:], t) }
func (c ConsentKind) String() string     { return word(consentWords[:], c) }
func (p LanguagePolicy) String() string  { return word(languageWords[:], p) }
func (p Perspective) String() string     { return word(perspectiveWords[:], p) }
