package slack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestWhatSlackIssuesForOneAnswerIsNotStored: no event and no log line has a verification token, a trigger or a
// response URL.
func TestWhatSlackIssuesForOneAnswerIsNotStored(t *testing.T) {
	onBoth(t, setup{fake: slacktest.Options{Scopes: plain()}}, func(t *testing.T, r *running) {
		message := r.ann.Posts("C1", r.MentionOfBot()+" hello")
		edit := r.ann.Edits("C1", message.TS, r.MentionOfBot()+" hello!")
		press := r.bob.Presses(r.button("C1", r.sealed("a1", "approve")))
		command := r.ann.Runs(r.DMWith("U1ANN"), "/gatehouse new")
		got := r.taken(append(append(message.Deliveries, edit...), press, command)...)
		if len(got) != 4 {
			t.Errorf("%d events are stored, want 4", len(got))
		}
		secrets := []string{
			"verification-token", "trigger_id", "response_url", press.TriggerID, press.ResponseURL, command.TriggerID,
			command.ResponseURL,
		}
		for _, e := range got {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				if secret == "" || strings.Contains(string(text)+string(e.Payload)+r.log.String(), secret) {
					t.Errorf("%s: %q is in the event or the log: %s", e.ID, secret, text)
				}
			}
			if e.Kind() == core.KindClick && r.click(e).Choice != core.Approve ||
				e.Kind() == core.KindMessage && !strings.Contains(fmt.Sprint(r.message(e).Content), "hello") {
				t.Errorf("%s can't be read any more", e.ID)
			}
		}
	})
}

// TestAClickIsStoredWithoutItsMessage: Slack sends the card, and for a form the modal, with each decision; neither is
// stored.
func TestAClickIsStoredWithoutItsMessage(t *testing.T) {
	r := start(t, setup{}).known()
	press := `{"type":"block_actions","team":{"id":"T0GATE","domain":"` + marked + `"},"user":{"id":"U2BOB","name":"` +
		marked + `"},"channel":{"id":"D1","name":"` + marked + `"},` +
		`"container":{"type":"message","message_ts":"1.2","channel_id":"D1","thread_ts":"1.1"},` +
		`"message":{"ts":"1.2","thread_ts":"1.1","text":"` + marked +
		`","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"` + marked + `"}}]},` +
		`"state":{"values":{"x":{"y":{"value":"` + marked + `"}}}},` +
		`"actions":[{"action_id":"x","block_id":"` + marked + `","text":{"text":"` + marked +
		`"},"action_ts":"3.4","value":"` + r.sealed("a1", "approve") + `"}]}`
	submission := `{"type":"view_submission","team":{"id":"T0GATE"},"user":{"id":"U2BOB"},"view":{"id":"V1",` +
		`"callback_id":"deny_reason","title":{"text":"` +
		marked + `"},` +
		`"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"` + marked + `"}}],"private_metadata":"` +
		r.sealed("a1", "reason", "D1", "1.1") + `",` +
		`"state":{"values":{"reason":{"reason":{"type":"plain_text_input","value":"not today"}}}}}}`
	for name, body := range map[string]string{"approve": press, "deny": submission} {
		if status, _ := r.send("/slack/interactions", formOf(body), nil); status != 200 {
			t.Fatalf("%s was answered with %d", name, status)
		}
		got := r.inbox.Take()
		if len(got) != 1 {
			t.Fatalf("%s: %d events", name, len(got))
		}
		for _, e := range got {
			if strings.Contains(string(e.Payload), marked) {
				t.Errorf("%s: the event quotes what was shown: %s", name, e.Payload)
			}
			click := r.click(e)
			if string(click.Choice) != name || e.Address.Thread != "1.1" ||
				name == "deny" && click.Reason != "not today" || name == "approve" && click.Card != "D1/1.2" {
				t.Errorf("%s is read as %+v at %+v", name, click, e.Address)
			}
		}
	}
}

// A click without a time is known by its trigger, which is not stored either.
func TestATriggerInAnIDIsADigest(t *testing.T) {
	r := start(t, setup{}).known()
	press := `{"type":"block_actions","token":"` + marked + `","trigger_id":"` + marked +
		`.1","response_urls":[{"response_url":"` + marked + `"}],"bot_access_token":"` + marked + `",` +
		`"team":{"id":"T0GATE"},"user":{"id":"U2BOB"},"channel":{"id":"C1"},"message":{"ts":"1.2"},` +
		`"actions":[{"action_id":"x","value":"` +
		r.sealed("a1", "deny") + `"}]}`
	for range 2 {
		if status, _ := r.send("/slack/interactions", formOf(press), nil); status != 200 {
			t.Fatalf("it was answered with %d", status)
		}
	}
	other := strings.Replace(press, marked+".1", marked+".2", 1)
	if status, _ := r.send("/slack/interactions", formOf(other), nil); status != 200 {
		t.Fatalf("it was answered with %d", status)
	}
	got := r.inbox.Take()
	if len(got) != 2 {
		t.Errorf("three deliveries of two clicks are %d events", len(got))
	}
	for _, e := range got {
		if strings.Contains(e.ID+string(e.Payload)+r.log.String(), marked) {
			t.Errorf("the event or the log has a secret: %s %s", e.ID, e.Payload)
		}
	}
}
