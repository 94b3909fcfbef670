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
// The parts, from pure functions to those with effects:
//
//   - [ParseTrustRoot] and [ParseSkillURL] parse URLs by the table [Platforms], and
//     [TrustRoot.Covers] compares them by origin and whole path segments.
//   - [Roots] holds the roots that are registered, blocked or revoked.
//   - [ParseSkill] reads a SKILL.md under a [Profile].
//   - [Decide] judges a [Claim] by [Evidence] without I/O and reports every check.
//   - [Loader] gathers the evidence and loads in the three levels of section 4.6:
//     metadata at registration, instructions on activation, resources on demand.
//   - Scripts, actions and URLs outside the root need a plan that the user agrees to. A [Runner]
//     is the sandbox of the host program; examples/sandbox has one for Linux.
//   - [Loader.Discover] reads the lists of an origin: the indexes of Agent Skills discovery v0.1 and
//     v0.2, and sitemaps.
//   - A skill may also be served as an archive ([ReadArchive], [WriteArchive]). Its identity is the
//     URL of the archive, and the members are its files.
//   - [VerifiedFS] presents verified skills as an [io/fs.FS], and a [Lockfile] freezes them.
//   - [CapabilitiesOf] reads what a skill may do, and [Compare] what changed between two versions.
//   - A [TrustStore] keeps what the user decided, a [Policy] is what an administrator decided, and
//     a revocation feed ([FeedOptions], [Withdrawals]) withdraws what is loaded already.
//   - [Catalogue] reads local directories; [Lint], [WriteIndex] and [Handler] are for publishers.
//
// Left out: the draft defines no way for a publisher to declare a root. Roots come from the host
// program or its user, or else from the origin. A skill can narrow its root but not widen it.
package dvs

// Draft is the document that this package implements. Codes and exported names keep their meaning
// within a revision of it.
const Draft = "draft-zzn-dvs-00"
