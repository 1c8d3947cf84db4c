package main

import (
	"fmt"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// Two processes on one Postgres serve one bot. One of them has the connection. When it is killed, the other connects as
// soon as the lease has expired: it resumes the session or, if Discord has forgotten it, begins a new one. Every
// message is answered once.
func TestLaw2_DiscordWhenTheConnectedReplicaIsKilled(t *testing.T) {
	t.Parallel()
	p := newDiscordProcess(t, postgresServer, discordtest.Options{}, "GATEHOUSE_AGENT=echo",
		"GATEHOUSE_ECHO_DELAY=300ms")
	p.open()
	p.waitConnected()
	all := p.newConversations(6, 2, 2)
	for _, c := range all {
		p.sendNext(c)
	}
	for i := range 2 {
		first := p.app
		address := freeAddress(t)
		p.at, p.base = "http://"+address, "http://"+address
		p.open("GATEHOUSE_LISTEN=" + address)
		p.testGateway.ready(200) // a replica without the connection is ready too
		p.until("the first message of every conversation", p.app, func() bool { return p.known(all) })
		for _, c := range all {
			p.sendNext(c)
		}
		if i == 1 {
			p.discord.ForgetSessions()
		}
		connections := func() int { return len(p.discord.Identifies()) + p.resumed() }
		before := connections()
		first.kill()
		for _, c := range all {
			p.sendNext(c)
		}
		// the first one's connection may look open for a moment
		p.untilRestarting("a connection of the other replica", func() bool { return connections() > before })
		p.waitConnected()
		if got, want := fmt.Sprint(len(p.discord.Identifies()), p.resumed()), []string{"1 1", "2 1"}[i]; got != want {
			t.Errorf("after kill %d: sessions begun and resumed: %s, want %s", i+1, got, want)
		}
		for _, c := range all {
			p.sendNext(c)
		}
		p.waitForAnswers(all)
	}
	p.app.kill()
}
