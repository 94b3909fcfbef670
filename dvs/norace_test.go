//go:build !race

package dvs_test

const raceFactor = 1
