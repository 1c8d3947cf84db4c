package callback

import (
	"net/netip"
	"net/url"

	"gatehouse/adapters/internal/egress"
	"gatehouse/core"
)

// Hosts are the hosts that decisions may be posted to (GATEHOUSE_CALLBACK_HOSTS). The zero value has none.
type Hosts struct{ egress.Hosts }

// ParseHosts reads a list with commas between its entries: HOST, *.DOMAIN or HOST:PORT. A host that is listed with its
// port may have a private address, and be reached over http. Errors: invalid, with every entry that is wrong.
func ParseHosts(text string) (Hosts, error) {
	h, err := egress.ParseHosts(text)
	return Hosts{h}, err
}

// maxURL is how many bytes a callback_url may have.
const maxURL = 2000

// Check reports why decisions can't be posted to a URL, by its text alone, for whoever gives it. Errors: invalid.
func (h Hosts) Check(address string) error {
	_, err := h.parse(address)
	return err
}

// parse reads a URL and checks it. No error repeats more of it than its host: the rest may be a secret.
func (h Hosts) parse(address string) (*url.URL, error) {
	if len(address) > maxURL {
		return nil,
			core.Errorf(core.Invalid, "The callback_url has %d bytes. Give one of at most %d.", len(address), maxURL)
	}
	u, err := url.Parse(address)
	if err != nil || !egress.IsWeb(u) {
		return nil, core.Errorf(core.Invalid, "The callback_url is no address of https. Write it like "+
			"https://example.com/decisions.")
	}
	exactly := h.ListsWithPort(u.Hostname(), egress.Port(u))
	switch {
	case u.User != nil:
		return nil, core.Errorf(core.Invalid, "The callback_url has a name or a password before @. Leave it out: the "+
			"decision is signed, so its receiver needs none.")
	case u.Fragment != "":
		return nil, core.Errorf(core.Invalid, "The callback_url has a part after #, which is not sent to a server. "+
			"Leave it out.")
	case h.None():
		return nil, core.Errorf(core.Invalid, "Decisions are not posted to a callback_url here. Leave it out and ask "+
			"for the decision, or have an admin list %s in GATEHOUSE_CALLBACK_HOSTS.", egress.At(u))
	case !h.Lists(u):
		return nil, core.Errorf(core.Invalid, "%.200s is not among the hosts for a callback_url. An admin can add it "+
			"to GATEHOUSE_CALLBACK_HOSTS.", egress.At(u))
	case u.Scheme == "http" && !exactly:
		return nil, core.Errorf(core.Invalid, "The callback_url of %s must begin with https://. Over http, decisions "+
			"are posted only to a host that an admin has listed with its port in GATEHOUSE_CALLBACK_HOSTS.",
			egress.At(u))
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		if is := egress.ReachOf(a); is == egress.Blocked || is == egress.Private && !exactly {
			return nil, refuse(core.Invalid, u.Hostname(), a, is)
		}
	}
	return u, nil
}

// refuse is the error for a host whose address is not reached.
func refuse(c core.Category, host string, to netip.Addr, is egress.Reach) error {
	if is == egress.Blocked {
		return core.Errorf(c, "%s leads to the address %s, which is reserved or link-local. No decision is posted "+
			"there. Give another callback_url.", host, to)
	}
	return core.Errorf(c, "%s leads to the private address %s. Decisions are posted there only if an admin lists %s "+
		"with its port in GATEHOUSE_CALLBACK_HOSTS.", host, to, host)
}

// refusal says why a decision was not posted.
type refusal struct{}

func (refusal) Refuse(host string, to netip.Addr, is egress.Reach) error {
	return refuse(core.DeliveryFailed, host, to, is)
}
