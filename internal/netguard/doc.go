// Package netguard decides which network addresses may be dialled for a name
// that someone else chose: public unicast ones, and no others.
//
// The decision is about the address that is really dialled, so it belongs into
// [net.Dialer.Control] (see [Control]); a check of what a name resolved to alone
// is undone by the next lookup.
//
// An IPv6 address that carries an IPv4 address (mapped, translated, 6to4,
// Teredo, ISATAP, …) is refused whatever it carries: no public server is reached
// that way, and readers disagree about what such an address means.
package netguard
