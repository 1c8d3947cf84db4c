package slacktest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
)

func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 20}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func text(s string) slackgo.MsgOption { return slackgo.MsgOptionText(s, false) }

// wantError checks that slack-go's error has Slack's error code.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	var refused slackgo.SlackErrorResponse
	if !errors.As(err, &refused) || refused.Err != want {
		t.Errorf("got %#v, want the error %s", err, want)
	}
}

func TestAuthTestReturnsIdentityAndScopes(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{Scopes: []string{"chat:write", "users:read"}})
	who, err := w.api.AuthTest()
	if err != nil {
		t.Fatal(err)
	}
	if who.UserID != w.BotUserID() || who.BotID != w.BotID() || who.TeamID != w.TeamID() {
		t.Errorf("got %+v", who)
	}
	if got := who.Header.Get("X-OAuth-Scopes"); got != "chat:write,users:read" {
		t.Errorf("scopes %q", got)
	}
	_, err = slackgo.New("xoxb-wrong", slackgo.OptionAPIURL(w.APIURL()),
		slackgo.OptionHTTPClient(newClient(t))).AuthTest()
	wantError(t, err, "invalid_auth")
	_, err = slackgo.New("", slackgo.OptionAPIURL(w.APIURL()), slackgo.OptionHTTPClient(newClient(t))).AuthTest()
	wantError(t, err, "not_authed")
	w.RevokeToken()
	_, err = w.api.AuthTest()
	wantError(t, err, "token_revoked")
}

func TestAMessageIsPostedReadUpdatedAndDeleted(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	asked := w.alice.Posts("C1", "hello")
	meta := slackgo.SlackMetadata{EventType: "gatehouse_post", EventPayload: map[string]any{"key": "k1"}}
	section := slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", "*Hi* there", false, false), nil, nil)
	channel, ts, message, err := w.api.PostMessageWithResponse("C1", text("fallback"), slackgo.MsgOptionBlocks(section),
		slackgo.MsgOptionTS(asked.TS), slackgo.MsgOptionMetadata(meta), slackgo.MsgOptionDisableLinkUnfurl())
	if err != nil || channel != "C1" || message.BotID != w.BotID() {
		t.Fatalf("%v %s %+v", err, channel, message)
	}
	if got := w.Calls("chat.postMessage")[0].Args["unfurl_links"]; got != "false" {
		t.Errorf("unfurl_links %q", got)
	}
	read, _, _, err := w.api.GetConversationReplies(
		&slackgo.GetConversationRepliesParameters{ChannelID: "C1", Timestamp: asked.TS, IncludeAllMetadata: true})
	if err != nil || len(read) != 2 || read[0].ReplyCount != 1 || read[1].Metadata.EventPayload["key"] != "k1" {
		t.Fatalf("%v %+v", err, read)
	}
	page, err := w.api.GetConversationHistory(&slackgo.GetConversationHistoryParameters{ChannelID: "C1"})
	if err != nil || len(page.Messages) != 1 || page.Messages[0].Text != "hello" {
		t.Fatalf("%v %+v", err, page)
	}
	if _, _, _, err := w.api.UpdateMessage("C1", ts, text("fallback 2")); err != nil {
		t.Fatal(err)
	}
	now, _ := w.Message("C1", ts)
	if now.Text != "fallback 2" || now.Shown() != "*Hi* there" || now.Metadata == nil || now.Edits != 1 {
		t.Errorf("what the update leaves out should stay: %+v", now)
	}
	_, _, _, err = w.api.UpdateMessage("C1", asked.TS, text("mine now"))
	wantError(t, err, "cant_update_message")
	w.alice.Deletes("C1", ts, slacktest.WithoutEvent())
	_, _, _, err = w.api.UpdateMessage("C1", ts, text("gone"))
	wantError(t, err, "message_not_found")
}

func TestRefusedPostsHaveSlacksErrorCodes(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	w.AddChannel(slacktest.Channel{ID: "C3", Name: "old", Archived: true, Members: []string{w.BotUserID()}})
	long := func(n int) string { return strings.Repeat("x", n) }
	section := func(n int) slackgo.MsgOption {
		return slackgo.MsgOptionBlocks(
			slackgo.NewSectionBlock(slackgo.NewTextBlockObject("mrkdwn", long(n), false, false), nil, nil))
	}
	button := func(label, value string) slackgo.MsgOption {
		return slackgo.MsgOptionBlocks(
			slackgo.NewActionBlock("b",
				slackgo.NewButtonBlockElement("a", value,
					slackgo.NewTextBlockObject("plain_text", label, false, false))))
	}
	many := func(n int) slackgo.MsgOption {
		blocks := make([]slackgo.Block, n)
		for i := range blocks {
			blocks[i] = slackgo.NewDividerBlock()
		}
		return slackgo.MsgOptionBlocks(blocks...)
	}
	rich := func(sizes ...int) slackgo.MsgOption {
		var blocks []slackgo.Block
		for _, n := range sizes {
			said := slackgo.NewRichTextSectionTextElement(long(n), nil)
			blocks = append(blocks, slackgo.NewRichTextBlock("", slackgo.NewRichTextSection(said)))
		}
		return slackgo.MsgOptionBlocks(blocks...)
	}
	picture := slackgo.MsgOptionBlocks(slackgo.NewImageBlock("https://x", "x", "", nil))
	for _, c := range []struct {
		name, channel string
		what          slackgo.MsgOption
		want          string
	}{
		{"no such channel", "C404", text("x"), "channel_not_found"},
		{"a private channel without the bot", "G2", text("x"), "channel_not_found"},
		{"a public channel without the bot", "C2", text("x"), "not_in_channel"},
		{"archived", "C3", text("x"), "is_archived"},
		{"nothing", "C1", text(""), "no_text"},
		{"a long text", "C1", text(long(4001)), "msg_too_long"},
		{"as long as may be", "C1", text(long(4000)), ""},
		{"a long section", "C1", section(3001), "invalid_blocks"},
		{"a section", "C1", section(3000), ""},
		{"an empty section", "C1", section(0), "invalid_blocks"},
		{"a long button", "C1", button(long(76), "v"), "invalid_blocks"},
		{"a long value", "C1", button("x", long(2001)), "invalid_blocks"},
		{"a button", "C1", button(long(75), long(2000)), ""},
		{"many blocks", "C1", many(51), "invalid_blocks"},
		{"not too many blocks", "C1", many(50), ""},
		{"much text", "C1", rich(6600, 6601), "msg_blocks_too_long"},
		{"not too much text", "C1", rich(6600, 6600), ""},
		{"a block that the fake does not know", "C1", picture, "invalid_blocks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := w.api.PostMessage(c.channel, c.what)
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" {
				wantError(t, err, c.want)
			}
		})
	}
	w.WithdrawScope("chat:write")
	_, _, err := w.api.PostMessage("C1", text("x"))
	var refused slackgo.SlackErrorResponse
	if !errors.As(err, &refused) || refused.Needed != "chat:write" ||
		!strings.Contains(refused.Provided, "users:read") {
		t.Errorf("got %#v", err)
	}
}

func TestReactionsAreAddedAndRemovedOnce(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	at := slackgo.NewRefToMessage("C1", w.alice.Posts("C1", "hello").TS)
	if err := w.api.AddReaction("eyes", at); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.api.AddReaction("eyes", at), "already_reacted")
	if err := w.api.RemoveReaction("eyes", at); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.api.RemoveReaction("eyes", at), "no_reaction")
	wantError(t, w.api.AddReaction("eyes", slackgo.NewRefToMessage("C1", "1.000000")), "message_not_found")
}

func TestTimestampsIncreaseWhileTheClockStops(t *testing.T) {
	clock := fakeserver.NewClock(time.Unix(1700000000, 0))
	w := newWorkspace(t, slacktest.Options{Now: clock.Now})
	first, second := w.alice.Posts("C1", "one").TS, w.alice.Posts("C1", "two").TS
	if first != "1700000000.000000" || second != "1700000000.000100" {
		t.Errorf("got %s and %s", first, second)
	}
}
