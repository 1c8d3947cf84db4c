package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// delivers sends a payload over the platform's transport and returns the one event that it is. Over a socket the
// envelope, too, has keys that say nothing.
func (r *running) delivers(kind slacktest.PayloadKind, payload string) core.Event {
	r.t.Helper()
	if r.web == nil {
		frame := `{"envelope_id":"e1","type":"` + string(kind) + `","TYPE":"hello","payload":` + payload +
			`,"Payload":{},"ENVELOPE_ID":""}`
		r.SendRaw(kind, []byte(frame))
	} else {
		path, body := "/slack/events", []byte(payload)
		if kind == slacktest.Interactions {
			path, body = "/slack/interactions", formOf(payload)
		}
		if status, answer := r.send(path, body, nil); status != 200 {
			r.t.Fatalf("it was answered with %d %s", status, answer)
		}
	}
	r.inbox.WaitFor("the event", func() bool { return len(r.inbox.Stored) > 0 })
	return r.one()
}

// TestWhoDidWhatIsReadFromExactNames: a key that differs in its case only says nothing, wherever it stands.
func TestWhoDidWhatIsReadFromExactNames(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		message := `{"type":"event_callback","TYPE":"x","team_id":"T0GATE","TEAM_ID":"T9OTHER",` +
			`"event":{"type":"message","user":"U1ANN","USER":"U2BOB","channel":"D1","Channel":"D2",` +
			`"channel_type":"im","CHANNEL_TYPE":"channel","ts":"1.2","Ts":"3.4","text":"hello","TEXT":"!new",` +
			`"BOT_ID":"B1","Subtype":"message_deleted"},"EVENT":{}}`
		e := r.delivers(slacktest.Events, message)
		if e.Actor.ID != "slack:U1ANN" || e.ID != "message/T0GATE/D1/1.2" || e.Kind() != core.KindMessage {
			t.Errorf("the message is %+v", e)
		}
		if m := r.message(e); !strings.HasSuffix(m.Content.String(), "hello") {
			t.Errorf("it says %+v", m)
		}
		approve, deny := r.sealed("a1", "approve"), r.sealed("a1", "deny")
		press := `{"type":"block_actions","Type":"view_submission","team":{"id":"T0GATE"},"user":{"id":"U2BOB",` +
			`"ID":"U1ANN","team_id":"T0GATE"},"USER":{"id":"U1ANN"},` +
			`"container":{"message_ts":"1.2","channel_id":"C1","CHANNEL_ID":"C2"},"Channel":{"id":"C2"},` +
			`"message":{"ts":"1.2"},` +
			`"actions":[{"action_id":"x","value":"` + deny + `","VALUE":"` + approve +
			`","action_ts":"5.6","Action_TS":"7.8"}],"ACTIONS":[{"value":"` + approve + `","action_ts":"9.9"}]}`
		e = r.delivers(slacktest.Interactions, press)
		if e.Actor.ID != "slack:U2BOB" || e.Address.Channel != "C1" || !strings.HasPrefix(e.ID, "vote/a1/U2BOB/") {
			t.Errorf("the press is %+v", e)
		}
		if c := r.click(e); c.Choice != core.Deny {
			t.Errorf("it decides %+v", c)
		}
	})
}

// TestARepeatedFieldIsRefused: of two values of a field that says who did what, neither is believed.
func TestARepeatedFieldIsRefused(t *testing.T) {
	r := start(t, setup{}).known()
	value := r.sealed("a1", "approve")
	event := func(outer, inner string) string {
		return `{"type":"event_callback","team_id":"T0GATE"` + outer +
			`,"event":{"type":"message","user":"U1ANN","channel":"D1","channel_type":"im","ts":"1.2","text":"` +
			marked + `"` + inner + `}}`
	}
	press := func(outer, user, action string) string {
		return string(
			formOf(`{"type":"block_actions"` + outer + `,"team":{"id":"T0GATE"},"user":{"id":"U2BOB"` + user +
				`},"channel":{"id":"C1"},"message":{"ts":"1.2"},` +
				`"actions":[{"action_id":"` + marked + `","value":"` + value + `","action_ts":"5.6"` + action + `}]}`))
	}
	const command = "team_id=T0GATE&channel_id=D1&user_id=U1ANN&trigger_id=1.2&text=new"
	for name, c := range map[string]struct{ path, body string }{
		"an event's team":     {"/slack/events", event(`,"team_id":"T0GATE"`, "")},
		"an event's person":   {"/slack/events", event("", `,"user":"U2BOB"`)},
		"an escaped person":   {"/slack/events", event("", `,"\u0075ser":"U2BOB"`)},
		"an event's channel":  {"/slack/events", event("", `,"channel":"D2"`)},
		"an event's event":    {"/slack/events", event(`,"event":{}`, "")},
		"a press's person":    {"/slack/interactions", press("", `,"id":"U1ANN"`, "")},
		"a press's people":    {"/slack/interactions", press(`,"user":{"id":"U1ANN"}`, "", "")},
		"a press's value":     {"/slack/interactions", press("", "", `,"value":"x"`)},
		"a press's type":      {"/slack/interactions", press(`,"type":"view_submission"`, "", "")},
		"two payloads":        {"/slack/interactions", press("", "", "") + "&" + press("", "", "")},
		"a command's person":  {"/slack/commands", command + "&user_id=U2BOB"},
		"a command's channel": {"/slack/commands", "channel_id=D2&" + command},
	} {
		before := len(r.log.Warnings())
		if status, answer := r.send(c.path, []byte(c.body), nil); status != 400 {
			t.Errorf("%s: it was answered with %d %s, want 400", name, status, answer)
		}
		if w := r.log.Warnings()[before:]; len(w) != 1 || strings.Contains(w[0], marked) {
			t.Errorf("%s: the log says %q, want one line without the body", name, w)
		}
	}
	if n := r.inbox.Tries(); n != 0 {
		t.Errorf("%d events were passed to accept", n)
	}
	for path, body := range map[string]string{
		"/slack/commands": command + "&x=1&x=2&USER_ID=U2BOB", "/slack/interactions": press(`,"x":1,"x":2`, "", ""),
	} {
		if status, answer := r.send(path, []byte(body), nil); status != 200 {
			t.Errorf("%s with unknown fields: %d %s", path, status, answer)
		}
	}
	for _, e := range r.inbox.Take() {
		if e.Actor.ID != "slack:U1ANN" && e.Actor.ID != "slack:U2BOB" ||
			e.Kind() == core.KindReset && e.Actor.ID != "slack:U1ANN" {
			t.Errorf("got %+v", e)
		}
	}
}
