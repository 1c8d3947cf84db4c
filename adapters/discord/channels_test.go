package discord_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// said dispatches a message in any channel and returns its event.
func (r *inbound) said(channel, id, text string) core.Event {
	r.t.Helper()
	r.Dispatch(guild,
		"MESSAGE_CREATE",
		[]byte(`{"id":"`+id+`","channel_id":"`+channel+`","guild_id":"`+guild+`","type":0,"content":"`+text+`",
		"author":{"id":"`+annID+`","username":"ann"},"mentions":[],"mention_roles":[],"attachments":[]}`))
	return r.inbox.Event("message/" + channel + "/" + id)
}

// answer posts a reply to an event and fails if that is refused.
func (r *inbound) answer(e core.Event) {
	r.t.Helper()
	d := core.Delivery{Post: core.Post{
		Key: "reply/" + e.ID, Kind: core.PostReply, Text: "the answer", To: e.Address, Conversation: e.Conversation,
	}}
	if _, _, err := r.p.Post(r.ctx, d); err != nil {
		r.t.Errorf("the answer to %s: %v", e.ID, err)
	}
}

// The first message of a forum post has the id of its thread and is in the thread.
func TestForumPostIsAnsweredInItsThread(t *testing.T) {
	r := newInbound(t, setup{}).known()
	const forum, post = "3009", "7009"
	r.AddChannel(discordtest.Channel{ID: forum, Guild: guild, Kind: discordtest.Forum, Name: "ideas"})
	r.AddChannel(
		discordtest.Channel{ID: post, Guild: guild, Kind: discordtest.PublicThread, Name: "an idea", Parent: forum})
	first := r.said(post, post, r.MentionOfBot()+" what do you think?")
	if first.Conversation != core.ConversationID("discord:"+guild+":"+post) || first.Address.Channel != forum ||
		first.Address.Thread != post {
		t.Errorf("it came as %+v", first)
	}
	r.answer(first)
	if said := r.FromBot(post); len(said) != 1 || !strings.Contains(said[0].Content, "the answer") {
		t.Error(r.Dump())
	}
	if n := r.CountCalls(discordtest.StartThread); n != 0 {
		t.Errorf("it tried %d times to open a thread", n)
	}
}

// No threads can be opened in the chat of a voice channel: it is one conversation.
func TestVoiceChannelChatIsOneConversation(t *testing.T) {
	r := newInbound(t, setup{}).known()
	const voice = "3010"
	r.AddChannel(discordtest.Channel{ID: voice, Guild: guild, Kind: 2, Name: "talk"})
	first, second := r.said(voice, "7011", r.MentionOfBot()+" hello"),
		r.said(voice, "7012", r.MentionOfBot()+" and then?")
	if want := core.ConversationID("discord:" + guild + ":" + voice); first.Conversation != want ||
		second.Conversation != want {
		t.Errorf("they came in %q and %q, want %q", first.Conversation, second.Conversation, want)
	}
	r.answer(first)
	if said := r.FromBot(voice); len(said) != 1 || !strings.Contains(said[0].Content, "the answer") {
		t.Error(r.Dump())
	}
}
