package slacktest_test

import (
	"encoding/json"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/slack/slacktest"
)

// delivered waits for the deliveries and returns the message events, decoded by slack-go.
func (w *workspace) delivered(t *testing.T, deliveries ...*slacktest.Delivery) []*slackevents.MessageEvent {
	t.Helper()
	var all []*slackevents.MessageEvent
	for _, d := range deliveries {
		e, err := slackevents.ParseEvent(d.Body(), slackevents.OptionNoVerifyToken())
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.InnerEvent.Data.(*slackevents.MessageEvent); ok {
			all = append(all, m)
		}
	}
	return all
}

func TestEditsDeletionsAndUnfurlsAreEvents(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	post := w.alice.Posts("C1", "helo")
	edit := w.delivered(t, w.alice.Edits("C1", post.TS, "hello")...)[0]
	if edit.SubType != "message_changed" || edit.Message.Text != "hello" || edit.PreviousMessage.Text != "helo" ||
		edit.Message.Edited.User != "U1" {
		t.Errorf("%+v", edit)
	}
	unfurl := w.delivered(t, w.Unfurl("C1", post.TS, "https://example.com")...)[0]
	if unfurl.Message.Text != unfurl.PreviousMessage.Text || len(unfurl.Message.Attachments) != 1 ||
		len(unfurl.PreviousMessage.Attachments) != 0 {
		t.Errorf("%+v", unfurl)
	}
	reply := w.bob.Posts("C1", "yes?", slacktest.InThread(post.TS))
	if got := w.delivered(t, reply.Deliveries...)[0]; got.ThreadTimeStamp != post.TS ||
		got.Message.ParentUserId != "U1" {
		t.Errorf("%+v", got)
	}
	tomb := w.delivered(t, w.alice.Deletes("C1", post.TS)...)[0]
	if tomb.SubType != "message_changed" || tomb.Message.SubType != "tombstone" {
		t.Errorf("a parent with replies leaves a tombstone: %+v", tomb)
	}
	gone := w.delivered(t, w.bob.Deletes("C1", reply.TS)...)[0]
	if gone.SubType != "message_deleted" || gone.DeletedTimeStamp != reply.TS || gone.PreviousMessage.Text != "yes?" {
		t.Errorf("%+v", gone)
	}
	added := w.alice.Edits("C1", w.alice.Posts("C1", "so").TS, "so "+w.MentionOfBot())
	if len(added) != 2 || added[1].Type != "app_mention" {
		t.Errorf("an edit that adds a mention is an app_mention: %+v", added)
	}
}

func TestMessagesOfBotsAreEvents(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	old := w.delivered(t, w.robot.Posts("C1", "beep", slacktest.AsBotMessage()).Deliveries...)[0]
	if old.SubType != "bot_message" || old.BotID == "" || old.User != "" || old.Username != "robot" {
		t.Errorf("%+v", old)
	}
	mention := w.robot.Posts("C1", w.MentionOfBot()+" beep")
	if got := w.delivered(t, mention.Deliveries...)[0]; got.SubType != "" || got.BotID == "" || got.User != "U9" ||
		len(mention.Deliveries) != 2 {
		t.Errorf("%+v", got)
	}
	if _, _, err := w.api.PostMessage("C1", text("I said "+w.MentionOfBot())); err != nil {
		t.Fatal(err)
	}
	all := w.Deliveries()
	own := w.delivered(t, all[len(all)-1])
	if len(own) != 1 || own[0].BotID != w.BotID() || own[0].User != w.BotUserID() {
		t.Errorf("the bot's own message is an event without a mention: %+v", own)
	}
}

func TestEachKindOfConversationSendsEvents(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	for channel, want := range map[string]string{"C1": "channel", "G1": "group", "G3": "mpim", w.DMWith("U1"): "im"} {
		posted := w.alice.Posts(channel, "hi "+w.MentionOfBot())
		mentions := 1
		if want == "im" {
			mentions = 0
		}
		if got := w.delivered(t, posted.Deliveries...)[0]; got.ChannelType != want ||
			len(posted.Deliveries) != 1+mentions {
			t.Errorf("%s: %+v in %d deliveries", channel, got, len(posted.Deliveries))
		}
	}
	if posted := w.alice.Posts("C2", "hi "+w.MentionOfBot()); len(posted.Deliveries) != 0 {
		t.Error("the bot is not in the channel, but an event was sent")
	}
	channel, thread := w.alice.OpensAssistant()
	if channel != w.DMWith("U1") {
		t.Errorf("%s", channel)
	}
	if err := w.api.SetAssistantThreadsStatus(
		slackgo.AssistantThreadsSetStatusParameters{
			ChannelID: channel, ThreadTS: thread, Status: "is thinking",
		}); err != nil {
		t.Fatal(err)
	}
	if got := w.Status(channel, thread); got != "is thinking" {
		t.Errorf("status %q", got)
	}
	if _, _, err := w.api.PostMessage(channel, text("done"), slackgo.MsgOptionTS(thread)); err != nil {
		t.Fatal(err)
	}
	if got := w.Status(channel, thread); got != "" {
		t.Errorf("a post should clear the status, it is %q", got)
	}
}

func TestEventsAreDeliveredSeveralTimesOnRequest(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(a.everything())
	w.alice.Says("one", slacktest.Twice())
	w.alice.Says("two", slacktest.TwiceAtOnce())
	w.alice.Posts("C1", w.MentionOfBot()+" three", slacktest.OnlyEvent("app_mention"))
	if err := w.WaitDelivered(w.ctx); err != nil {
		t.Fatal(err)
	}
	ids, marked := map[string]int{}, 0
	for _, c := range a.all() {
		var e struct {
			EventID string `json:"event_id"`
		}
		if err := json.Unmarshal(c.body, &e); err != nil {
			t.Fatal(err)
		}
		ids[e.EventID]++
		if c.retry != "" {
			marked++
		}
	}
	if len(ids) != 3 || marked != 2 || len(a.all()) != 5 {
		t.Errorf("%v, %d marked as retries", ids, marked)
	}
}
