package main

import (
	"fmt"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// Two processes on one Postgres serve one bot. One of them has the connection; when it is killed the other connects in its place as soon as the lease is
// over: it goes on with the session or, where Discord has forgotten that, begins one. Every message is answered once.
func TestLaw2_DiscordWhenTheReplicaThatHearsIsKilled(t *testing.T) {
	t.Parallel() // it waits most of the time
	p := newDiscordProcess(t, postgresServer, discordtest.Options{}, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
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
		p.testGateway.ready(200) // since the first is connected
		p.until("that all conversations are known", p.app, func() bool { return p.known(all) })
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
		p.untilRestarting("a connection of the other replica", func() bool { return connections() > before }) // the first one's may look alive for a moment
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
