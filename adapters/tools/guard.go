package tools

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"gatehouse/core"
)

// internal are the networks of organisations and machines, beside those that netip knows as private and loopback.
var internal = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), // shared address space of carriers and overlays
}

// never are the networks that no host is reached in, whatever is listed, beside link-local and multicast ones: they are reserved, lead to
// addresses of other networks, or hold the metadata of cloud machines.
var never = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("5f00::/16"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("fd00:ec2::254/128"),
	netip.MustParsePrefix("fd20:ce::254/128"),
}

// IPv4 addresses in IPv6 ones: behind NAT64, and as they were written long ago.
var (
	translated = netip.MustParsePrefix("64:ff9b::/96")
	compatible = netip.MustParsePrefix("::/96")
)

// reach is what an address belongs to.
type reach int

const (
	public  reach = iota
	private       // of this machine or its organisation
	blocked       // reached by nobody
)

// reachOf classifies an address. An IPv4 address that is written as an IPv6 one counts as itself.
func reachOf(a netip.Addr) reach {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case slices.ContainsFunc(never, within) || a.IsLinkLocalUnicast() || a.IsMulticast() || !a.IsValid() || compatible.Contains(a) && !a.IsLoopback():
		return blocked
	case slices.ContainsFunc(internal, within) || a.IsPrivate() || a.IsLoopback():
		return private
	}
	return public
}

// dialTimeout is how long a connection may take.
const dialTimeout = 10 * time.Second

// dial connects to a host of the list. The address is checked after its name was resolved, before anything is sent to it.
func (h Hosts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	inside := h.mayBePrivate(host, port)
	d := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		switch reach := reachOf(to.Addr()); {
		case reach == blocked:
			return core.Errorf(core.ToolFailed, "%s leads to the address %s, which is reserved or link-local, so it was not reached.", host, to.Addr())
		case reach == private && !inside:
			return core.Errorf(core.ToolFailed, "%s leads to the private address %s, so it was not reached. An admin can list %s with its port in GATEHOUSE_FETCH_HOSTS.",
				host, to.Addr(), host)
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// maxRedirects bounds how often a server may point elsewhere.
const maxRedirects = 5

// client makes requests to the listed hosts alone. Each has a connection of its own.
func (h Hosts) client(followsRedirects bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: h.dial, DisableKeepAlives: true, TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !followsRedirects {
				return http.ErrUseLastResponse
			}
			if len(via) > maxRedirects {
				return core.Errorf(core.ToolFailed, "%s leads from one address to the next, more than %d times.", via[0].URL.Host, maxRedirects)
			}
			return h.permit(r.URL)
		},
	}
}
