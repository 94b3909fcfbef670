// Package install puts verified skills into the folders where agents look for them, and keeps them as
// the lockfile says.
//
//	source, err := install.ParseSource("example-org/skills")
//	found, err := source.Find(ctx, loader) // one archive, whatever the number of skills
//	defer found.Close()
//	skill, err := found.Skills[0].Load(ctx) // who publishes it, and what the user agrees to
//	project, err := install.Open(".", install.Project)
//	result, err := project.Install(ctx, skill, install.Options{Agents: []string{"claude-code"}})
//
// The loader decides: it judges the skill, and asks its user about the first use and about each change.
// Files are written as they were published. Each skill has one copy in .agents/skills, and links lead to
// it from the folders of other agents. The lockfile skills.lock has the digest of each file, so
// [Place.Verify] finds what changed, and [Place.Sync] restores it, without a question.
//
// Nothing that a user changed is replaced or removed, unless Options.Force says so.
package install
