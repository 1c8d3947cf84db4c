package access

import "net/netip"

// Peer names whose address and port this is: of IPv6 the network, since one machine has all of it.
func Peer(addressAndPort string) string {
	peer, err := netip.ParseAddrPort(addressAndPort)
	if err != nil {
		return addressAndPort
	}
	address := peer.Addr().Unmap()
	if address.Is4() {
		return address.String()
	}
	const network = 64                   // bits
	prefix, _ := address.Prefix(network) // an IPv6 address has as many
	return prefix.String()
}
