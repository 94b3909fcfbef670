// Package hostflags declares the command-line flags that build a [lookleap.Host]: other DNS
// servers, other trust anchors and certificates, a test bed, a fixed time, and a development mode
// for a site on one's own machine. The programs of this module take them; a program of yours can:
//
//	var network hostflags.Flags
//	network.Declare(flag.CommandLine)
//	flag.Parse()
//	host, err := network.NewHost()
//
// # Development mode
//
// The library accepts only https URLs of public names. With --dev, a program also takes localhost,
// IP addresses and http URLs. [Flags.URL] writes them as URLs of [DevName], and the Host sends
// requests for that name to the server meant. So the whole library runs as it does in production,
// except for what [Flags.Skipped] lists. --dev --connect HOST:PORT sends the requests for all names
// to one server, so that a site can be tried under the name that it will have.
package hostflags
