package egress

import (
	"net/netip"
	"slices"
)

// internal are the networks of organisations and machines, beside those that netip knows as private and loopback.
var internal = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), // shared address space of carriers and overlays
}

// never are the networks that no host is reached in, whatever is listed, beside link-local and multicast ones: they are
// reserved, lead to addresses of other networks, or hold the metadata of cloud machines.
var never = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("fd00:ec2::254/128"),
	netip.MustParsePrefix("fd20:ce::254/128"),
}

// IPv4 addresses in IPv6 ones: behind NAT64, and as they were written long ago.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
)

// Reach is what an address belongs to.
type Reach int

// The kinds of addresses.
const (
	Public  Reach = iota
	Private       // of this machine or its organisation: reached if a host is listed by its whole name with the port
	Blocked       // reserved, link-local, of metadata: reached by nobody
)

// ReachOf classifies an address. An IPv4 address that is written as an IPv6 one counts as itself.
func ReachOf(a netip.Addr) Reach {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case slices.ContainsFunc(never, within) || a.IsLinkLocalUnicast() || a.IsMulticast() || !a.IsValid() ||
		compatible.Contains(a) && !a.IsLoopback():
		return Blocked
	case slices.ContainsFunc(internal, within) || a.IsPrivate() || a.IsLoopback():
		return Private
	}
	return Public
}
