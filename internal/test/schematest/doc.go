// Package schematest validates what this module writes as JSON against the schemas in docs/schemas,
// with a validator that is not ours. It is a module of its own, so that the library does not depend
// on the validator.
package schematest
