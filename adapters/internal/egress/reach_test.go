package egress_test

import (
	"net/netip"
	"testing"

	"gatehouse/adapters/internal/egress"
)

// TestReachOf: an address is judged as what it leads to, however it is written.
func TestReachOf(t *testing.T) {
	for text, want := range map[string]egress.Reach{
		"93.184.216.34": egress.Public, "2606:2800:220:1:248:1893:25c8:1946": egress.Public,
		"::ffff:93.184.216.34": egress.Public, "64:ff9b::5db8:d822": egress.Public,

		"127.0.0.1": egress.Private, "127.9.9.9": egress.Private, "10.1.2.3": egress.Private,
		"172.16.0.1": egress.Private, "192.168.1.1": egress.Private, "100.64.0.1": egress.Private,
		"::1":     egress.Private,
		"fd12::1": egress.Private, "::ffff:10.0.0.1": egress.Private, "::ffff:127.0.0.1": egress.Private,
		"64:ff9b::a00:1": egress.Private,

		"169.254.169.254": egress.Blocked, "::ffff:169.254.169.254": egress.Blocked,
		"64:ff9b::a9fe:a9fe": egress.Blocked, "fe80::1%eth0": egress.Blocked, "fd00:ec2::254": egress.Blocked,
		"100.100.100.200": egress.Blocked, "168.63.129.16": egress.Blocked, "0.0.0.0": egress.Blocked,
		"0.1.2.3": egress.Blocked, "::": egress.Blocked, "::7f00:1": egress.Blocked, "255.255.255.255": egress.Blocked,
		"224.0.0.1": egress.Blocked, "ff02::1": egress.Blocked, "2002:7f00:1::": egress.Blocked,
		"2001:0:7f00:1::": egress.Blocked, "198.18.0.1": egress.Blocked, "fec0::1": egress.Blocked,
	} {
		if got := egress.ReachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if egress.ReachOf(netip.Addr{}) != egress.Blocked {
		t.Error("no address is reached")
	}
}
