package agent

// Policy is what the user wants, whatever any document says. The zero Policy
// allows nothing without asking. owner: data
type Policy struct{}
