package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// fakeWorkspace is a fake workspace with one person in a direct message.
type fakeWorkspace struct {
	*slacktest.Server
	ann  *slacktest.Person
	last *slacktest.Delivery
}

// openSocket makes a platform that receives over Socket Mode, and its workspace.
func openSocket(t *testing.T) (core.Platform, adaptertest.Fake) {
	p, o := open(t, slacktest.Options{AckWithin: time.Second}, nil) // Slack's 3 s would be waited out
	return p, o
}

func open(t *testing.T, opt slacktest.Options, change func(*core.Deps)) (*slack.Slack, *fakeWorkspace) {
	t.Helper()
	if opt.Wait == nil {
		opt.Wait = func(context.Context, int) {}
	}
	opt.Fatalf = t.Errorf
	o := &fakeWorkspace{Server: slacktest.New(opt)}
	t.Cleanup(o.Close)
	o.ann = o.AddUser(slacktest.User{ID: "U1ANN", Name: "ann"})
	o.AddUser(slacktest.User{ID: "U2BOB", Name: "bob"})
	o.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1ANN", "U2BOB", o.BotUserID()}})
	o.DMWith("U1ANN")
	deps := core.Deps{
		Signer: adaptertest.Signer(t, testKey), Cards: adaptertest.Cards("slack:U1ANN"),
		Blobs:  &adaptertest.Blobs{},
		Jitter: func() float64 { return -1 }, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&deps)
	}
	return slack.New(deps,
		slack.Config{BotToken: o.BotToken(), AppToken: o.AppToken(), APIURL: o.APIURL(), FollowUp: "thread"}), o
}

func (o *fakeWorkspace) Say(_ testing.TB, text string) {
	posted := o.ann.Says(text)
	o.last = posted.Deliveries[len(posted.Deliveries)-1]
}

func (o *fakeWorkspace) Click(t testing.TB, c core.Click) {
	t.Helper()
	if err := o.WaitForSockets(t.Context(), 1); err != nil { // Slack sends a click only once, so a socket must be open
		t.Fatal(err)
	}
	for _, m := range o.Messages(o.dm()) {
		if !strings.Contains(m.Shown(), "Add the note "+string(c.Approval)) {
			continue
		}
		if c.Choice == core.Approve {
			o.last = o.ann.Clicks(o.dm(), m.TS, "approve")
			return
		}
		o.ann.Clicks(o.dm(), m.TS, "reason") // opens the form
		if _, err := o.WaitForModal(t.Context(), "U1ANN"); err != nil {
			t.Fatal(err)
		}
		o.last = o.ann.Submits(nil)
		if err := o.WaitFor(t.Context(), func(s *slacktest.Server) bool {
			_, open := s.Modal("U1ANN")
			return !open
		}); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("there is no card of %s", c.Approval)
}

func (o *fakeWorkspace) dm() string { return o.DMWith("U1ANN") }

func (o *fakeWorkspace) Conversation() (core.Address, core.ConversationID) {
	return core.Address{Platform: "slack", Channel: o.dm()}, core.ConversationID("slack:" + o.TeamID() + ":" + o.dm())
}

func (o *fakeWorkspace) Shown() string { return adaptertest.Shown(o.FromBot(o.dm())) }

func (o *fakeWorkspace) SideEffects() []string {
	var alarms []string
	for _, m := range o.FromBot(o.dm()) {
		for _, r := range m.Reaches() {
			alarms = append(alarms, r.Kind+" "+r.Target+" in "+r.Where)
		}
		if m.Unfurls {
			alarms = append(alarms, "links unfold")
		}
	}
	return alarms
}

func (o *fakeWorkspace) Acknowledged() int {
	n := 0
	for _, d := range o.Deliveries() {
		if d.Acked() && !d.Echo {
			n++
		}
	}
	return n
}

func (o *fakeWorkspace) Repeat(testing.TB) { o.last = o.last.Again() }

func (o *fakeWorkspace) Fail(f adaptertest.Fault) bool {
	trouble := map[adaptertest.Fault]slacktest.Trouble{
		adaptertest.Down: slacktest.ServerError(503), adaptertest.Busy: slacktest.RateLimited(time.Second),
		adaptertest.Lost:    slacktest.AnswerLost(),
		adaptertest.Refused: slacktest.Refused("cannot_reply_to_message"),
	}[f]
	o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: trouble, Times: 1})
	return true
}

func TestSlackKeepsTheContract(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{Open: openSocket})
}
