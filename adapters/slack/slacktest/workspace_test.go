package slacktest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

func TestSlackGoReadsTheWorkspace(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	user, err := w.api.GetUserInfo("U1")
	if err != nil || user.Name != "alice" || user.TZOffset != 3600 || user.TZ != "Europe/Berlin" || user.IsBot {
		t.Errorf("%v %+v", err, user)
	}
	_, err = w.api.GetUserInfo("U404")
	wantError(t, err, "user_not_found")
	members, err := w.api.GetUserGroupMembers("S1")
	if err != nil || len(members) != 2 {
		t.Errorf("%v %v", err, members)
	}
	_, err = w.api.GetUserGroupMembers("S404")
	wantError(t, err, "no_such_subteam")
	bot, err := w.api.GetBotInfo(slackgo.GetBotInfoParameters{Bot: w.BotID()})
	if err != nil || bot.AppID != w.AppID() || bot.UserID != w.BotUserID() {
		t.Errorf("%v %+v", err, bot)
	}
	info, err := w.api.GetConversationInfo(&slackgo.GetConversationInfoInput{ChannelID: "G1"})
	if err != nil || !info.IsPrivate || !info.IsMember || info.Name != "secret" {
		t.Errorf("%v %+v", err, info)
	}
	page, next, err := w.api.GetUsersInConversation(
		&slackgo.GetUsersInConversationParameters{ChannelID: "C1", Limit: 3})
	if err != nil || len(page) != 3 || next == "" {
		t.Fatalf("%v %v %q", err, page, next)
	}
	page, next, err = w.api.GetUsersInConversation(
		&slackgo.GetUsersInConversationParameters{ChannelID: "C1", Limit: 3, Cursor: next})
	if err != nil || len(page) != 1 || next != "" {
		t.Errorf("%v %v %q", err, page, next)
	}
	dm, _, _, err := w.api.OpenConversation(&slackgo.OpenConversationParameters{Users: []string{"U1"}})
	if err != nil || dm.ID != w.DMWith("U1") {
		t.Errorf("%v %+v", err, dm)
	}
	in, _, err := w.api.GetConversationsForUser(
		&slackgo.GetConversationsForUserParameters{Types: []string{"public_channel", "private_channel"}})
	if err != nil || len(in) != 2 || in[0].ID != "C1" || in[1].ID != "G1" {
		t.Errorf("%v %+v", err, in)
	}
	posted := w.alice.Posts("C1", "hello")
	link, err := w.api.GetPermalink(&slackgo.PermalinkParameters{Channel: "C1", Ts: posted.TS})
	if err != nil || !strings.HasSuffix(link, "/archives/C1/p"+strings.Replace(posted.TS, ".", "", 1)) {
		t.Errorf("%v %s", err, link)
	}
	w.WithdrawScope("groups:history")
	_, err = w.api.GetConversationHistory(&slackgo.GetConversationHistoryParameters{ChannelID: "G1"})
	wantError(t, err, "missing_scope")
	_, err = w.api.GetConversationHistory(&slackgo.GetConversationHistoryParameters{ChannelID: "C2"})
	wantError(t, err, "not_in_channel")
	_, _, _, err = w.api.GetConversationReplies(
		&slackgo.GetConversationRepliesParameters{ChannelID: "C1", Timestamp: "1.000000"})
	wantError(t, err, "thread_not_found")
}

func TestHistoryWithOldest(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	var all []string
	for range 5 {
		all = append(all, w.alice.Posts("C1", "x").TS)
	}
	page, err := w.api.GetConversationHistory(
		&slackgo.GetConversationHistoryParameters{ChannelID: "C1", Oldest: all[1], Limit: 2})
	if err != nil || len(page.Messages) != 2 || page.Messages[0].Timestamp != all[4] || !page.HasMore {
		t.Fatalf("%v %+v", err, page)
	}
	page, err = w.api.GetConversationHistory(
		&slackgo.GetConversationHistoryParameters{
			ChannelID: "C1", Oldest: all[1], Limit: 2, Cursor: page.ResponseMetaData.NextCursor,
		})
	if err != nil || len(page.Messages) != 1 || page.Messages[0].Timestamp != all[2] || page.HasMore {
		t.Errorf("%v %+v", err, page)
	}
}

func TestADumpIsTheSameInEachRun(t *testing.T) {
	draw := func() (string, string) {
		w := newWorkspace(t, slacktest.Options{})
		asked := w.alice.Posts("C1", w.MentionOfBot()+" add milk")
		_, ts, err := w.api.PostMessage("C1", text("May I?"), card("May I *add milk*?"), slackgo.MsgOptionTS(asked.TS))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.api.AddReaction("eyes", slackgo.NewRefToMessage("C1", ts)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.api.PostEphemeral("C1", "U2", text("Not yours.")); err != nil {
			t.Fatal(err)
		}
		m, err := w.WaitForText(w.ctx, "C1", asked.TS, "milk")
		if err != nil {
			t.Fatal(err)
		}
		return w.DumpChannel("C1"), w.Golden(m)
	}
	dump, golden := draw()
	const want = `channel C1 general
  ts1 alice: <@U0BOT> add milk
    ts2 gatehouse: May I *add milk*? :eyes: 1
      [Approve] [Deny]
  only bob sees: ts3 gatehouse: Not yours.
`
	if dump != want {
		t.Errorf("got\n%s", dump)
	}
	if !strings.Contains(golden, `"action_id": "approve"`) {
		t.Error(golden)
	}
	dump2, golden2 := draw()
	if dump2 != dump || golden2 != golden {
		t.Errorf("the second run differs:\n%s\n%s", dump2, golden2)
	}
}

func TestAFailedWaitShowsTheWorkspace(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	w.alice.Posts("C1", "anybody?")
	ctx, stop := context.WithTimeout(w.ctx, 10*time.Millisecond)
	defer stop()
	_, err := w.WaitForText(ctx, "C1", "", "yes")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "alice: anybody?") {
		t.Errorf("got %v", err)
	}
}
