package slack_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// among is a platform that answers a workflow and a bot, in a channel with another bot, and a group.
func among(t *testing.T, change func(*slack.Config)) (r *running, workflow, deploys, other *slacktest.Person) {
	t.Helper()
	r = start(t, setup{config: func(c *slack.Config) {
		overHTTP(c)
		c.Bots, c.MentionGroups = "B0WF, U3BOT,B0BOT,U0BOT", "S0BOTS"
		if change != nil {
			change(c)
		}
	}}).known()
	workflow = r.AddUser(
		slacktest.User{ID: "U0WF", Name: "Deploy workflow", IsBot: true, BotID: "B0WF", Workflow: true})
	deploys = r.AddUser(slacktest.User{ID: "U3BOT", Name: "deploys", IsBot: true})
	other = r.AddUser(slacktest.User{ID: "U4BOT", Name: "other", IsBot: true})
	for _, id := range []string{"U0WF", "U3BOT", "U4BOT"} {
		r.Invite("C1", id)
		r.Invite("G1", id)
	}
	return r, workflow, deploys, other
}

func TestListedBotsAndWorkflowsMayAsk(t *testing.T) {
	r, workflow, deploys, other := among(t, nil)
	bot := r.MentionOfBot()
	for who, want := range map[*slacktest.Person]core.Speaker{
		workflow: {Name: "Deploy workflow", ID: "slack:B0WF"}, deploys: {Name: "deploys", ID: "slack:U3BOT"},
	} {
		root := who.Posts("C1", bot+" deploy main")
		e := r.one(root.Deliveries...)
		if e.Actor.ID != want.ID || e.Kind() != core.KindMessage || e.FollowUp || e.Address.Thread != root.TS {
			t.Errorf("it became %+v", e)
		}
		m := r.message(e)
		if s, _ := m.Content.Speaker(); s != want || m.Content.Own() != "deploy main" {
			t.Errorf("the agent reads %s", m.Content)
		}
		e = r.one(who.Posts("C1", "!stop", slacktest.InThread(root.TS)).Deliveries...)
		if e.Kind() != core.KindMessage || !e.FollowUp {
			t.Errorf("a control word of a bot became %+v", e)
		}
		r.none(who.Posts("C1", "deployed").Deliveries...)
		r.none(who.Posts("G1", "deployed").Deliveries...)
		r.one(who.Posts("G1", bot+" deploy").Deliveries...)
		r.none(other.Posts("C1", bot+" deploy", slacktest.InThread(root.TS)).Deliveries...)
	}
	r.none(other.Posts("C1", bot+" deploy").Deliveries...)
	old := deploys.Posts("C1", bot+" deploy", slacktest.AsBotMessage()) // by another id than the one that is listed
	r.none(old.Deliveries...)
}

func TestTheBotItselfIsNeverAnswered(t *testing.T) {
	r, _, _, _ := among(t, nil)
	for _, fields := range []map[string]any{
		{"user": r.BotUserID(), "bot_id": r.BotID()}, {"bot_id": r.BotID()}, {"user": r.BotUserID()},
		{"bot_id": r.BotID(), "subtype": "bot_message"},
	} {
		fields["type"], fields["channel"], fields["channel_type"] = "message", "C1", "channel"
		fields["text"], fields["ts"] = r.MentionOfBot()+" x", "1900000000.000100"
		r.none(r.Send(fields))
	}
}

// TestABotsTextMayBeInItsBlocks: a mention there counts, and one in code does not.
func TestABotsTextMayBeInItsBlocks(t *testing.T) {
	r, _, _, _ := among(t, nil)
	type object = map[string]any
	in := func(kind string, elements ...any) []any { return []any{object{"type": kind, "elements": elements}} }
	rich := func(elements ...any) []any { return in("rich_text", in("rich_text_section", elements...)...) }
	mrkdwn := func(text string) []any {
		return []any{object{"type": "section", "text": object{"type": "mrkdwn", "text": text}}}
	}
	user := object{"type": "user", "user_id": "U0BOT"}
	coded := object{"type": "user", "user_id": "U0BOT", "style": object{"code": true}}
	for i, c := range []struct {
		text   any
		blocks any
		forBot bool
	}{
		{"", rich(user, object{"type": "text", "text": " deploy"}), true},
		{"", rich(coded), false}, {"", rich(coded, user), true},
		{"<@U0BOT> deploy", rich(coded), false}, {"<@U0BOT> deploy", rich(user), true}, {"<@U0BOT> deploy", 5, true},
		{"", mrkdwn("<@U0BOT> deploy"), true}, {"", mrkdwn("`<@U0BOT> deploy`"), false},
		{"", in("rich_text", in("rich_text_preformatted", user)...), false},
		{"", rich(object{"type": "usergroup", "usergroup_id": "S0BOTS"}), true},
		{"", rich(object{"type": "text", "text": "<@U0BOT> deploy"}), false},
	} {
		d := r.Send(object{
			"type": "message", "channel": "C1", "channel_type": "channel", "text": c.text, "blocks": c.blocks,
			"bot_id": "B0WF", "username": 7, "bot_profile": []int{1}, "ts": fmt.Sprintf("1900000000.%06d", i),
		})
		if got := r.taken(d); (len(got) == 1) != c.forBot {
			t.Errorf("%v %v became %v", c.text, c.blocks, got)
		}
	}
}

// TestABotsTextMayBeInWhatItAttaches, as that of an alert; a mention in what it quotes, or in code, does not count.
func TestABotsTextMayBeInWhatItAttaches(t *testing.T) {
	r, _, _, _ := among(t, nil)
	type object = map[string]any
	coded := object{"type": "user", "user_id": "U0BOT", "style": object{"code": true}}
	section := object{"type": "rich_text_section", "elements": []any{coded}}
	for i, c := range []struct {
		attached object
		forBot   bool
	}{
		{object{"color": "danger", "text": "<@U0BOT> disk full", "fallback": "x"}, true},
		{object{"text": "`<@U0BOT> help`"}, false},
		{object{"blocks": []any{object{"type": "rich_text", "elements": []any{section}}}}, false},
		{object{"is_share": true, "author_id": "U1ANN", "text": "<@U0BOT> disk full"}, false},
		{object{"from_url": "https://x.example", "text": "<@U0BOT> disk full"}, false},
		{object{"author_name": "ann", "text": "<@U0BOT> disk full"}, false},
	} {
		d := r.Send(object{
			"type": "message", "channel": "C1", "channel_type": "channel", "text": "", "attachments": []any{c.attached},
			"bot_id": "B0WF", "subtype": "bot_message", "ts": fmt.Sprintf("1900000000.%06d", i),
		})
		if got := r.taken(d); (len(got) == 1) != c.forBot {
			t.Errorf("%v became %v", c.attached, got)
		} else {
			for _, e := range got {
				if own := r.message(e).Content.Own(); own != "disk full" {
					t.Errorf("%v reads %q", c.attached, own)
				}
			}
		}
	}
}

// TestABotsEditIsItsOwn: a message of a bot that SLACK_BOTS names is changed and withdrawn as a person's; no other is.
func TestABotsEditIsItsOwn(t *testing.T) {
	r, _, _, _ := among(t, nil)
	type object = map[string]any
	for i, id := range []string{"B0WF", "B0ELSE", r.BotID()} {
		ts, at := fmt.Sprintf("1900000000.%06d", i), fmt.Sprintf("1900000001.%06d", i)
		was := object{"type": "message", "subtype": "bot_message", "bot_id": id, "text": "<@U0BOT> deploy", "ts": ts}
		is := maps.Clone(was)
		is["text"], is["edited"] = "<@U0BOT> deploy main", object{"user": id, "ts": at}
		change := object{
			"type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel",
			"ts": at, "event_ts": at, "message": is, "previous_message": was,
		}
		deletion := maps.Clone(change)
		deletion["subtype"], deletion["deleted_ts"] = "message_deleted", ts
		for _, fields := range []object{change, deletion} {
			got := r.taken(r.Send(fields))
			if named := id == "B0WF"; (len(got) == 1) != named {
				t.Errorf("%v became %v", fields, got)
			}
			for _, e := range got {
				if e.Kind() != core.KindAmend || e.Actor.ID != "slack:B0WF" || e.Subject() != "message/T0GATE/C1/"+ts {
					t.Errorf("%v became %+v", fields, e)
				}
			}
		}
	}
}

func TestAMentionInCodeIsNone(t *testing.T) {
	r, _, _, _ := among(t, nil)
	for text, forBot := range map[string]bool{
		"you write `<@U0BOT> help` for help": false, "```\n<@U0BOT> help\n```": false, "`<@U0BOT>`": false,
		"(`a` `<@U0BOT> help`)": false, "`<@U0BOT> help` is what <@U0BOT> reads": true, "`a` <@U0BOT> `b`": true,
		"it`s <@U0BOT> it`s": true, "``` <@U0BOT>": true, "`\n<@U0BOT>`": true,
		"`<!subteam^S0BOTS> help`": false, "<!subteam^S0BOTS|@bots> help": true, "<!subteam^S0OPS> help": false,
	} {
		if got := r.taken(r.ann.Posts("C1", text).Deliveries...); (len(got) == 1) != forBot {
			t.Errorf("%q became %v", text, got)
		}
	}
	root := r.ann.Posts("C1", "<@U0BOT> hello")
	r.one(root.Deliveries...)
	e := r.one(r.ann.Posts("C1", "`<@U0BOT> help` is what I wrote", slacktest.InThread(root.TS)).Deliveries...)
	if got := r.message(e).Content.Own(); !e.FollowUp || !strings.HasPrefix(got, "`@") {
		t.Errorf("%+v reads %q", e, got)
	}
}

func TestAMentionOfAGroupCountsAsTheBots(t *testing.T) {
	r, _, _, _ := among(t, nil)
	for text, own := range map[string]string{
		"<!subteam^S0BOTS> status please": "status please", "<@U0BOT>, <!subteam^S0BOTS|@bots>: status": "status",
		"status <!subteam^S0BOTS|@bots>": "status @bots",
	} {
		if got := r.message(r.one(r.ann.Posts("C1", text).Deliveries...)).Content.Own(); got != own {
			t.Errorf("%q reads %q", text, got)
		}
	}
	if e := r.one(r.ann.Posts("C1", "<!subteam^S0BOTS> !stop").Deliveries...); e.Kind() != core.KindControl {
		t.Errorf("a control word became %+v", e)
	}
	r.one(r.ann.Posts("G1", "<!subteam^S0BOTS> hello").Deliveries...)
}

func TestAMentionOfAnotherGroupIsNone(t *testing.T) {
	r := start(t, setup{}).known()
	r.none(r.ann.Posts("C1", "<!subteam^S0BOTS> status please").Deliveries...)
}

// TestABotOfAnotherWorkspaceNeedsBothSettings: what the event says decides, and nobody is asked.
func TestABotOfAnotherWorkspaceNeedsBothSettings(t *testing.T) {
	for connect, answered := range map[string]bool{"deny": false, "allow": true} {
		t.Run(connect, func(t *testing.T) {
			r, _, _, _ := among(t, func(c *slack.Config) { c.Connect = connect })
			for i, field := range []string{"team", "user_team", "source_team"} {
				d := r.Send(map[string]any{
					"type": "message", "bot_id": "B0WF", "text": r.MentionOfBot() + " x", "channel": "C1",
					"channel_type": "channel",
					"ts":           fmt.Sprintf("1900000000.%06d", i), field: "T9OTHER",
				})
				if got := r.taken(d); (len(got) == 1) != answered {
					t.Errorf("with the %s of another workspace it became %v", field, got)
				}
			}
			if n := r.CountCalls("users.info") + r.CountCalls("bots.info") +
				r.CountCalls("chat.postEphemeral"); n != 0 {
				t.Errorf("Slack was asked %d times", n)
			}
		})
	}
}

// TestAListedBotDecidesNothing: whatever it sends, not even a reason can be given.
func TestAListedBotDecidesNothing(t *testing.T) {
	r, _, deploys, _ := among(t, func(c *slack.Config) { c.Bots += ",U2BOB" })
	b := r.button("C1", r.sealed("a1", "approve"))
	deploys.Presses(b)
	r.none(r.bob.Presses(b)) // who may approve
	r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "reason"))))
	if _, err := r.WaitForEphemeral(r.ctx, "C1", "U2BOB", "Bots can't decide"); err != nil {
		t.Error(err)
	}
	if n := r.CountCalls("views.open"); n != 0 {
		t.Errorf("%d forms were opened", n)
	}
}

func TestTheSettingsForBotsAndGroups(t *testing.T) {
	for value, fault := range map[string]string{
		"": "", "B0WF": "", " B0WF , U3BOT,": "", "W1": "", "bot": "SLACK_BOTS", "S1": "SLACK_BOTS",
		"slack:B1": "SLACK_BOTS", "B1;B2": "SLACK_BOTS", "b1": "SLACK_BOTS",
	} {
		found := slack.Config{APIURL: "https://slack.com/api/", FollowUp: "thread", Bots: value}.Validate()
		if (len(found) == 0) != (fault == "") || len(found) > 0 && !strings.HasPrefix(found[0], fault) {
			t.Errorf("%q: %v", value, found)
		}
	}
	for value, valid := range map[string]bool{
		"": true, "S0BOTS": true, "S0BOTS, S1": true, "U1": false, "@bots": false, "<!subteam^S1>": false,
	} {
		found := slack.Config{APIURL: "https://slack.com/api/", FollowUp: "thread", MentionGroups: value}.Validate()
		if (len(found) == 0) != valid || !valid && !strings.HasPrefix(found[0], "SLACK_MENTION_GROUPS") {
			t.Errorf("%q: %v", value, found)
		}
	}
}
