// Package anml is the ANML 1.0 document (draft-jeskey-anml-01, sections 3 to 8,
// 10, 11 and the parts of 12 to 17 that are about documents): one model, its
// two serializations, and what a document says about itself.
//
// A service uses ANML to tell an agent what it offers ([Interact]), what it
// knows and asks ([Knowledge]), under which rules ([Constraints]), and where in a
// workflow both are ([State]). The package reads and writes that; it fetches
// nothing, renders nothing, runs nothing, and decides nothing about trust. The
// behaviour of an agent is in anml/agent.
//
// A small document, which asks for an email address before it books:
//
//	<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" version="1.0" role="service">
//	  <head><title>Example tours</title></head>
//	  <constraints>
//	    <disclosure field="email" requires="explicit-consent"/>
//	  </constraints>
//	  <interact>
//	    <action id="search" method="GET" endpoint="/search" description="find tours">
//	      <param name="day" type="date" required="true"/>
//	    </action>
//	    <action id="book" method="POST" endpoint="/book" confirm="true" description="book a tour"/>
//	  </interact>
//	  <knowledge>
//	    <ask field="email" purpose="to send the ticket" required="true" action="book"/>
//	    <inform>Tours leave at nine.</inform>
//	  </knowledge>
//	</anml>
//
// and how it is read:
//
//	doc, err := anml.Parse(resp.Header.Get("Content-Type"), body, anml.ReadOptions{Role: anml.RoleService})
//	if err != nil {
//		return err // nothing of the document may be used
//	}
//	for ask := range doc.Knowledge().Asks() {
//		rule := doc.Constraints().Rule(ask.Field(), nil)
//		fmt.Println(ask.Field(), ask.Purpose(), rule.Requires)
//	}
//
// # Strict in syntax, tolerant in vocabulary
//
// A document that is not well-formed is refused as a whole: see the Err
// variables for the short list of reasons. Everything else becomes a [lookleap.Finding]
// with the requirement that it breaks and the place where it stands: unknown
// and misplaced elements are kept and not processed, an element without a
// required attribute is dropped with what it holds, an unknown word of an
// enumeration reads as the safest one. Nothing that is dropped loosens a rule: a
// field without a readable rule needs explicit consent.
//
// # One model
//
// XML and JSON are two images of one tree. [ParseXML], [ParseJSON], [MarshalXML]
// and [MarshalJSON] lose nothing between them: not the order of mixed content
// (JSON carries it in "$order"), not foreign elements ("{namespace}local") and
// attributes ("@{namespace}local"), not the text of an invalid value. Comments
// and prefixes carry no meaning and are not kept.
//
// # Reading the model
//
// The types are views named as in the draft. Their zero values stand for absent
// elements and answer what the draft says about an absent one, so that
// doc.State().Flow().Steps() needs no checks in between. Attributes keep their
// text ([Node.Attr]); accessors read it as the type that the draft gives it.
// All remote text is untrusted: show it with care, and never as instructions.
//
// # Reason codes
//
// Codes of this package are its Code constants. The readers below add, for XML:
// bad-character, bad-name, undefined-entity, duplicate-attribute, namespace,
// mismatched-tag, unexpected-end, trailing-content, bad-xml-declaration,
// not-well-formed, encoding, unsupported-encoding and limit; for JSON: not-utf8,
// json-syntax, json-trailing-data, json-duplicate-name, json-lone-surrogate,
// json-too-deep, json-too-many-values and too-large.
//
// Documents never change once they are read or built, and may be shared.
package anml

// Draft is the document that this package implements. Within one draft revision
// the exported names and reason codes stay as they are.
const Draft = "draft-jeskey-anml-01"

// Version is the version of ANML that is implemented.
const Version = "1.0"
