package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// What people read in place of an answer that Discord refuses.
const (
	moderated = "My answer could not be posted here. Discord's automatic moderation (AutoMod) of this server refused"
	filtered  = "My answer could not be posted here. Discord's filter for harmful links refused a link in it."
)

var deadPost = regexp.MustCompile(`post:\d+`)

// says are the messages of the bot in a channel, as people read them.
func (d *discordGateway) says(channel string) (all []string) {
	for _, m := range d.discord.FromBot(channel) {
		all = append(all, strings.ReplaceAll(m.Shown(), `\`, ""))
	}
	return all
}

// told waits until the bot has said something in a channel, beside what it says else.
func (d *discordGateway) told(channel string, want ...string) {
	d.t.Helper()
	waitUntil(d.t, func() bool {
		all := d.says(channel)
		for i, text := range want {
			if len(all) != len(want) || !strings.HasPrefix(all[i], text) {
				return false // a notice of a long turn stands there until its end
			}
		}
		return true
	}, strings.Join(want, ", then "))
}

// deadLetter waits for the only dead letter, with these words in its cause. A card's may wait again for a moment, since
// a press draws it more than once.
func (d *discordGateway) deadLetter(words string) string {
	d.t.Helper()
	var ids []string
	waitUntil(d.t, func() bool {
		_, out := d.command("deadletters", "list")
		if ids = deadPost.FindAllString(out, -1); len(ids) != 1 || !strings.Contains(out, "content_refused") {
			return false
		}
		_, out = d.command("deadletters", "show", ids[0])
		return strings.Contains(out, words)
	}, "one dead letter: "+words)
	return ids[0]
}

// TestDiscordSaysThatAnAnswerWasRefused in its place, once, however often an admin sends it again; it may arrive later.
func TestDiscordSaysThatAnAnswerWasRefused(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, nil)
	d.discord.Block(guildID, "1+1 = 2", "calc")
	ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" calc 1+1")
	d.told(ask.ID, moderated)
	if thread, _ := d.discord.Channel(ask.ID); thread.Name != "Conversation" {
		t.Errorf("the thread is named %q", thread.Name)
	}
	id := d.deadLetter("HTTP 400, code 200000")
	calls := d.discord.CountCalls(discordtest.CreateMessage)
	d.command("deadletters", "retry", id)
	waitUntil(t, func() bool { return d.discord.CountCalls(discordtest.CreateMessage) > calls }, "it is sent again")
	d.deadLetter("HTTP 400, code 200000")
	d.told(ask.ID, moderated)
	d.discord.Block(guildID)
	d.command("deadletters", "retry", id)
	d.told(ask.ID, moderated, "1+1 = 2")
}

// TestDiscordSaysThatALinkWasRefused also in direct messages, where no moderation of a server applies.
func TestDiscordSaysThatALinkWasRefused(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, map[string]string{"GATEHOUSE_AGENT": "echo"})
	d.discord.BlockLinks("evil.example")
	d.discord.Block(guildID, "fine")
	d.ann.Says("see https://evil.example/x")
	dm := d.discord.DMWith(askerID)
	d.told(dm, filtered)
	d.deadLetter("HTTP 400, code 240000")
	d.ann.Says("it is fine")
	d.reads(dm, "fine")
}

// TestDiscordSaysThatTheRestWasRefused where a later part of an answer is, in the words of whoever runs gatehouse.
func TestDiscordSaysThatTheRestWasRefused(t *testing.T) {
	t.Parallel()
	replies := filepath.Join(t.TempDir(), "replies.yaml")
	const said = "rest_refused: \"Der Rest fehlt: {message}\"\nmoderation_refused: AutoMod will ihn nicht.\n"
	noErr(t, os.WriteFile(replies, []byte(said), 0o600))
	env := map[string]string{"GATEHOUSE_AGENT": "echo", "GATEHOUSE_REPLIES": replies}
	d := serveDiscord(t, discordtest.Options{}, env)
	d.discord.Block(guildID, "forbidden")
	ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" begin "+strings.Repeat("word ", 390)+"forbidden")
	waitUntil(t, func() bool { return len(d.says(ask.ID)) == 2 }, "the beginning and the sentence")
	all := d.says(ask.ID)
	if !strings.Contains(all[0], "begin word") || all[1] != "Der Rest fehlt: AutoMod will ihn nicht." {
		t.Errorf("%q", all)
	}
	d.deadLetter("200000")
}

// TestDiscordACommandIsToldThatItsAnswerWasRefused without the question above it, which may have the words.
func TestDiscordACommandIsToldThatItsAnswerWasRefused(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		d.registered()
		d.discord.Block(guildID, "calc")
		d.ann.Runs(channelID, "/ask calc 1+1")
		waitUntil(t, func() bool {
			all := d.says(channelID)
			return len(all) == 1 && strings.HasPrefix(all[0], moderated)
		}, "the command's answer says it")
		d.deadLetter("200000")
	})
}

// TestDiscordARefusedCardReachesItsApprovers by direct messages. Who asked learns it, and that the answer was refused.
func TestDiscordARefusedCardReachesItsApprovers(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, map[string]string{"GATEHOUSE_APPROVERS": "discord:" + deciderID})
	d.discord.Block(guildID, "milk")
	ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
	dm := d.discord.DMWith(deciderID)
	d.card(dm, "milk")
	d.reads(d.discord.DMWith(askerID), "The approvers have received it as a direct message")
	d.deadLetter("200000")
	button, _ := d.discord.FindButton(dm, d.discord.FromBot(dm)[0].ID, "Approve")
	d.bob.Presses(button)
	d.told(ask.ID, moderated)
	if n := len(d.says(d.discord.DMWith(askerID))); n != 1 {
		t.Errorf("%d direct messages to who asked\n%s", n, d.discord.Dump())
	}
}

// TestDiscordACardWhoseChangeIsRefusedStays as it is; the decision counts.
func TestDiscordACardWhoseChangeIsRefusedStays(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
		card := d.card(ask.ID, "milk")
		d.discord.Block(guildID, "approved")
		button, _ := d.discord.FindButton(ask.ID, card.ID, "Approve")
		d.bob.Presses(button)
		d.reads(ask.ID, "Done: “milk”")
		d.deadLetter("200000")
		for _, text := range d.says(ask.ID) {
			if strings.Contains(text, "could not be posted") {
				t.Errorf("%s\n%s", text, d.discord.Dump())
			}
		}
	})
}

// TestLaw2_DiscordKilledAroundARefusal kills the process around every store call of an answer that Discord refuses.
func TestLaw2_DiscordKilledAroundARefusal(t *testing.T) {
	t.Parallel()
	refusal := func(t *testing.T, point string, nth int, record string) {
		p := newDiscordProcess(t, sqliteFile, discordtest.Options{})
		p.discord.Block(guildID, "1+1 = 2")
		p.open(armed(point, nth, record)...)
		p.waitConnected()
		ask := p.ann.Posts(channelID, p.discord.MentionOfBot()+" calc 1+1")
		p.untilRestarting("the sentence", func() bool { return len(p.discord.FromBot(ask.ID)) > 0 && p.settled() })
		p.app.kill()
		if all := p.discordGateway.says(ask.ID); len(all) != 1 || !strings.HasPrefix(all[0], moderated) {
			t.Errorf("%s: %q", point, all)
		}
		dead, err := p.store.ListPosts(t.Context(), []core.RowState{core.RowDead}, "", 0)
		if err != nil || len(dead) != 1 || dead[0].Text != "1+1 = 2" {
			t.Errorf("%s: %+v, %v", point, dead, err)
		}
	}
	record := filepath.Join(t.TempDir(), "points")
	refusal(t, "", 0, record)
	for point, nths := range passes(t, record, "Finish", "FailPost", "ReleasePost") {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				refusal(t, point, nth, "")
			})
		}
	}
}
