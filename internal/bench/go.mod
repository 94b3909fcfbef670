module github.com/lookleap/lookleap/internal/bench

go 1.26.0

toolchain go1.26.8

require (
	code.dny.dev/ssrf v0.3.0
	github.com/lookleap/lookleap v0.0.0
	github.com/temoto/robotstxt v1.1.2
)

require (
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/lookleap/lookleap => ../..
