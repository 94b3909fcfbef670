package anml

// MaxPages is how many pages of one result an agent retrieves in an interaction
// without asking its user, the first document included (section 11.5). It is
// held by anml/agent.
const MaxPages = 10

// Outcome is what became of a submitted action.
type Outcome uint8

const (
	OutcomeUnknown  Outcome = iota // nobody can say; never a success
	OutcomeError                   // it failed
	OutcomePartial                 // it was done in part
	OutcomeAccepted                // it was accepted and is not finished (202)
	OutcomeSuccess                 // it was done
)

// String names the outcome.
func (o Outcome) String() string {
	return word([]string{"unknown", "error", "partial", "accepted", "success"}, o)
}

// OutcomeOf combines an HTTP status code with the status of the document that
// came with it, which may be nil: the worse of the two counts (section 11.3). A
// status that is malformed leaves the outcome unknown, whatever HTTP says.
func OutcomeOf(code int, d *Document) Outcome {
	http := OutcomeUnknown
	switch {
	case code == 202:
		http = OutcomeAccepted
	case code >= 200 && code < 300:
		http = OutcomeSuccess
	case code >= 400:
		http = OutcomeError
	}
	if d == nil || !d.root().has(kStatus) {
		return http
	}
	said := OutcomeUnknown
	if s := d.Status(); s.Exists() {
		said = [...]Outcome{ResultError: OutcomeError, ResultPartial: OutcomePartial, ResultSuccess: OutcomeSuccess}[s.Result()]
	}
	if http == OutcomeError {
		return OutcomeError
	}
	return min(http, said)
}
