package access

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// trueLoopback refuses requests that do not come from a program on this machine for this machine.
func trueLoopback(r *http.Request) error {
	if far := farFrom(r); far != "" {
		return forbidden(far + " Without GATEHOUSE_TOKENS gatehouse answers only browsers and programs on its own " +
			"machine. An admin can set GATEHOUSE_TOKENS.")
	}
	return nil
}

// farFrom says what shows that a request may come from elsewhere; "" if nothing does.
func farFrom(r *http.Request) string {
	switch header := forwarding(r.Header); {
	case !loopbackPeer(r.RemoteAddr):
		return "The request comes from another machine."
	case !loopbackHost(r.Host):
		return "The request is for a host that is not localhost, 127.0.0.1 or [::1]."
	case header != "":
		return "The request came through a proxy or a tunnel: it has a header that begins with " + header + "."
	case !r.ProtoAtLeast(1, 1):
		return "The request is of HTTP/1.0, as a proxy or a tunnel sends it. Send it as HTTP/1.1."
	}
	return ""
}

// loopbackPeer reports whether a connection comes from this machine.
func loopbackPeer(address string) bool {
	peer, err := netip.ParseAddrPort(address)
	return err == nil && peer.Addr().Zone() == "" && peer.Addr().Unmap().IsLoopback()
}

// loopbackHost reports whether a Host is localhost, an address of 127.0.0.0/8 or [::1], with or without a port. Nothing
// else that a resolver may take for this machine counts: not localhost with a dot or a domain behind it, not 127.1.
func loopbackHost(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if port, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil || port == 0 {
			return false
		}
		host = host[:i]
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		address, err := netip.ParseAddr(inner)
		return ok && err == nil && address == netip.IPv6Loopback()
	}
	address, err := netip.ParseAddr(host)
	return strings.ToLower(host) == localhost || err == nil && address.Is4() && address.IsLoopback()
}

const localhost = "localhost"

// forwarders are the beginnings of the headers that proxies, tunnels, load balancers and content networks add, in lower
// case.
var forwarders = []string{
	"forwarded", "x-forwarded", "x-forward-", "x-original-", "x-real-", "x-client-ip", "x-client-port",
	"x-cluster-client", "x-remote-", "x-proxy", "x-proxied", "x-host",
	"x-scheme", "x-url-scheme", "x-rewrite-url", "x-tunnel", "x-auth-request-", "x-goog-", "x-envoy-", "x-amzn-",
	"x-amz-cf-", "x-azure-", "x-arr-", "x-ms-", "x-appengine-", "x-akamai-",
	"x-vercel-", "x-nf-", "x-pomerium-", "x-bluecoat-", "via", "client-ip", "remote-addr", "true-client-ip",
	"front-end-https", "cdn-", "cf-", "cloudfront-", "fastly-",
	"akamai-", "do-connecting-ip", "fly-", "ngrok-", "tailscale-", "incap-", "surrogate-",
}

// forwarding returns the beginning of a header that tells of a proxy or tunnel, "" if there is none.
func forwarding(h http.Header) string {
	for _, beginning := range forwarders {
		for name := range h {
			if strings.HasPrefix(strings.ReplaceAll(strings.ToLower(name), "_", "-"), beginning) {
				return http.CanonicalHeaderKey(beginning)
			}
		}
	}
	return ""
}
