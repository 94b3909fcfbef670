// Package netguard decides which network addresses may be dialled for a name that someone else
// chose: only public unicast addresses.
//
// Use [Control] as [net.Dialer.Control], so that it checks the address that is dialled. A check of
// the addresses of a name is not enough, because the next lookup can return others.
//
// An IPv6 address that contains an IPv4 address (mapped, translated, 6to4, Teredo, ISATAP, …) is
// always refused: no public server has one, and programs disagree about what it means.
package netguard
