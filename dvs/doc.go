// Package dvs implements Domain-Verified Skills (draft-zzn-dvs-00): a skill is
// loaded only from whom it claims to be.
//
// A skill is a directory with a SKILL.md, and its URL is its identity. It is
// verified if that URL lies under its trust root, an https prefix that one
// publisher controls: a whole origin, or an owner's path on a platform that
// hosts many. Nothing in the file itself changes the verdict, no registry takes
// part, and no claim beyond the control of a domain is made (section 7).
//
//	loader := dvs.NewLoader(host, dvs.Options{})
//	skill, err := loader.Load(ctx, "https://github.com/example-org/skills/blob/main/refund/SKILL.md")
//	var no *lookleap.VerifyError
//	if errors.As(err, &no) {
//		fmt.Println(no.Verdict) // why not, as a short tree
//	}
//
// The parts, from pure to effectful:
//
//   - [ParseTrustRoot] and [ParseSkillURL] decide what a root and a skill URL
//     are, over [Platforms], a table of hosts where many publish. [TrustRoot.Covers]
//     is the comparison, by origin and whole path segments.
//   - [Roots] holds who declared which root, what is blocked and what is revoked.
//   - [ParseSkill] reads a SKILL.md under a profile.
//   - [Decide] judges a claim by evidence, without any I/O, and tells every check.
//   - [Loader] gathers the evidence and has the three levels of section 4.6:
//     metadata at registration, instructions on activation, resources on demand.
//   - What runs, or reaches beyond the root, is a plan that the user agrees to;
//     a [Runner] is the host's sandbox, and examples/sandbox has one for Linux.
//   - [Loader.Discover] reads what an origin lists; [Loader.RegisterListing] takes
//     level 1 from there.
//   - [VerifiedFS] gives verified skills to frameworks as an [io/fs.FS], a
//     [Lockfile] freezes them, and examples/skillloaders hands them to two.
//   - [Catalogue] reads local directories; [Lint], [WriteIndex] and [Handler] are
//     for publishers.
//
// Left out: the draft defines no channel by which a publisher declares a root,
// so roots come from the host program or its user, else from the origin. The
// skill's own text can narrow a root and never make or widen one.
package dvs

// Draft is the document that this package implements. Within a revision, codes
// and exported names keep their meaning.
const Draft = "draft-zzn-dvs-00"
