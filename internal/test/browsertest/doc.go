// Package browsertest tests the pages of this module in headless Chromium: the consent
// page and the reports. It is a module of its own, because the driver of the browser is
// no dependency of the library.
//
// The tests need a program called chromium, and are skipped without it. `.ci/run browser`
// installs it where it can, fetches axe-core into .cache, and keeps the screenshots in
// .cache/browser. With -update, two screenshots are written to docs/images.
package browsertest
