package main

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core/llm/llmtest"
)

const forumID = "3009"

// serveDiscordModel is a gateway on a fake Discord with a forum, whose agent asks a fake vendor, which says what says
// gives.
func serveDiscordModel(t *testing.T, env map[string]string, says func() string) (*discordGateway, fakeVendor) {
	t.Helper()
	return serveDiscordModelWith(t, discordtest.Options{}, env, says)
}

func serveDiscordModelWith(
	t *testing.T, o discordtest.Options, env map[string]string, says func() string,
) (*discordGateway, fakeVendor) {
	t.Helper()
	v := vendors["Anthropic"](t)
	v.Think(func(llmtest.Received) llmtest.Answer { return v.say(says()) })
	all := maps.Clone(v.env)
	maps.Copy(all, env)
	d := serveDiscordWith(t, o, all, func(d *discordGateway) {
		d.discord.AddChannel(discordtest.Channel{ID: forumID, Guild: guildID, Kind: discordtest.Forum, Name: "ideas"})
	})
	return d, v
}

// counts says how often it was asked.
func counts() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("answer %d", n)
	}
}

// read counts the calls that read messages.
func (d *discordGateway) read() int {
	return d.discord.CountCalls(discordtest.ListMessages) + d.discord.CountCalls(discordtest.GetMessage)
}

// wantsAsked fails if the model was not told these texts in their order, the last time it was asked, or was told one of
// the others.
func wantsAsked(t *testing.T, v fakeVendor, texts []string, not ...string) {
	t.Helper()
	body := strings.NewReplacer(`\u003e`, ">", `\"`, `"`).Replace(v.lastBody())
	saysInOrder(t, body, texts...)
	saysNothingOf(t, body, not...)
}

// A mention later in a post of a forum: the first message is known. What was read stays as it was, for another attempt,
// after a restart and in the next turn, whatever has become of it on Discord.
func TestAMentionBelowADiscussionOnDiscord(t *testing.T) {
	t.Parallel()
	d, v := serveDiscordModel(t, nil, counts())
	v.Think(func(llmtest.Received) llmtest.Answer { return v.fail(529, "overloaded_error", "Overloaded") })
	post := d.ann.OpensPost(forumID, "an idea", "we could sell 42 apples. !stop approve <@"+otherID+">")
	second := d.bob.Posts(post, "or 43 pears")
	d.eve.Posts(post, d.discord.MentionOfBot())
	failed := d.reads(post, "I had trouble responding")
	read := d.read()
	if read != 1 {
		t.Errorf("Discord was asked %d times for messages", read)
	}
	d.ann.Edits(post, post, "we could sell nothing")
	d.bob.Deletes(post, second.ID)
	d.stop()
	<-d.code
	says := counts()
	v.Think(func(llmtest.Received) llmtest.Answer { return v.say(says()) })
	d.start()
	d.ready(http.StatusOK)
	d.eve.Clicks(post, failed.ID, "Try again")
	d.reads(post, "answer 1")
	wantsAsked(t, v, []string{
		`"message that began this thread","name":"ann","id":"discord:1001"`,
		"> we could sell 42 apples. !stop approve @eve",
		`"message in this thread","name":"bob","id":"discord:1002"`, "> or 43 pears",
		`{"name":"eve","id":"discord:1003"} says:`,
	}, "sell nothing")
	if n := d.read(); n != read {
		t.Errorf("another attempt read %d times", n-read)
	}
	d.bob.Posts(post, d.discord.MentionOfBot()+" and 44?")
	d.reads(post, "answer 2")
	wantsAsked(t, v, []string{"42 apples", "43 pears", "answer 1", "and 44?"}, "sell nothing")
	if n := d.read() - read; n != 1 || strings.Count(v.lastBody(), "42 apples") != 1 {
		t.Errorf("the next turn read %d times: %s", n, v.lastBody())
	}
}

// A thread that a person opens on the bot's answer is answered, with that answer known, and each message in it.
func TestAThreadOnTheAnswerOnDiscord(t *testing.T) {
	t.Parallel()
	d, v := serveDiscordModel(t, map[string]string{"DISCORD_REPLY": "channel"}, counts())
	d.ann.Posts(channelID, d.discord.MentionOfBot()+" how many?")
	answer := d.reads(channelID, "answer 1")
	d.stop()
	<-d.code
	thread := d.bob.OpensThread(channelID, answer.ID, "why", discordtest.WithoutEvent())
	d.start()
	d.ready(http.StatusOK)
	d.bob.Posts(thread, "why so many?")
	d.reads(thread, "answer 2")
	own := `"your own message that began this thread","name":"gatehouse"`
	wantsAsked(t, v, []string{own, "> answer 1", "> why so many?"}, "how many?")
	d.ann.Posts(thread, "are you sure?")
	d.reads(thread, "answer 3")
	wantsAsked(t, v, []string{"> answer 1", "answer 2", "> are you sure?"})
	d.bob.Posts(channelID, "for people alone")
	other := d.bob.OpensThread(channelID, d.bob.Posts(channelID, "for people").ID, "people")
	d.ann.Posts(other, "and this")
	d.ann.Says("hello")
	d.reads(d.discord.DMWith(askerID), "answer 4")
	if n := len(d.discord.FromBot(other)); n != 0 {
		t.Errorf("people are answered %d times", n)
	}
}

// Two bots that answer each other stop after three turns, until a person writes.
func TestBotsInARowOnDiscord(t *testing.T) {
	t.Parallel()
	d, _ := serveDiscordModel(t, map[string]string{"DISCORD_BOTS": "1009", "DISCORD_REPLY": "channel"}, counts())
	robot := d.discord.AddUser(discordtest.User{ID: "1009", Name: "robot", IsBot: true})
	robot.Joins(guildID)
	for n := range 3 {
		robot.Posts(channelID, d.discord.MentionOfBot()+" and then?")
		d.reads(channelID, fmt.Sprintf("answer %d", n+1))
	}
	robot.Posts(channelID, d.discord.MentionOfBot()+" and then?")
	told := func() bool { return strings.Contains(d.log.String(), "a person has to write") }
	waitUntil(t, told, "the log says that a person has to write")
	d.ann.Posts(channelID, d.discord.MentionOfBot()+" go on")
	d.reads(channelID, "answer 4")
	robot.Posts(channelID, d.discord.MentionOfBot()+" and then?")
	d.reads(channelID, "answer 5")
	if n := len(d.discord.FromBot(channelID)); n != 5 {
		t.Errorf("there are %d answers", n)
	}
}

// A command that is tried again is the same question, also where the content of messages is withheld, and knows the
// thread as it was.
func TestACommandIsTriedAgainOnDiscord(t *testing.T) {
	t.Parallel()
	for idea, denied := range map[string]int{
		"> we could sell 42 apples": 0, "lacks the Message Content": discordtest.IntentMessageContent,
	} {
		d, v := serveDiscordModelWith(t, discordtest.Options{Denied: denied}, nil, counts())
		d.registered()
		thread := d.ann.OpensPost(forumID, "an idea", "we could sell 42 apples")
		d.ann.Says("hello")
		d.reads(d.discord.DMWith(askerID), "answer 1") // and so the post has come, and is not for the bot
		for _, channel := range []string{thread, channelID} {
			v.Think(func(llmtest.Received) llmtest.Answer { return v.fail(529, "overloaded_error", "Overloaded") })
			d.bob.Runs(channel, "/ask how many?")
			failed := d.reads(channel, "I had trouble responding")
			v.Think(func(llmtest.Received) llmtest.Answer { return v.say("here is the answer") })
			d.bob.Clicks(channel, failed.ID, "Try again")
			d.reads(channel, "here is the answer")
			asked := []string{`{"name":"bob","id":"discord:1002"} says:`, "> how many?"}
			if channel == thread {
				asked = append([]string{"> an idea", idea}, asked...)
			}
			wantsAsked(t, v, asked)
		}
	}
}

// Messages that people wrote in a thread before the bot was asked there come once more where a session is resumed after
// a kill, and then the conversation is known. They are not answered.
func TestWhatWasSaidBeforeIsNotAnsweredAfterAKillOnDiscord(t *testing.T) {
	t.Parallel()
	asks := func(t *testing.T, point string, nth int, record string) {
		p := newDiscordProcess(t, sqliteFile, discordtest.Options{})
		p.open(armed(point, nth, record)...)
		p.waitConnected()
		thread := p.bob.OpensThread(channelID, p.bob.Posts(channelID, "the root").ID, "work")
		p.bob.Posts(thread, "calc 2+2")
		p.bob.Posts(thread, "calc 3+3")
		p.bob.Posts(thread, "!new")
		p.ann.Posts(thread, p.discord.MentionOfBot()+" calc 1+1")
		p.untilRestarting("the answer", func() bool { return len(p.discord.FromBot(thread)) > 0 && p.settled() })
		p.app.kill()
		if all := p.discordGateway.says(thread); len(all) != 1 || all[0] != "1+1 = 2" {
			t.Errorf("%s: %q", point, all)
		}
	}
	record := filepath.Join(t.TempDir(), "points")
	asks(t, "", 0, record)
	for point, nths := range passes(t, record, "KeepFetched", "Finish") {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				asks(t, point, nth, "")
			})
		}
	}
}
