package egress_test

import (
	"net/url"
	"strings"
	"testing"

	"gatehouse/adapters/internal/egress"
	"gatehouse/core"
)

func hosts(t *testing.T, list ...string) egress.Hosts {
	t.Helper()
	h, err := egress.ParseHosts(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestParseHosts(t *testing.T) {
	h := hosts(t, " Example.com", "*.example.org", "127.0.0.1:8080", "[::1]:81", "")
	if got := h.String(); got != "example.com, *.example.org, 127.0.0.1:8080, [::1]:81" {
		t.Error(got)
	}
	_, err := egress.ParseHosts("https://example.com, ok.example, a b, example.com:0, *, *., x:http, -a.example")
	for _, wrong := range []string{
		`"https://example.com"`, `"a b"`, `"example.com:0"`, `"*"`, `"*."`, `"x:http"`, `"-a.example"`,
	} {
		if core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), wrong) {
			t.Errorf("%s is not named: %v", wrong, err)
		}
	}
	if !hosts(t).None() || h.None() {
		t.Error("only an empty list has none")
	}
}

func TestListsComparesHostAndPort(t *testing.T) {
	h := hosts(t, "example.com", "*.example.org", "example.net:8443", "[2001:DB8::1]:81", "*.wild.example:8443")
	for address, want := range map[string]bool{
		"https://example.com/": true, "http://EXAMPLE.com./x": true, "https://example.com:443/": true,
		"https://example.com:/": true, "https://example.com:80/": false,
		"https://a.b.example.org/": true, "https://example.org/": false, "https://badexample.org/": false,
		"https://.example.org/":     false,
		"https://example.net:8443/": true, "https://example.net/": false, "https://example.net:08443/": false,
		"http://[2001:db8:0::1]:81/": true, "http://[2001:db8::1]/": false, "https://a.wild.example:8443": true,
		"https://a.wild.example":            false,
		"https://example.com.evil.example/": false, "https://example.com@evil.example/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Lists(u); got != want || !egress.IsWeb(u) {
			t.Errorf("%s: %v", address, got)
		}
	}
	for at, want := range map[[2]string]bool{
		{"example.net", "8443"}: true, {"Example.net.", "8443"}: true, {"example.com", "443"}: false,
		{"a.wild.example", "8443"}: false, {"2001:db8::1", "81"}: true,
	} {
		if got := h.ListsWithPort(at[0], at[1]); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

func TestAtNamesThePortThatIsNotTheSchemesOwn(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/x": "a.example", "http://a.example:80": "a.example", "https://a.example:80": "a.example:80",
		"http://[::1]:8080/": "[::1]:8080",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := egress.At(u); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	for _, address := range []string{
		"ftp://a.example", "file:///etc/passwd", "https:a.example", "a.example", "https://", "https://:443/",
	} {
		if u, err := url.Parse(address); err == nil && egress.IsWeb(u) {
			t.Errorf("%s is taken for an address of the web", address)
		}
	}
}
