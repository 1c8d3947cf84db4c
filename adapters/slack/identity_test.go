package slack_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// check is how often Slack is asked who the bot is, once it has answered.
const check = time.Minute

func TestEventsAreStoredWhileSlackCannotBeReached(t *testing.T) {
	n := adaptertest.NewTimers()
	var down *slacktest.Injected
	r := start(t, setup{slack: core.Deps{Jitter: func() float64 { return 1 }}, before: func(r *running) {
		r.p.Sleeping(n.Sleep)
		down = r.Inject(slacktest.Fault{Trouble: slacktest.Cut()})
	}})
	r.eventually("the first try", func() bool { return n.Count(time.Second) == 1 })
	if _, outbound := r.p.Health(); outbound == nil {
		t.Error("outbound is reported as healthy")
	}
	p := r.ann.Posts("C1", r.MentionOfBot()+" hello")
	e := r.one(p.Deliveries...)
	if e.Conversation != core.ConversationID("slack:T0GATE:C1:"+p.TS) || e.ID != "message/T0GATE/C1/"+p.TS ||
		e.FollowUp {
		t.Errorf("got %+v", e)
	}
	direct := r.one(r.ann.Says("hello").Deliveries...)
	if direct.Conversation != core.ConversationID("slack:T0GATE:"+r.DMWith("U1ANN")) {
		t.Errorf("got %+v", direct)
	}
	r.none(
		r.Send(
			map[string]any{
				"type": "message", "user": r.BotUserID(), "text": "my own", "ts": "1700000002.000100",
				"channel": direct.Address.Channel, "channel_type": "im",
			}))
	if got := r.message(e).Content.Own(); got != "hello" {
		t.Errorf("the text is %q", got)
	}
	if reset := r.one(
		r.ann.Posts("C1", r.MentionOfBot()+" !new",
			slacktest.InThread(p.TS)).Deliveries...); reset.Kind() != core.KindReset {
		t.Errorf("got %+v", reset)
	}
	r.one(r.bob.Presses(r.button("C1", r.sealed("a1", "approve"))))
	down.Lift()
	n.Fire(time.Second)
	r.known()
	if again := r.one(p.Deliveries[0].Again()); again.ID != e.ID || again.Conversation != e.Conversation {
		t.Errorf("once the bot's identity is known, it became %+v", again)
	}
}

func TestAMentionIsStoredBeforeTheBotIsKnown(t *testing.T) {
	r := start(t, setup{before: func(r *running) { r.Inject(slacktest.Fault{Trouble: slacktest.Cut()}) }})
	body := `{"type":"event_callback","team_id":"T0GATE","event":{"type":"app_mention","user":"U1ANN",` +
		`"channel":"C1","ts":"1.2","text":"<@U0BOT> hello"}}`
	if status, _ := r.send("/slack/events", []byte(body), nil); status != 200 {
		t.Fatalf("answered with %d", status)
	}
	if e := r.one(); e.Conversation != "slack:T0GATE:C1:1.2" || e.FollowUp {
		t.Errorf("got %+v", e)
	}
}

func TestATokenThatIsRefusedAtStartEndsRun(t *testing.T) {
	r := start(t, setup{config: overBoth, before: func(r *running) { r.RevokeToken() }})
	if err := r.ends(); core.CategoryOf(err) != core.Unauthorized ||
		!strings.Contains(core.MessageOf(err), "SLACK_BOT_TOKEN") {
		t.Errorf("Run gave %v", err)
	}
}

func TestARevokedTokenDoesNotEndRun(t *testing.T) {
	n := adaptertest.NewTimers()
	r := start(t, setup{slack: core.Deps{Jitter: func() float64 { return 1 }}, before: func(r *running) {
		r.p.Sleeping(n.Sleep)
	}}).known()
	r.eventually("a rest", func() bool { return n.Count(check) == 1 })
	revoked := r.Inject(slacktest.Fault{Trouble: slacktest.Refused("token_revoked")})
	n.Fire(check)
	r.eventually("that Slack does not answer", func() bool {
		_, outbound := r.p.Health()
		return core.CategoryOf(outbound) == core.Unauthorized
	})
	e := r.one(r.ann.Posts("C1", r.MentionOfBot()+" hello").Deliveries...)
	if e.Conversation == "" {
		t.Errorf("got %+v", e)
	}
	r.eventually("a wait", func() bool { return n.Count(time.Second) == 1 })
	revoked.Lift()
	n.Fire(time.Second)
	r.eventually("that Slack answers again", func() bool { _, outbound := r.p.Health(); return outbound == nil })
	select {
	case <-r.ended:
		t.Errorf("Run ended: %v", r.err)
	default:
	}
}

func TestIdentityIsAskedAgainAfterRetryAfter(t *testing.T) {
	n := adaptertest.NewTimers()
	r := start(t, setup{before: func(r *running) {
		r.p.Sleeping(n.Sleep)
		r.Inject(slacktest.Fault{Endpoint: "auth.test", Trouble: slacktest.RateLimited(9 * time.Second), Times: 1})
	}})
	r.eventually("a wait of nine seconds", func() bool { return n.Count(9*time.Second) == 1 })
	n.Fire(9 * time.Second)
	r.known()
}

func TestACancelledCallDoesNotChangeHealth(t *testing.T) {
	r := start(t, setup{}).known()
	e := r.one(r.ann.Posts("C1", r.MentionOfBot()+" hello").Deliveries...)
	held := r.Inject(slacktest.Fault{Endpoint: "users.info", Trouble: slacktest.Held()})
	parsed := make(chan error, 1)
	ctx, cancel := contextOf(r)
	go func() { _, err := r.p.Parse(ctx, e); parsed <- err }()
	if err := r.WaitFor(r.ctx, func(*slacktest.Server) bool { return held.Waiting() == 1 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-parsed; err != nil {
		t.Error(err)
	}
	held.Lift()
	if _, outbound := r.p.Health(); outbound != nil {
		t.Errorf("outbound is reported as unhealthy: %v", outbound)
	}
	if name := r.message(e).Content.Blocks()[0].Text; !strings.Contains(name, "Ann Ash") &&
		!strings.Contains(name, "ann") {
		t.Errorf("the name is %q now", name)
	}
}
