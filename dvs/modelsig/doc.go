// Package modelsig verifies the signature that a publisher put into a skill's directory, in the
// format of OpenSSF Model Signing (OMS) 1.0: a Sigstore bundle that holds a DSSE envelope, whose
// payload lists the files of the directory with their digests.
//
//	for _, name := range modelsig.Find(files) {
//		signature, err := modelsig.Verify(files, name, trust, time.Now())
//		if err != nil {
//			return err // changed, incomplete, expired or not checkable here: see the code
//		}
//		fmt.Println(signature.Signer, signature.Trusted, signature.Uncovered)
//	}
//
// The package takes bytes and a time and does no I/O. It contacts no service, so it checks
// signatures by a key and by a chain of certificates, and refuses those by a Sigstore identity
// with [CodeSigstoreIdentity]: they need a transparency log. It does not ask whether a certificate
// was revoked.
//
// A valid signature proves that the holder of a key signed these bytes. Who that is depends on
// [Trust]: see [Signature.Trusted]. It does not prove that a skill is safe, nor that it comes from
// where it was loaded.
//
// The bundle itself is not signed. It may hold only what the format needs, so no text for an agent
// can hide in it.
package modelsig
