package main

import (
	"fmt"
	"net/url"
	"testing"

	"gatehouse/core"
)

// TestEachStateOfThePagesOfAdmins is looked at: the queue with a turn that was given up, the question before it is
// tried again, the sessions and one of them, the form that changes arguments, and a phone's list of conversations.
func TestEachStateOfThePagesOfAdmins(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	w := newBrowser(t).newWindow(p.at, "/?session=shop")
	w.logIn(annsToken)
	w.shows("Connected")
	w.writes("call shop.refund " + refund)
	w.until("the card", "document.querySelector('.card')")
	p.start(nil, "pause").ok(t)
	w.writes("calc 1+1")
	p.until("the message waits", p.app, func() bool { return len(p.events(core.EventFilter{Waiting: true})) == 1 })
	wearOut(t, p.url)
	p.start(nil, "unpause").ok(t)
	w.until("the turn was given up", "document.querySelector('.item.error')")
	w.until("it stands below its message", "[...document.querySelectorAll('#log .item')].findIndex(n => "+
		"n.matches('.error')) > [...document.querySelectorAll('#log .item')].findIndex(n => "+
		"n.innerText.includes('calc 1+1'))")
	dead := p.events(core.EventFilter{Ends: []core.EndKind{core.EndDead}})
	if len(dead) != 1 {
		t.Fatalf("the dead turns: %+v", dead)
	}
	open := p.approvals(core.Open)[0]
	look := func(name, path, shows string) {
		t.Helper()
		w.to(path)
		w.shows(shows)
		w.inspect(name)
	}
	look("queue", "/queue", "Dead turns")
	look("deadletter", fmt.Sprintf("/queue?turn=%d", dead[0].Seq), "Shall it be tried again?")
	look("sessions", "/sessions", "ann on the web (shop)")
	look("sessions-none", "/sessions?by=eve", "No session fits the filter.")
	look("session", "/sessions?id="+url.QueryEscape(string(open.Session)), "shop.refund")
	look("edit", "/approvals/"+string(open.ID)+"?edit=1", "Change the arguments")
	w.as(390, 844, "light")
	w.to("/?session=shop")
	w.shows("Connected")
	eval[any](w, "document.querySelector('#mineopen').click()")
	w.until("the drawer", "document.querySelector('#conversations').matches(':popover-open')")
	w.keeps("conversations-light-390")
}
