// Package consume tests that the nested modules below contrib can be required and installed by
// users, without the workspace of this repository.
package consume
