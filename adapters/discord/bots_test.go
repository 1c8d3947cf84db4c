package discord_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// withBots is a platform that answers a bot and a webhook, and the two.
func withBots(t *testing.T) (r *inbound, h *history, robot, hook *discordtest.Person) {
	t.Helper()
	r, h = reading(t, setup{config: func(c *discord.Config) { c.Bots = "1009, 1010,900000000000000002" }})
	robot = r.AddUser(discordtest.User{ID: "1009", Name: "robot", IsBot: true})
	robot.Joins(guild)
	return r, h, robot, r.AddUser(discordtest.User{ID: "1010", Name: "deploys", IsWebhook: true})
}

func TestBotsThatMayAsk(t *testing.T) {
	r, _, robot, hook := withBots(t)
	other := r.AddUser(discordtest.User{ID: "1011", Name: "other", IsBot: true})
	other.Joins(guild)
	for who, name := range map[*discordtest.Person]string{robot: "robot", hook: "deploys"} {
		e := r.of(who.Posts(general, r.MentionOfBot()+" !stop"))
		if e.Actor.ID != "discord:"+who.ID || e.Actor.Name != name || e.Kind() != core.KindMessage || e.FollowUp {
			t.Errorf("%s came as %+v", name, e)
		}
		if m := r.says(e); m.Content.Own() != "!stop" {
			t.Errorf("%s says %+v", name, m)
		}
		speaker, ok := r.says(e).Content.Speaker()
		if want := (core.Speaker{Name: name, ID: "discord:" + who.ID}); !ok || speaker != want {
			t.Errorf("%s speaks as %+v", name, speaker)
		}
		r.none(who.Posts(general, "for somebody else"))
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		if e := r.of(who.Posts(thread, "in a thread")); !e.FollowUp {
			t.Errorf("in a thread %s came as %+v", name, e)
		}
	}
	said := map[string]any{
		"id": "1575058926966456320", "type": discordtest.TypeCommand, "channel_id": general, "guild_id": guild,
		"content": r.MentionOfBot() + " check it",
		"author":  map[string]any{"id": robot.ID, "username": "robot", "bot": true},
	}
	// as the answer to a person's command
	r.of(robot.Posts(general, r.MentionOfBot()+" check it", discordtest.SentAs(said)))
	r.none(other.Posts(general, r.MentionOfBot()+" hello"))
	r.none(r.Person(r.BotUserID()).Posts(general, r.MentionOfBot()+" hello"))
}

// Three turns of bots may follow each other, whichever bots, until a person writes.
func TestTurnsOfBotsInARow(t *testing.T) {
	r, h, robot, hook := withBots(t)
	thread := r.ann.OpensPost(forum, "an idea", r.MentionOfBot()+" what do you think?")
	h.ended(r.inbox.Event("message/"+thread+"/"+thread), core.EndReplied)
	asks := func(who *discordtest.Person, answered bool) {
		t.Helper()
		e := r.of(who.Posts(thread, "and this?"))
		in, err := r.p.Parse(r.ctx, e)
		end := core.EndReplied
		if in.Message == nil {
			end = core.EndIgnored
		}
		if err != nil || (in.Message != nil) != answered || (in.Ignored == "") != answered {
			t.Errorf("got %+v, %v", in, err)
		}
		h.ended(e, end)
	}
	warned := func() int { return strings.Count(r.log.String(), "a person has to write") }
	for round := range 2 {
		asks(robot, true)
		asks(hook, true)
		asks(robot, true)
		asks(hook, false)
		asks(robot, false)
		if n := warned(); n != 2*(round+1) {
			t.Errorf("it was logged %d times", n)
		}
		asks(r.ann, true)
	}
}

// A bot that may ask can't decide, nor run commands, even if somebody named it as an approver.
func TestABotCannotDecide(t *testing.T) {
	r, _, robot, _ := withBots(t)
	b := r.button(general, r.sealed("a1", string(core.Approve)))
	robot.Presses(b)
	robot.Runs(general, "/new")
	r.settled()
	for _, id := range r.inbox.IDs() {
		if !strings.HasPrefix(id, "message/") {
			t.Errorf("this is stored: %s", id)
		}
	}
	if n := strings.Count(r.log.String(), "a bot can't decide"); n != 2 {
		t.Errorf("it is logged %d times:\n%s", n, r.log)
	}
}
