package callback_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/callback"
	"gatehouse/adapters/internal/egress/egresstest"
	"gatehouse/core"
)

func TestCheckRefusesWithAReason(t *testing.T) {
	h := hosts(t, "example.com", "*.example.org", "example.net:8443", "*.wild.example:8080", "10.0.0.7:8080",
		"10.0.0.8", "169.254.169.254:80", "[::ffff:10.0.0.9]:443")
	for address, want := range map[string]string{
		"https://example.com/decisions?task=1": "", "https://a.example.org:443/": "", "https://example.net:8443/x": "",
		"http://example.net:8443/x": "",
		"http://10.0.0.7:8080/":     "", "https://10.0.0.7:8080/": "", "https://a.wild.example:8080/": "",

		"":                             "no address of https",
		"/decisions":                   "no address of https",
		"ftp://example.com/":           "no address of https",
		"file:///etc/passwd":           "no address of https",
		"javascript:alert(1)":          "no address of https",
		"https:example.com":            "no address of https",
		"https://":                     "no address of https",
		"https://exa mple.com/":        "no address of https",
		"https://example.com/\r\nX: y": "no address of https",
		"https://u:s3cret@example.com": "before @",
		"https://u@example.com/":       "before @",
		"https://example.com/#s3cret":  "after #",

		"https://other.example/?s3cret":       "other.example is not among the hosts",
		"https://example.org/":                "not among the hosts",
		"https://example.com:8443/":           "example.com:8443 is not among the hosts",
		"https://example.com.evil.example/":   "not among the hosts",
		"https://127.0.0.1/":                  "not among the hosts",
		"https://2130706433/":                 "not among the hosts",
		"https://" + strings.Repeat("a", 999): "not among the hosts",

		"http://example.com/":         "must begin with https://",
		"http://a.wild.example:8080/": "must begin with https://",

		"https://10.0.0.8/":                                "private address 10.0.0.8",
		"http://169.254.169.254/":                          "reserved or link-local",
		"https://[::ffff:10.0.0.9]/":                       "",
		"https://example.com/" + strings.Repeat("a", 1981): "has 2001 bytes. Give one of at most 2000",
		"https://example.com/" + strings.Repeat("a", 1980): "",
	} {
		err := h.Check(address)
		switch {
		case want == "":
			if err != nil {
				t.Errorf("%.100s: %v", address, err)
			}
		case core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), want) ||
			strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%.100s: %v", address, err)
		}
	}
	if err := hosts(t).Check("https://example.com/"); !strings.Contains(core.MessageOf(err),
		"not posted to a callback_url here") {
		t.Errorf("without hosts: %v", err)
	}
}

// The list may have changed since the URL was given: it counts when the decision is sent.
func TestUnlistedHostIsNotReached(t *testing.T) {
	s := receive(t, refuses(t))
	for _, list := range []string{"", "example.com", "127.0.0.1", "127.0.0.1:1"} {
		_, _, err := sender(t, hosts(t, list), nil).Post(t.Context(), decision("http://"+s.at()))
		if core.CategoryOf(err) != core.Invalid {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inner := receive(t, refuses(t))
	for _, code := range []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	} {
		for _, to := range []string{
			"http://" + inner.at() + "/", "http://10.0.0.7/", "http://169.254.169.254/", "/elsewhere",
		} {
			outer := receive(t, func(n int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) })
			_, _, err := sender(t, hosts(t, outer.at(), inner.at()), nil).Post(t.Context(),
				decision("http://"+outer.at()))
			if core.CategoryOf(err) != core.DeliveryFailed ||
				!strings.Contains(core.MessageOf(err), "Redirects are not followed") || len(outer.got()) != 1 {
				t.Errorf("%d to %s: %v after %d requests", code, to, err, len(outer.got()))
			}
		}
	}
}

// The address that a name leads to is checked when it is connected to.
func TestPrivateAddressBehindANameIsNotReached(t *testing.T) {
	s := receive(t, func(n int, _ http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			t.Error("it was reached")
		}
	})
	_, port, _ := strings.Cut(s.at(), ":")
	names := egresstest.Resolver(t, map[string]string{
		"listed.example.com": "127.0.0.1", "inside.example.com": "127.0.0.1", "ten.example.com": "10.0.0.7",
		"carrier.example.com": "100.64.0.1",
		"meta.example.com":    "169.254.169.254", "mapped.example.com": "::ffff:10.0.0.7",
		"nat64.example.com": "64:ff9b::a00:7", "many.example.com": "ff02::1",
	})
	h := hosts(t, "listed.example.com:"+port, "*.example.com:"+port)
	p := sender(t, h, func(c *callback.Config) { c.Resolver = names })
	if _, _, err := p.Post(t.Context(), decision("http://listed.example.com:"+port)); err != nil || len(s.got()) != 1 {
		t.Errorf("listed with its port: %v", err)
	}
	for name, want := range map[string]string{
		"inside": "private address 127.0.0.1", "ten": "private address 10.0.0.7",
		"carrier": "private address 100.64.0.1", "mapped": "private address", "nat64": "private address",
		"meta": "reserved or link-local", "many": "reserved or link-local",
	} {
		address := "https://" + name + ".example.com:" + port + "/?s3cret"
		if err := h.Check(address); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, _, err := p.Post(t.Context(), decision(address))
		if core.CategoryOf(err) != core.DeliveryFailed || !strings.Contains(core.MessageOf(err), want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := p.Post(t.Context(),
		decision("https://unknown.example.com:"+port)); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("a name that is not known now: %v", err)
	}
}
