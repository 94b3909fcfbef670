// Package webpage has what the pages of this module share: one style, the header
// fields that keep a page to itself, and a Door that admits one user's browser.
//
// Pages are for local programs first. A browser reaches a server on the loopback
// address from every page that its user visits, so the Door assumes hostile pages
// in other tabs, hostile DNS names that point at the loopback address, and other
// servers on other ports of the same address:
//
//   - A one-time link opens a session. The session is a cookie that scripts cannot
//     read, that other sites cannot send, and whose path is random, so that servers
//     on other ports do not receive it: cookies do not distinguish ports.
//   - The Host header must name the place where the pages are served, and without a
//     configured place the connection must be one of the loopback interface.
//   - Origin and Sec-Fetch-Site must be those of the pages themselves.
//   - A form has a token that depends on the session and on what the form is about.
//   - No other page may frame, open or embed a page, and a page loads nothing.
package webpage
