package confine

// childName is the name under which the program starts itself to be confined.
const childName = "confine-skill-script"

// confined is what it reports once nothing is missing.
const confined = "confined\n"

// jail is what a process that is to be confined is told, over a pipe.
type jail struct {
	Argv       []string // nothing: only find out whether it can be confined
	Env        []string
	Dir        string // of the skill
	Scratch    string
	System     []string
	Namespaces bool // it has namespaces of its own
	Limits     Limits
}
