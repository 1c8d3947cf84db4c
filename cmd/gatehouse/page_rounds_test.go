package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// valve is a proxy in front of gatehouse. Closed, it keeps its connections, takes further ones, and forwards nothing.
type valve struct {
	at string // its address, as a URL

	mu     sync.Mutex
	opened *sync.Cond
	closed bool
	all    []net.Conn
}

// newValve opens a proxy to a program.
func newValve(t *testing.T, to string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	v := &valve{at: "http://" + l.Addr().String()}
	v.opened = sync.NewCond(&v.mu)
	t.Cleanup(func() {
		l.Close()
		v.open(true)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go v.forward(c, strings.TrimPrefix(to, "http://"))
		}
	}()
	return v
}

func (v *valve) forward(c net.Conn, to string) {
	defer c.Close()
	v.pass()
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	v.mu.Lock()
	v.all = append(v.all, c, up)
	v.mu.Unlock()
	done := make(chan struct{}, 2)
	pipe := func(to, from net.Conn) {
		defer func() { done <- struct{}{} }()
		part := make([]byte, 32<<10)
		for {
			n, err := from.Read(part)
			v.pass()
			if _, failed := to.Write(part[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go pipe(up, c)
	go pipe(c, up)
	<-done
}

// pass waits while the valve is closed.
func (v *valve) pass() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.closed {
		v.opened.Wait()
	}
}

func (v *valve) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
}

// open lets through again what comes, and what was held: late, or never where the connections are cut.
func (v *valve) open(cut bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if cut {
		for _, c := range v.all {
			c.Close()
		}
		v.all = nil
	}
	v.closed = false
	v.opened.Broadcast()
}

// desk is one person's browser with two tabs of the chat.
type desk struct {
	name  string
	tabs  [2]*window
	wrote map[string][]string // what was sent from this browser and not discarded, by the name of its page
	count int
}

// writes sends a message from one of the tabs as who is logged in. Each text is written once in all.
func (d *desk) writes(tab int, who string) {
	d.count++
	text := fmt.Sprintf("calc %d+%s", d.count, d.number())
	if d.count%5 == 0 {
		text = fmt.Sprintf("note add %d for %s", d.count, d.number())
	}
	d.tabs[tab].say(text)
	d.wrote[who] = append(d.wrote[who], text)
}

// number is the browser's own in what it writes.
func (d *desk) number() string { return map[string]string{"ann": "1", "bob": "2", "eve": "3"}[d.name] }

// leaves logs out in the first tab, whatever is unsent, and logs in again. Meanwhile, if that is wanted, another person
// logs in there and says something; the second tab is not theirs.
func (d *desk) leaves(tokens map[string]string, other string, comes bool) {
	first, second := d.tabs[0], d.tabs[1]
	logOut := func() {
		first.press("Log out")
		first.until("the log-out, or the question", "location.pathname === '/login' || "+
			"document.querySelector('dialog[open]')")
		if eval[bool](first, "location.pathname !== '/login'") {
			eval[any](first, "document.querySelector('dialog[open] .primary').click()")
			first.until("the log-out", "location.pathname === '/login'")
		}
	}
	logOut()
	if comes {
		first.logIn(tokens[other])
		first.shows("Connected")
		second.until("the second tab is another person's or says so", "document.body.dataset.who !== "+quoted(d.name)+
			" || document.querySelector('#away')")
		d.writes(0, other)
		logOut()
	}
	first.logIn(tokens[d.name])
	first.shows("Connected")
	second.goesTo("/")
	second.shows("Connected")
}

// goesTo opens another page in a tab. The page that is there may load itself anew at the same moment, which the browser
// calls an error.
func (w *window) goesTo(path string) {
	w.t.Helper()
	for {
		err := chromedp.Do(w.ctx, chromedp.Navigate(w.at+path))
		if err == nil {
			return
		}
		if w.ctx.Err() != nil || !strings.Contains(err.Error(), "ERR_ABORTED") {
			w.t.Fatal(err)
		}
	}
}

// approves approves what waits on the page of approvals, as whoever is logged in at a desk.
func approves(t *testing.T, p *serveProcess, d *desk) {
	t.Helper()
	w := d.tabs[1]
	w.goesTo("/approvals")
	for {
		open := len(p.approvals(core.Open))
		if open == 0 || !eval[bool](w, waitingRow) {
			break
		}
		w.opens("")
		w.press("Approve")
		p.until("an approval", p.app, func() bool { return len(p.approvals(core.Open)) < open })
		w.goesTo("/approvals")
	}
	w.goesTo("/")
	w.shows("Connected")
}

const waitingRow = "Boolean(document.querySelector('[data-group=mine] .ask'))"

var written = regexp.MustCompile(`(calc \d+\+|note add \d+ for )(\d)`)

// TestPeopleWriteThroughFaults: three people in two tabs each write, approve, and log in and out, while gatehouse is
// killed or a proxy forwards nothing. What they have sent is stored once, in order, as what they have said, and so is
// what another person says in their browser; what they approved has run once.
func TestPeopleWriteThroughFaults(t *testing.T) {
	t.Parallel()
	tokens := map[string]string{"ann": annsToken, "bob": bobsToken, "eve": "token-of-eve-0123456789"}
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken, "eve!=" + tokens["eve"]})
	v := newValve(t, p.at)
	var desks []*desk
	for _, name := range []string{"ann", "bob", "eve"} {
		d := &desk{name: name, wrote: map[string][]string{}}
		b := newBrowser(t)
		for i := range d.tabs {
			d.tabs[i] = b.newWindow(v.at, "/")
			d.tabs[i].down(true) // failed requests are what this test is about
			if i == 0 {
				d.tabs[i].logIn(tokens[name])
			}
			d.tabs[i].shows("Connected")
		}
		desks = append(desks, d)
	}
	for round := range wide(20, 3) {
		rng := rand.New(rand.NewPCG(uint64(round), 1))
		lasts := time.Duration(wide(5+rng.IntN(25), 1+rng.IntN(2))) * time.Second
		if round%10 == 9 {
			lasts = wide(120*time.Second, lasts)
		}
		kills := round%2 == 0
		over := time.After(lasts)
		if kills {
			p.app.kill()
		} else {
			v.close()
		}
		t.Logf("round %d: killed: %v, for %s", round, kills, lasts)
		for _, i := range rng.Perm(len(desks)) {
			for range 1 + rng.IntN(3) {
				desks[i].writes(rng.IntN(2), desks[i].name)
			}
		}
		<-over
		if kills {
			p.open()
		} else {
			v.open(rng.IntN(2) == 0)
		}
		d := desks[round%len(desks)]
		d.leaves(tokens, desks[(round+1)%len(desks)].name, round%2 == 0)
		approves(t, p, desks[1+round%2])
	}
	for _, d := range desks {
		for _, w := range d.tabs {
			w.run(chromedp.Reload())
			w.shows("Connected")
		}
	}
	stored := func(who, number string) (texts []string) {
		for _, e := range p.events(core.EventFilter{Conversation: core.ConversationID("openharness:oh/" + who + "/web"),
			Kinds: []core.Kind{core.KindMessage}}) {
			if m := written.FindSubmatch(e.Payload); m != nil && string(m[2]) == number {
				texts = append(texts, string(m[0]))
				if e.Actor.ID != "openharness:"+who {
					t.Errorf("%s was said as %s", m[0], e.Actor.ID)
				}
			}
		}
		slices.Reverse(texts) // oldest first
		return texts
	}
	for _, d := range desks {
		for _, who := range []string{"ann", "bob", "eve"} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for len(stored(who, d.number())) < len(d.wrote[who]) && ctx.Err() == nil {
				d.tabs[0].shows("Connected")
			}
			if got := stored(who, d.number()); !slices.Equal(got, d.wrote[who]) {
				t.Errorf("%s wrote at the desk of %s:\n%q\nstored is:\n%q", who, d.name, d.wrote[who], got)
			}
		}
	}
	approves(t, p, desks[1])
	for _, who := range []string{"ann", "bob", "eve"} {
		notes := p.notesOf(who, "web")
		if distinct := slices.Compact(slices.Sorted(slices.Values(notes))); len(distinct) != len(notes) {
			t.Errorf("a note of %s was added twice: %q", who, notes)
		}
	}
}
