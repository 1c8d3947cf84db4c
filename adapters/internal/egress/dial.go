package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// dialTimeout is how long a connection may take.
const dialTimeout = 10 * time.Second

// maxHeaders is how many bytes the headers of an answer may have.
const maxHeaders = 64 << 10

// Dialer connects to listed hosts alone.
type Dialer struct {
	Hosts Hosts
	Refusal
	Resolver *net.Resolver  // nil: the system's
	Roots    *x509.CertPool // who certifies servers; nil: the system's
}

// Refusal gives the error for a host that leads to an address which is not reached: a blocked one, or a private one.
type Refusal interface {
	Refuse(host string, to netip.Addr, is Reach) error
}

// Dial connects to HOST:PORT, whose text was compared with the list before. The address is checked after its name was
// resolved, before anything is sent to it.
func (d Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	inside := d.Hosts.ListsWithPort(host, port)
	dialer := net.Dialer{
		Timeout: dialTimeout, Resolver: d.Resolver, Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if is := ReachOf(to.Addr()); is == Blocked || is == Private && !inside {
				return d.Refuse(host, to.Addr(), is)
			}
			return nil
		},
	}
	return dialer.DialContext(ctx, network, address)
}

// Transport makes requests through the dialer. Each has a connection of its own, and no proxy. Servers are verified.
func (d Dialer) Transport() *http.Transport {
	return &http.Transport{
		DialContext: d.Dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaders,
		TLSHandshakeTimeout: dialTimeout, TLSClientConfig: &tls.Config{RootCAs: d.Roots, MinVersion: tls.VersionTLS12},
	}
}
