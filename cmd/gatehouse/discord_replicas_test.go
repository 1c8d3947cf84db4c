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
	h := newHall(t, postgresServer, discordtest.Options{}, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
	h.open()
	h.waitConnected()
	all := h.talks(6, 2, 2)
	for _, c := range all {
		h.says(c)
	}
	for i := range 2 {
		first := h.app
		address := freeAddress(t)
		h.at, h.base = "http://"+address, "http://"+address
		h.open("GATEHOUSE_LISTEN=" + address)
		h.served.ready(200) // since the first is connected
		h.until("that all conversations are known", h.app, func() bool { return h.known(all) })
		for _, c := range all {
			h.says(c)
		}
		if i == 1 {
			h.discord.ForgetSessions()
		}
		connections := func() int { return len(h.discord.Identifies()) + h.resumed() }
		before := connections()
		first.kill()
		for _, c := range all {
			h.says(c)
		}
		h.survive("a connection of the other replica", func() bool { return connections() > before }) // the first one's may look alive for a moment
		h.waitConnected()
		if got, want := fmt.Sprint(len(h.discord.Identifies()), h.resumed()), []string{"1 1", "2 1"}[i]; got != want {
			t.Errorf("after kill %d: sessions begun and resumed: %s, want %s", i+1, got, want)
		}
		for _, c := range all {
			h.says(c)
		}
		h.answeredAll(all)
	}
	h.app.kill()
}
