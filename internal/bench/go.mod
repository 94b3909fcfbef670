module github.com/lookleap/lookleap/internal/bench

go 1.26.0

toolchain go1.26.8

require (
	code.dny.dev/ssrf v0.3.0
	github.com/lookleap/lookleap v0.0.0
)

replace github.com/lookleap/lookleap => ../..
