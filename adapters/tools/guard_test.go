package tools

import (
	"net/netip"
	"testing"
)

// TestReachOf: an address is judged as what it leads to, however it is written.
func TestReachOf(t *testing.T) {
	for text, want := range map[string]reach{
		"93.184.216.34": public, "2606:2800:220:1:248:1893:25c8:1946": public, "::ffff:93.184.216.34": public, "64:ff9b::5db8:d822": public,

		"127.0.0.1": private, "127.9.9.9": private, "10.1.2.3": private, "172.16.0.1": private, "192.168.1.1": private, "100.64.0.1": private, "::1": private,
		"fd12::1": private, "::ffff:10.0.0.1": private, "::ffff:127.0.0.1": private, "64:ff9b::a00:1": private,

		"169.254.169.254": blocked, "::ffff:169.254.169.254": blocked, "64:ff9b::a9fe:a9fe": blocked, "fe80::1%eth0": blocked, "fd00:ec2::254": blocked,
		"100.100.100.200": blocked, "168.63.129.16": blocked, "0.0.0.0": blocked, "0.1.2.3": blocked, "::": blocked, "::7f00:1": blocked, "255.255.255.255": blocked,
		"224.0.0.1": blocked, "ff02::1": blocked, "2002:7f00:1::": blocked, "2001:0:7f00:1::": blocked, "198.18.0.1": blocked, "fec0::1": blocked,
	} {
		if got := reachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if reachOf(netip.Addr{}) != blocked {
		t.Error("no address is reached")
	}
}
