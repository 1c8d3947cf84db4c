package egress

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Hosts are the hosts that may be reached. The zero value has none.
type Hosts struct{ listed []listed }

// listed is one entry.
type listed struct {
	name  string // in small letters; of a wildcard what follows the star, with its dot
	below bool   // *.name: the hosts below it, and not itself
	port  string // "" = that of http or https
}

var hostName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$`)

// ParseHosts reads a list with commas between its entries: HOST, *.DOMAIN or HOST:PORT. A host that is listed with its
// port may have a private address. Errors: invalid, with every entry that is wrong.
func ParseHosts(text string) (Hosts, error) {
	var h Hosts
	var wrong []string
	for _, entry := range strings.Split(text, ",") {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if entry == "" {
			continue
		}
		one, ok := parseHost(entry)
		if !ok {
			wrong = append(wrong, strconv.Quote(entry))
			continue
		}
		h.listed = append(h.listed, one)
	}
	if len(wrong) > 0 {
		return Hosts{}, core.Errorf(core.Invalid, "%s: write each host as example.com, *.example.com or "+
			"example.com:8443, without https:// and path", strings.Join(wrong, ", "))
	}
	return h, nil
}

func parseHost(entry string) (one listed, ok bool) {
	one.name = entry
	if host, port, err := net.SplitHostPort(entry); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return one, false
		}
		one.name, one.port = host, strconv.FormatUint(n, 10)
	} else {
		one.name = strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]")
	}
	if a, err := netip.ParseAddr(one.name); err == nil {
		one.name = a.String()
		return one, true
	}
	if rest, found := strings.CutPrefix(one.name, "*."); found {
		one.name, one.below = "."+rest, true
		return one, hostName.MatchString(rest)
	}
	return one, hostName.MatchString(one.name)
}

// None reports whether no host is listed.
func (h Hosts) None() bool { return len(h.listed) == 0 }

// String lists the hosts for people.
func (h Hosts) String() string {
	names := make([]string, len(h.listed))
	for i, one := range h.listed {
		names[i] = one.name
		if one.below {
			names[i] = "*" + one.name
		}
		if one.port != "" {
			names[i] = net.JoinHostPort(names[i], one.port)
		}
	}
	return strings.Join(names, ", ")
}

// Lists reports whether the host of a URL of http or https is listed for the port of that URL.
func (h Hosts) Lists(u *url.URL) bool {
	port := Port(u)
	return h.find(u.Hostname(), func(l listed) bool {
		return l.port == port || l.port == "" && port == standardPort(u)
	})
}

// ListsWithPort reports whether a host is listed by its whole name with this port. It may have a private address.
func (h Hosts) ListsWithPort(host, port string) bool {
	return h.find(host, func(l listed) bool { return l.port == port && !l.below })
}

// find looks for an entry of a host that also fulfils a condition.
func (h Hosts) find(host string, also func(listed) bool) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.String()
	}
	return slices.ContainsFunc(h.listed, func(l listed) bool {
		same := l.name == host
		if l.below {
			same = strings.HasSuffix(host, l.name) && len(host) > len(l.name)
		}
		return same && also(l)
	})
}

// IsWeb reports whether a URL is one of http or https with a host.
func IsWeb(u *url.URL) bool { return standardPort(u) != "" && u.Hostname() != "" && u.Opaque == "" }

// Port is the port that a URL of http or https leads to.
func Port(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return standardPort(u)
}

// At is the host that a URL leads to, with the port if that is not the scheme's own, for people.
func At(u *url.URL) string {
	if port := Port(u); port != standardPort(u) {
		return net.JoinHostPort(u.Hostname(), port)
	}
	return u.Hostname()
}

func standardPort(u *url.URL) string {
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
