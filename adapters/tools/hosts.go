package tools

import (
	"net/http"
	"net/netip"
	"net/url"

	"gatehouse/adapters/internal/egress"
	"gatehouse/core"
)

// Hosts are the hosts that tools may reach (GATEHOUSE_FETCH_HOSTS). The zero value has none.
type Hosts struct{ egress.Hosts }

// ParseHosts reads a list with commas between its entries: HOST, *.DOMAIN or HOST:PORT. A host that is listed with its
// port may have a private address. Errors: invalid, with every entry that is wrong.
func ParseHosts(text string) (Hosts, error) {
	h, err := egress.ParseHosts(text)
	return Hosts{h}, err
}

// permit checks that an address may be requested, by its text alone. Errors: tool_arguments.
func (h Hosts) permit(u *url.URL) error {
	switch {
	case !egress.IsWeb(u):
		return core.Errorf(core.ToolArguments,
			"%.200q is no address that can be fetched. Write it like https://example.com/page.", u.Redacted())
	case u.User != nil:
		return core.Errorf(core.ToolArguments, "An address with a name or a password before @ is not fetched.")
	case !h.Lists(u):
		return core.Errorf(core.ToolArguments,
			"%.200s is not among the hosts that an admin has listed in GATEHOUSE_FETCH_HOSTS, so it was not reached.",
			egress.At(u))
	}
	return nil
}

// refusal says why a host was not reached.
type refusal struct{}

// Refuse is the error for a host whose address is not reached.
func (refusal) Refuse(host string, to netip.Addr, is egress.Reach) error {
	if is == egress.Blocked {
		return core.Errorf(core.ToolFailed,
			"%s leads to the address %s, which is reserved or link-local, so it was not reached.", host, to)
	}
	return core.Errorf(core.ToolFailed,
		"%s leads to the private address %s, so it was not reached. An admin can list %s with its port in "+
			"GATEHOUSE_FETCH_HOSTS.", host, to, host)
}

// maxRedirects bounds how often a server may point elsewhere.
const maxRedirects = 5

// client makes requests to the listed hosts alone. Each has a connection of its own.
func (h Hosts) client(followsRedirects bool) *http.Client {
	return &http.Client{
		Transport: egress.Dialer{Hosts: h.Hosts, Refusal: refusal{}}.Transport(),
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !followsRedirects {
				return http.ErrUseLastResponse
			}
			if len(via) > maxRedirects {
				return core.Errorf(core.ToolFailed, "%s leads from one address to the next, more than %d times.",
					via[0].URL.Host, maxRedirects)
			}
			return h.permit(r.URL)
		},
	}
}
