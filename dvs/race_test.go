//go:build race

package dvs_test

const raceFactor = 20
