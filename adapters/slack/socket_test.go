package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

const opening = "apps.connections.open"

// socketed starts a platform with one socket.
func socketed(t *testing.T, s setup) *running {
	t.Helper()
	if s.config == nil {
		s.config = overSocket
	}
	return start(t, s).known()
}

// newest is the socket that was opened last.
func (r *running) newest() *slacktest.Socket {
	r.t.Helper()
	all := r.Sockets()
	if len(all) == 0 {
		r.t.Fatal("there is no socket")
	}
	return all[len(all)-1]
}

// sockets waits until n sockets have been opened in total, and returns the last one.
func (r *running) sockets(n int) *slacktest.Socket {
	r.t.Helper()
	if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool { return len(r.Sockets()) >= n }); err != nil {
		r.t.Fatalf("%v; the log:\n%s", err, r.log)
	}
	return r.Sockets()[n-1]
}

// ends waits until Run ends by itself and returns its error.
func (r *running) ends() error {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-r.ctx.Done():
		r.t.Fatalf("Run did not end; the log:\n%s", r.log)
	}
	return r.err
}

func TestLaw9_ASilentSocketIsNoticedAndReplaced(t *testing.T) {
	r := socketed(t, setup{fake: slacktest.Options{PingEvery: 50 * time.Millisecond}})
	first := r.newest()
	r.eventually("some pings", func() bool { return first.State().Pongs >= 4 })
	held := r.Inject(slacktest.Fault{Endpoint: opening, Trouble: slacktest.Held()})
	first.GoSilent()
	lost := r.ann.Says("is anybody there?") // sent over the silent socket
	r.eventually("that nothing is received", func() bool { inbound, _ := r.p.Health(); return inbound != nil })
	held.Lift()
	r.sockets(2)
	r.one(lost.Deliveries...)
	r.eventually("that events arrive again", func() bool { inbound, _ := r.p.Health(); return inbound == nil })
}

func TestTheNextSocketIsOpenBeforeTheOldOneIsClosed(t *testing.T) {
	for _, reason := range []string{"refresh_requested", "warning"} {
		t.Run(reason, func(t *testing.T) {
			n := adaptertest.NewTimers()
			r := socketed(t, setup{before: func(r *running) { r.p.Sleeping(n.Sleep) }})
			first := r.newest()
			first.Disconnect(reason)
			second := r.sockets(2)
			if !first.State().Open || !second.State().Open {
				t.Fatalf("the sockets are %+v and %+v", first.State(), second.State())
			}
			for i := range 6 { // they are given to both in turn
				r.one(r.ann.Says(fmt.Sprint("number ", i)).Deliveries...)
			}
			for _, k := range []*slacktest.Socket{first, second} {
				if s := k.State(); s.Sent != 3 || s.Acked != 3 {
					t.Errorf("socket %d was given %d and acknowledged %d, want 3", k.ID, s.Sent, s.Acked)
				}
			}
			r.eventually("the end of the old one's time", func() bool { return n.Count(slack.GraceTime) == 1 })
			n.Fire(slack.GraceTime)
			if err := r.WaitForSockets(r.ctx, 1); err != nil {
				t.Fatal(err)
			}
			if !second.State().Open {
				t.Error("the wrong one was left")
			}
			if inbound, _ := r.p.Health(); inbound != nil {
				t.Errorf("nothing is received: %v", inbound)
			}
		})
	}
}

func TestManyRefreshesOpenAtMostTwoSockets(t *testing.T) {
	r := socketed(t, setup{})
	for n := range 15 {
		k := r.sockets(n + 1)
		k.Disconnect("refresh_requested")
		k.Disconnect("warning")
	}
	r.sockets(16)
	if err := r.WaitForSockets(r.ctx, 2); err != nil {
		t.Fatal(err)
	}
	const notice = time.Second / 2 // the fake may be slow to see that one was closed
	all := r.Sockets()
	for n := 2; n < len(all); n++ {
		if closed, opened := all[n-2].State().ClosedAt, all[n].State().OpenedAt; closed.IsZero() ||
			closed.After(opened.Add(notice)) {
			t.Errorf("socket %d was closed at %v, socket %d opened at %v", n-1, closed, n+1, opened)
		}
	}
	r.one(r.ann.Says("still here").Deliveries...)
}

func TestTheOldSocketIsKeptWhileNoNewOneCanBeOpened(t *testing.T) {
	r := socketed(t, setup{})
	fault := r.Inject(slacktest.Fault{Endpoint: opening, Trouble: slacktest.ServerError(503), Times: 5})
	r.newest().Disconnect("refresh_requested")
	r.one(r.ann.Says("meanwhile").Deliveries...)
	r.sockets(2)
	if fault.Hits() != 5 {
		t.Errorf("it asked %d times in vain, want 5", fault.Hits())
	}
	r.one(r.ann.Says("after").Deliveries...)
}

func TestTheOldSocketIsReadWhenTheNewOneBreaksAtOnce(t *testing.T) {
	n := adaptertest.NewTimers()
	r := socketed(t, setup{before: func(r *running) { r.p.Sleeping(n.Sleep) }})
	first := r.newest()
	first.Disconnect("warning")
	second := r.sockets(2)
	held := r.Inject(slacktest.Fault{Endpoint: opening, Trouble: slacktest.Held()})
	second.Reset()
	if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool { return held.Waiting() == 1 }); err != nil {
		t.Fatal(err)
	}
	if !first.State().Open {
		t.Fatal("the old socket was left, and there is no other")
	}
	r.one(r.ann.Says("hello").Deliveries...)
	held.Lift()
	r.sockets(3)
	r.one(r.ann.Says("hello again").Deliveries...)
}

func TestABrokenSocketIsReplaced(t *testing.T) {
	r := socketed(t, setup{})
	r.newest().Reset()
	r.sockets(2).Close()
	r.sockets(3)
	r.one(r.ann.Says("hello").Deliveries...)
}

func TestABrokenSocketIsReplacedWhileACommitHangs(t *testing.T) {
	r := socketed(t, setup{})
	open := make(chan struct{})
	stuck := r.DMWith("U1ANN")
	other := r.beside(stuck)
	r.inbox.Hold(open, func(e core.Event) bool { return e.Address.Channel == stuck })
	hung := r.ann.Says("this hangs").Deliveries
	r.inbox.WaitFor("the event", func() bool { return len(r.inbox.Tried) == 1 })
	r.newest().Reset()
	r.sockets(2)
	p := r.bob.Posts(other, r.MentionOfBot()+" this does not")
	for _, d := range p.Deliveries {
		if err := d.Wait(r.ctx); err != nil {
			t.Error(err)
		}
	}
	close(open)
	if got := r.taken(hung...); len(got) != 2 {
		t.Errorf("%d events were stored, want 2", len(got))
	}
}

func TestEventsBeforeTheFirstSocketAreReceived(t *testing.T) {
	var early slacktest.Posted
	r := socketed(t, setup{before: func(r *running) { early = r.ann.Says("before you came") }})
	r.one(early.Deliveries...)
	if a := early.Deliveries[0].Attempts(); a[0].Retry == 0 {
		t.Errorf("it was not marked as a retry: %+v", a)
	}
}

func TestSocketModeSwitchedOffEndsRun(t *testing.T) {
	r := socketed(t, setup{})
	r.newest().Disconnect("link_disabled")
	if err := r.ends(); core.CategoryOf(err) != core.Unsupported ||
		!strings.Contains(core.MessageOf(err), "Socket Mode is switched off") {
		t.Errorf("Run gave %v", err)
	}
}

func TestAnAppTokenThatIsRefusedAtStartEndsRun(t *testing.T) {
	for name, c := range map[string]struct {
		trouble slacktest.Trouble
		says    string
	}{
		"invalid_auth":  {slacktest.Refused("invalid_auth"), "Slack refuses SLACK_APP_TOKEN"},
		"revoked":       {slacktest.Refused("token_revoked"), "Slack refuses SLACK_APP_TOKEN"},
		"missing scope": {slacktest.MissesScope("connections:write"), "connections:write"},
		"switched off":  {slacktest.Refused("link_disabled"), "Socket Mode is switched off"},
		"wrong token":   {slacktest.Refused("not_allowed_token_type"), "Slack refuses SLACK_APP_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{config: overSocket, before: func(r *running) {
				r.Inject(slacktest.Fault{Endpoint: opening, Trouble: c.trouble})
			}})
			if err := r.ends(); err == nil || !strings.Contains(core.MessageOf(err), c.says) {
				t.Errorf("Run gave %v", err)
			}
		})
	}
}

func TestAnAppThatMayNoLongerOpenSocketsEndsRun(t *testing.T) {
	for says, trouble := range map[string]slacktest.Trouble{"connections:write": slacktest.MissesScope(
		"connections:write"), "Socket Mode is switched off": slacktest.Refused("link_disabled")} {
		r := socketed(t, setup{})
		r.Inject(slacktest.Fault{Endpoint: opening, Trouble: trouble})
		r.newest().Disconnect("refresh_requested") // and the old one stays open
		if err := r.ends(); err == nil || !strings.Contains(core.MessageOf(err), says) {
			t.Errorf("Run gave %v", err)
		}
	}
}

// alive fails the test if Run has ended.
func (r *running) alive() {
	r.t.Helper()
	select {
	case <-r.ended:
		r.t.Fatalf("Run ended: %v", r.err)
	default:
	}
}

// A token that Slack has accepted may be refused for a moment, by a fault of Slack's.
func TestOneRefusalOfTheAppTokenDoesNotEndRun(t *testing.T) {
	for _, word := range []string{"invalid_auth", "org_login_required", "token_revoked", "account_inactive"} {
		t.Run(word, func(t *testing.T) {
			n := adaptertest.NewTimers()
			r := socketed(t, setup{before: func(r *running) { r.p.Sleeping(n.Sleep) }})
			r.Inject(slacktest.Fault{Trouble: slacktest.Refused(word), Endpoint: opening, Times: 1})
			first := r.newest()
			first.Disconnect("refresh_requested")
			r.eventually("a wait", func() bool { return n.Count(slack.RefusedWait) == 1 })
			r.one(r.ann.Says("meanwhile").Deliveries...) // the old socket is still read
			n.Fire(slack.RefusedWait)
			r.sockets(2)
			first.Reset()
			r.one(r.ann.Says("hello").Deliveries...)
			r.alive()
		})
	}
}

func TestRefusalsOfTheAppTokenThatAuthTestDoesNotConfirmDoNotEndRun(t *testing.T) {
	n := adaptertest.NewTimers()
	r := socketed(t, setup{before: func(r *running) { r.p.Sleeping(n.Sleep) }})
	refused := r.Inject(slacktest.Fault{Trouble: slacktest.Refused("invalid_auth"), Endpoint: opening})
	r.newest().Reset()
	for i := range 6 {
		r.eventually("a wait", func() bool { return n.Count(slack.RefusedWait) == i+1 })
		if hits := refused.Hits(); hits != i+1 {
			t.Fatalf("it asked %d times, want %d", hits, i+1)
		}
		if i == 5 {
			refused.Lift()
		}
		n.Fire(slack.RefusedWait)
	}
	r.sockets(2)
	r.one(r.ann.Says("hello").Deliveries...)
	r.alive()
}

func TestAnAppTokenThatIsRevokedEndsRunOnceAuthTestConfirmsIt(t *testing.T) {
	n := adaptertest.NewTimers()
	r := socketed(t, setup{before: func(r *running) { r.p.Sleeping(n.Sleep) }})
	before := r.CountCalls(opening)
	r.RevokeAppToken()
	r.newest().Disconnect("refresh_requested") // and the old one stays open
	for i := range 2 {
		r.eventually("a wait", func() bool { return n.Count(slack.RefusedWait) == i+1 })
		r.alive()
		n.Fire(slack.RefusedWait)
	}
	if err := r.ends(); core.CategoryOf(err) != core.Unauthorized ||
		!strings.Contains(core.MessageOf(err), "Make a new app-level token") {
		t.Errorf("Run gave %v", err)
	}
	if n := r.CountCalls(opening) - before; n != 3 {
		t.Errorf("it asked %d times, want 3", n)
	}
}

func TestTooManySocketsCauseOneDelayedRetry(t *testing.T) {
	full := func() float64 { return 1 }
	t.Run("after the hello", func(t *testing.T) {
		n := adaptertest.NewTimers()
		r := socketed(t, setup{slack: core.Deps{Jitter: full}, before: func(r *running) { r.p.Sleeping(n.Sleep) }})
		r.newest().Disconnect("too_many_websockets")
		r.eventually("a long wait", func() bool { return n.Count(slack.CrowdedWait) == 1 })
		if calls := r.CountCalls(opening); calls != 1 {
			t.Errorf("it asked for a socket %d times, want once", calls)
		}
		n.Fire(slack.CrowdedWait)
		r.eventually("a wait after a short life", func() bool { return n.Count(slack.FirstRedial) == 1 })
		n.Fire(slack.FirstRedial)
		r.sockets(2)
	})
	t.Run("before the hello", func(t *testing.T) {
		n := adaptertest.NewTimers()
		r := start(t, setup{config: overSocket, slack: core.Deps{Jitter: full}, before: func(r *running) {
			r.p.Sleeping(n.Sleep)
			r.crowd()
		}})
		r.eventually("a long wait", func() bool { return n.Count(slack.CrowdedWait) == 1 })
		if calls := r.CountCalls(opening); calls != slacktest.MaxSockets+1 {
			t.Errorf("it asked for a socket %d times, want once", calls-slacktest.MaxSockets)
		}
		r.Sockets()[0].Close()
		n.Fire(slack.CrowdedWait)
		r.sockets(slacktest.MaxSockets + 1)
	})
}

// crowd opens as many sockets as an app may have, as other replicas would.
func (r *running) crowd() {
	r.t.Helper()
	for range slacktest.MaxSockets {
		strangeSocket(r.ctx, r.t, r.Server)
	}
}

// strangeSocket opens a socket of the app, as another program would.
func strangeSocket(ctx context.Context, t *testing.T, s *slacktest.Server) {
	t.Helper()
	other := slackgo.New(s.BotToken(), slackgo.OptionAPIURL(s.APIURL()), slackgo.OptionAppLevelToken(s.AppToken()))
	_, address, err := other.StartSocketModeContext(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, answer, err := websocket.DefaultDialer.DialContext(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	t.Cleanup(func() { conn.Close() })
	if _, _, err := conn.ReadMessage(); err != nil { // its hello
		t.Fatal(err)
	}
}

func TestRetryAfterOfConnectionsOpenIsKept(t *testing.T) {
	n := adaptertest.NewTimers()
	r := start(t, setup{config: overSocket, before: func(r *running) {
		r.p.Sleeping(n.Sleep)
		r.Inject(slacktest.Fault{Endpoint: opening, Trouble: slacktest.RateLimited(7 * time.Second), Times: 1})
	}})
	r.eventually("a wait of seven seconds", func() bool { return n.Count(7*time.Second) == 1 })
	if calls := r.CountCalls(opening); calls != 1 {
		t.Errorf("it asked %d times, want once", calls)
	}
	n.Fire(7 * time.Second)
	r.sockets(1)
}

func TestWaitsBeforeANewSocketGrow(t *testing.T) {
	n := adaptertest.NewTimers()
	r := start(t, setup{config: overSocket, slack: core.Deps{Jitter: func() float64 {
		return 1
	}}, before: func(r *running) {
		r.p.Sleeping(n.Sleep)
		r.Inject(slacktest.Fault{Endpoint: opening, Trouble: slacktest.Cut(), Times: 4})
	}})
	for d := slack.FirstRedial; d <= 8*slack.FirstRedial; d *= 2 {
		r.eventually("the wait "+d.String(), func() bool { return n.Count(d) == 1 })
		n.Fire(d)
	}
	r.sockets(1)
}

func TestUnknownEnvelopesAreAcknowledgedAndIgnored(t *testing.T) {
	r := socketed(t, setup{})
	for _, frame := range []string{
		`{"envelope_id":"e1","type":"something_new","payload":{"a":1}}`,
		`{"envelope_id":"e2","type":"events_api","payload":{"type":"event_callback","team_id":"T0GATE",` +
			`"event":{"type":"new"}}}`,
		`{"envelope_id":"e3","type":"events_api","payload":"broken"}`, `{"envelope_id":"e4","type":"interactive"}`,
		`{"envelope_id":"e5","type":"slash_commands","payload":[]}`,
		`{"type":"hello"}`, `{"type":5}`, `no JSON`, `[]`, `null`, ``,
	} {
		r.SendRaw(slacktest.Events, []byte(frame))
	}
	err := r.WaitFor(r.ctx, func(*slacktest.Server) bool {
		acks := strings.Join(r.StrayAcks(), "\n")
		for _, id := range []string{"e1", "e2", "e3", "e4", "e5"} {
			if !strings.Contains(acks, `"`+id+`"`) {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Errorf("%v; acknowledged were %v", err, r.StrayAcks())
	}
	r.one(r.ann.Says("hello").Deliveries...)
	if n := len(r.Sockets()); n != 1 {
		t.Errorf("%d sockets were opened", n)
	}
}

// beside returns a channel whose events are committed in parallel with those of another.
func (r *running) beside(channel string) string {
	for i := range 100 {
		id := fmt.Sprint("C", 100+i)
		if slack.QueueOf(id) != slack.QueueOf(channel) {
			r.AddChannel(slacktest.Channel{ID: id, Name: id, Members: []string{"U1ANN", "U2BOB", r.BotUserID()}})
			return id
		}
	}
	return ""
}

func TestAHangingCommitBlocksOnlyItsChannel(t *testing.T) {
	r := socketed(t, setup{})
	open := make(chan struct{})
	dm := r.DMWith("U1ANN")
	other := r.beside(dm)
	r.inbox.Hold(open, func(e core.Event) bool { return e.Address.Channel == dm && e.Kind() == core.KindMessage })
	var hung []*slacktest.Delivery
	var want []string
	for i := range 10 {
		p := r.ann.Says(fmt.Sprint("number ", i))
		hung, want = append(hung, p.Deliveries...), append(want, "message/T0GATE/"+dm+"/"+p.TS)
	}
	r.inbox.WaitFor("the first", func() bool { return len(r.inbox.Tried) == 1 })
	root := r.bob.Posts(other, r.MentionOfBot()+" hello")
	for i := range 10 {
		p := r.bob.Posts(other, fmt.Sprint("number ", i), slacktest.InThread(root.TS))
		if err := p.Deliveries[0].Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 { // whatever queue they might have fallen into
		if err := r.bob.Presses(r.button(other, r.sealed("a1", "approve"))).Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
	}
	close(open)
	for _, d := range hung {
		if err := d.Wait(r.ctx); err != nil {
			t.Fatal(err)
		}
	}
	r.inbox.Lock()
	defer r.inbox.Unlock()
	for _, e := range r.inbox.Tried {
		if e.Address.Channel == dm {
			if len(want) == 0 || e.ID != want[0] {
				t.Fatalf("%s came out of its order; next is %v", e.ID, want)
			}
			want = want[1:]
		}
	}
}

func TestPongsAreSentWhileAcceptHangs(t *testing.T) {
	r := socketed(t, setup{fake: slacktest.Options{PingEvery: 10 * time.Millisecond, AckWithin: time.Second}})
	open := make(chan struct{})
	r.inbox.Hold(open, nil)
	var all []*slacktest.Delivery
	for i := range 100 { // more than are waited with
		all = append(all, r.ann.Says(fmt.Sprint("number ", i)).Deliveries...)
	}
	k := r.newest()
	if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool { return k.State().Sent >= 100 }); err != nil {
		t.Fatal(err)
	}
	pongs := k.State().Pongs
	r.eventually("more pongs", func() bool { return k.State().Pongs > pongs+5 })
	close(open)
	if got := r.taken(all...); len(got) != 100 {
		t.Errorf("%d events were stored, want 100", len(got))
	}
	if n := len(r.Sockets()); n != 1 {
		t.Errorf("%d sockets were opened", n)
	}
}

func TestRunEndsWhileNoHelloArrives(t *testing.T) {
	r := start(t, setup{config: overSocket, before: func(r *running) { r.NewSocketsSilent(true) }})
	r.sockets(1)
	began := time.Now()
	r.stop()
	if err := r.ends(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("after %v Run gave %v", time.Since(began), err)
	}
}

func TestRunEndsWhileCommitsHang(t *testing.T) {
	r := socketed(t, setup{})
	r.inbox.Gate(func(ctx context.Context, _ core.Event) error { <-ctx.Done(); return ctx.Err() })
	var all []*slacktest.Delivery
	for i := range 20 {
		all = append(all, r.ann.Says(fmt.Sprint("number ", i)).Deliveries...)
	}
	r.inbox.WaitFor("the first", func() bool { return len(r.inbox.Tried) > 0 })
	r.stop()
	if err := r.ends(); err != nil {
		t.Errorf("Run gave %v", err)
	}
	for _, d := range all {
		if d.Acked() {
			t.Error("what was not stored was acknowledged")
		}
	}
	if w := r.log.Warnings(); len(w) > 1 {
		t.Errorf("an end in good order warns %d times:\n%s", len(w), strings.Join(w, ""))
	}
}

func TestAFrameThatIsTooLargeClosesItsConnection(t *testing.T) {
	r := socketed(t, setup{})
	frame := func(id string, bytes int) []byte {
		head, tail := `{"envelope_id":"`+id+`","type":"something_new","payload":"`, `"}`
		return []byte(head + strings.Repeat("x", bytes-len(head+tail)) + tail)
	}
	first := r.newest()
	r.SendRaw(slacktest.Events, frame("fits", 1<<20))
	r.eventually("an acknowledgement", func() bool { return strings.Contains(strings.Join(r.StrayAcks(), ""), "fits") })
	r.SendRaw(slacktest.Events, frame("large", 1<<20+1))
	r.sockets(2)
	r.eventually("the end of the first socket", func() bool { return !first.State().Open })
	r.one(r.ann.Says("hello").Deliveries...)
	if acks := strings.Join(r.StrayAcks(), ""); strings.Contains(acks, "large") {
		t.Error("the large frame was acknowledged")
	}
	if w := r.log.Warnings(); len(w) != 1 || !strings.Contains(w[0], "too large") {
		t.Errorf("it warned %q", w)
	}
}

// lines returns the log lines at INFO that contain a text.
func (r *running) lines(text string) (found []string) {
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, "level=INFO") && strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

func TestTheLogSaysWhenTheBotIsConnected(t *testing.T) {
	const connected, again = "connected to Slack over Socket Mode", "connected to Slack again over Socket Mode"
	for name, last := range map[string]string{
		"the bot is known first": opening, "the socket is open first": "auth.test",
	} {
		t.Run(name, func(t *testing.T) {
			var held *slacktest.Injected
			r := start(t, setup{config: overSocket, before: func(r *running) {
				held = r.Inject(slacktest.Fault{Endpoint: last, Trouble: slacktest.Held()})
			}})
			if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool {
				return held.Waiting() == 1 && (last == opening || r.OpenSockets() == 1)
			}); err != nil {
				t.Fatal(err)
			}
			if n := len(r.lines("connected to Slack")); n != 0 {
				t.Errorf("it says so %d times too early: %s", n, r.log)
			}
			held.Lift()
			r.known()
			r.eventually("the line", func() bool { return len(r.lines(connected)) == 1 })
			if line := r.lines(connected)[0]; !strings.Contains(line, "team=T0GATE") ||
				!strings.Contains(line, "user=U0BOT") || !strings.Contains(line, "bot=@gatehouse") ||
				!strings.Contains(line, "workspace=") {
				t.Errorf("the line is %s", line)
			}
			r.newest().Disconnect("refresh_requested") // the old one stays open meanwhile
			r.sockets(2)
			r.one(r.ann.Says("hello").Deliveries...)
			if n := len(r.lines("connected to Slack")); n != 1 {
				t.Errorf("it says so %d times without a gap", n)
			}
			for i, k := range r.Sockets() { // the older one first: as long as it counts as open, there is no gap
				k.Reset()
				r.eventually("the end of a connection", func() bool {
					return len(r.lines("a Socket Mode connection has closed")) == i+1
				})
			}
			r.sockets(3)
			r.eventually("the line after the gap", func() bool { return len(r.lines(again)) == 1 })
			if line := r.lines(again)[0]; !strings.Contains(line, "away=") {
				t.Errorf("the line is %s", line)
			}
			if n := len(r.lines(connected)); n != 1 {
				t.Errorf("the first line is there %d times", n)
			}
		})
	}
}
