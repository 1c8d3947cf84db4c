package discord_test

import "testing"

// What is counted is sessions that are begun, and not tries to reach the gateway: after an outage of hours there are as many left as before.
func TestAGatewayThatCannotBeReachedCostsNoIdentification(t *testing.T) {
	r := hear(t, setup{before: func(r *inbound) { r.RefuseConnections(true) }})
	r.eventually("some tries", func() bool { return r.CountCalls("GET /gateway/bot") > 10 })
	r.RefuseConnections(false)
	r.known()
	if n := r.drawer.used("discord/identify"); n != 1 || len(r.Identifies()) != 1 {
		t.Errorf("%d identifications are counted, and there were %d", n, len(r.Identifies()))
	}
}
