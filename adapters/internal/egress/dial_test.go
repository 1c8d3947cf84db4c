package egress_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"gatehouse/adapters/internal/egress"
	"gatehouse/adapters/internal/egress/egresstest"
	"gatehouse/core"
)

type refusal struct{}

func (refusal) Refuse(host string, to netip.Addr, is egress.Reach) error {
	return core.Errorf(core.NotAllowed, "%s leads to %s (%d)", host, to, is)
}

// The address that is connected to counts, whatever the name says; only a host that is listed by its whole name with
// the port is the admin's word.
func TestDialChecksTheAddressThatTheNameLeadsTo(t *testing.T) {
	reached := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	names := egresstest.Resolver(t, map[string]string{
		"inside.example.com": "127.0.0.1", "ten.example.com": "10.0.0.7", "carrier.example.com": "100.64.0.1",
		"meta.example.com": "169.254.169.254",
		"many.example.com": "224.0.0.1", "mapped.example.com": "::ffff:127.0.0.1",
		"nat64.example.com": "64:ff9b::a00:1", "metanat.example.com": "64:ff9b::a9fe:a9fe",
	})
	h := hosts(t, "inside.example.com:"+port, "meta.example.com:"+port, "metanat.example.com:"+port, "*.example.com",
		"*.example.com:"+port)
	client := &http.Client{Transport: egress.Dialer{Hosts: h, Refusal: refusal{}, Resolver: names}.Transport()}
	for name, want := range map[string]egress.Reach{
		"inside.example.com": egress.Public, "ten.example.com": egress.Private, "carrier.example.com": egress.Private,
		"meta.example.com": egress.Blocked,
		"many.example.com": egress.Blocked, "mapped.example.com": egress.Private, "nat64.example.com": egress.Private,
		"metanat.example.com": egress.Blocked,
	} {
		before := reached
		answer, err := client.Get("http://" + name + ":" + port + "/")
		if err == nil {
			_ = answer.Body.Close()
		}
		switch {
		case want == egress.Public && (err != nil || reached != before+1):
			t.Errorf("%s was not reached: %v", name, err)
		case want != egress.Public &&
			(core.CategoryOf(err) != core.NotAllowed || !strings.HasPrefix(core.MessageOf(err), name+" leads to ") ||
				!strings.HasSuffix(core.MessageOf(err), fmt.Sprintf("(%d)", want))):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	if (egress.Dialer{}).Transport().Proxy != nil {
		t.Error("behind a proxy the address is not known")
	}
}
