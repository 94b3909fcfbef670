package dvs_test

import (
	"reflect"
	"testing"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Run(t, []reflect.Type{
		reflect.TypeFor[dvs.Access](), reflect.TypeFor[dvs.Action](), reflect.TypeFor[dvs.ActionKind](),
		reflect.TypeFor[dvs.ApprovedScript](), reflect.TypeFor[dvs.ArchiveFormat](), reflect.TypeFor[dvs.Artifact](), reflect.TypeFor[dvs.Block](), reflect.TypeFor[dvs.Bundle](),
		reflect.TypeFor[dvs.Capabilities](), reflect.TypeFor[dvs.Capability](), reflect.TypeFor[dvs.CatalogueEntry](), reflect.TypeFor[dvs.Change](), reflect.TypeFor[dvs.ChangedLine](), reflect.TypeFor[dvs.Claim](),
		reflect.TypeFor[dvs.Command](), reflect.TypeFor[dvs.Crossing](), reflect.TypeFor[dvs.Declared](), reflect.TypeFor[dvs.Digest](),
		reflect.TypeFor[dvs.Evidence](), reflect.TypeFor[dvs.FeedOptions](), reflect.TypeFor[dvs.Field](), reflect.TypeFor[dvs.Handler](),
		reflect.TypeFor[dvs.IndexShape](), reflect.TypeFor[dvs.Invocation](),
		reflect.TypeFor[dvs.Installation](), reflect.TypeFor[dvs.Kind](), reflect.TypeFor[dvs.Limits](), reflect.TypeFor[dvs.LintOptions](), reflect.TypeFor[dvs.Listing](),
		reflect.TypeFor[dvs.Listings](), reflect.TypeFor[dvs.Loaded](), reflect.TypeFor[dvs.Loader](),
		reflect.TypeFor[dvs.LockedFile](), reflect.TypeFor[dvs.LockedSkill](), reflect.TypeFor[dvs.Lockfile](),
		reflect.TypeFor[dvs.Metadata](), reflect.TypeFor[dvs.NameState](), reflect.TypeFor[dvs.Options](), reflect.TypeFor[dvs.Output](),
		reflect.TypeFor[dvs.Pin](), reflect.TypeFor[dvs.Platform](), reflect.TypeFor[dvs.Platforms](), reflect.TypeFor[dvs.Policy](), reflect.TypeFor[dvs.PolicyPin](), reflect.TypeFor[dvs.PolicySigner](), reflect.TypeFor[dvs.Profile](),
		reflect.TypeFor[dvs.Published](), reflect.TypeFor[dvs.Reference](), reflect.TypeFor[dvs.Repository](), reflect.TypeFor[dvs.RepositoryURL](), reflect.TypeFor[dvs.RefusedVersion](), reflect.TypeFor[dvs.Registrar](), reflect.TypeFor[dvs.Registration](),
		reflect.TypeFor[dvs.Resource](), reflect.TypeFor[dvs.Resumed](), reflect.TypeFor[dvs.RootSource](), reflect.TypeFor[dvs.Roots](),
		reflect.TypeFor[dvs.Rules](), reflect.TypeFor[dvs.RunResult](), reflect.TypeFor[dvs.Sandbox](), reflect.TypeFor[dvs.Scope](),
		reflect.TypeFor[dvs.Skill](), reflect.TypeFor[dvs.Skipped](), reflect.TypeFor[dvs.SkillReport](),
		reflect.TypeFor[dvs.SkillURL](), reflect.TypeFor[dvs.Source](), reflect.TypeFor[dvs.Target](), reflect.TypeFor[dvs.Tip](), reflect.TypeFor[dvs.TrustRecord](), reflect.TypeFor[dvs.TrustRoot](), reflect.TypeFor[dvs.TrustedScript](), reflect.TypeFor[dvs.TrustedVersion](),
		reflect.TypeFor[dvs.Use](), reflect.TypeFor[dvs.Value](), reflect.TypeFor[dvs.ValueKind](), reflect.TypeFor[dvs.VerifiedFS](),
		reflect.TypeFor[dvs.VerifiedFSOptions](), reflect.TypeFor[dvs.Withdrawal](), reflect.TypeFor[dvs.WithdrawalKind](), reflect.TypeFor[dvs.Withdrawals](),
	}, map[string]any{
		"Builtin": dvs.Builtin, "CapabilitiesOf": dvs.CapabilitiesOf, "CheckFileNames": dvs.CheckFileNames, "Catalogue": dvs.Catalogue, "Compare": dvs.Compare, "Decide": dvs.Decide, "DefaultRoot": dvs.DefaultRoot, "DigestOf": dvs.DigestOf, "DirectoryName": dvs.DirectoryName, "ParseRepositoryURL": dvs.ParseRepositoryURL, "KindOf": dvs.KindOf,
		"Lint": dvs.Lint, "LintDNS": dvs.LintDNS, "LintResponse": dvs.LintResponse, "NewHandler": dvs.NewHandler, "NewLoader": dvs.NewLoader,
		"NewPublished": dvs.NewPublished, "NewRoots": dvs.NewRoots, "NewWithdrawalsHandler": dvs.NewWithdrawalsHandler, "ParseFeedURL": dvs.ParseFeedURL, "ParseWithdrawals": dvs.ParseWithdrawals, "NewVerifiedFS": dvs.NewVerifiedFS, "ParseDigest": dvs.ParseDigest,
		"ParseIndex": dvs.ParseIndex, "ParseLockfile": dvs.ParseLockfile, "ParseMetadata": dvs.ParseMetadata, "ParseSkill": dvs.ParseSkill,
		"ParseArtifactURL": dvs.ParseArtifactURL, "ParseSkillIn": dvs.ParseSkillIn, "ParseSkillURL": dvs.ParseSkillURL, "ParseTrustRecord": dvs.ParseTrustRecord, "ReadArchive": dvs.ReadArchive, "WriteArchive": dvs.WriteArchive, "ParseTrustRoot": dvs.ParseTrustRoot, "ReadSitemap": dvs.ReadSitemap, "Rejudge": dvs.Rejudge,
		"ReadSkillDir": dvs.ReadSkillDir, "UnreadablePolicy": dvs.UnreadablePolicy, "WellKnownSkillURL": dvs.WellKnownSkillURL, "WriteIndex": dvs.WriteIndex,
		"WriteSitemap": dvs.WriteSitemap,
	})
}
