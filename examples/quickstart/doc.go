// Quickstart is the library at work: a small internet in this process, an agent
// that wants something from it, and every decision on the way with its reason.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart --scene redirects
//	go run ./examples/quickstart --browser --scene consent
//	go run ./examples/quickstart --transcript > transcript.md
//
// It needs no network. A decision that comes out differently from what the
// story says ends it with a non-zero exit code.
//
// # Adding a scene
//
//  1. Write one file named for the scene, with a function such as
//     func playRedirects(s *stage).
//  2. Build what the scene needs on s.lab, act through s.host, and tell the
//     story: s.say for what happens, s.allowed, s.refused and s.asked for each
//     decision with what must come out, s.fact for what is true afterwards.
//  3. Print nothing that differs from run to run: no ports, times or random ids.
//     Errors that spoil the story itself (the lab does not start) go through must.
//  4. Add one line to scenes in scene.go.
package main
