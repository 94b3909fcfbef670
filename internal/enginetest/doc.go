// Package enginetest tests what the engines below contrib have in common, each against a real
// server that its tests start. The promises themselves are in package lookleaptest.
package enginetest
