// Package dvs implements Domain-Verified Skills (draft-zzn-dvs-00): it loads a skill only if its
// URL lies under a trust root, and it tells the user who published it.
//
// A skill is a directory with a SKILL.md, and its URL is its identity. A trust root is an https
// prefix that one publisher controls: a whole origin, or an owner's path on a platform with many
// publishers. Nothing in the file itself changes the verdict, no registry takes part, and a verdict
// proves only control of a domain (section 7).
//
//	loader := dvs.NewLoader(host, dvs.Options{})
//	skill, err := loader.Load(ctx, "https://github.com/example-org/skills/blob/main/refund/SKILL.md")
//	var refused *lookleap.VerifyError
//	if errors.As(err, &refused) {
//		fmt.Println(refused.Verdict) // each check and its result
//	}
//
// Scripts, actions and URLs outside the root need a plan that the user agrees to. Roots come from
// the host program or its user, or else from the origin: a skill can narrow its root but not widen
// it. docs/packages.md lists the parts, and docs/architecture.md shows the life of one load.
package dvs

// Draft is the document that this package implements. Codes and exported names keep their meaning
// within a revision of it.
const Draft = "draft-zzn-dvs-00"
