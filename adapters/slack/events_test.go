package slack_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

func TestLaw1_NothingIsAcknowledgedBeforeItIsStored(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		open := make(chan struct{})
		r.inbox.Hold(open, nil)
		d := r.ann.Says("hello").Deliveries[0]
		r.inbox.WaitFor("the event", func() bool { return len(r.inbox.Tried) == 1 })
		if d.Acked() {
			t.Error("it was acknowledged before it was stored")
		}
		close(open)
		r.one(d)
	})
}

func TestLaw1_AnEventThatIsNotStoredIsRetriedWithTheSameID(t *testing.T) {
	onBoth(t, setup{fake: slacktest.Options{AckWithin: 1e8}}, func(t *testing.T, r *running) {
		left := 2
		var ids []string
		r.inbox.Gate(func(_ context.Context, e core.Event) error {
			r.inbox.Lock()
			defer r.inbox.Unlock()
			ids = append(ids, e.ID)
			if left--; left >= 0 {
				return core.Errorf(core.StoreBusy, "The store is busy.")
			}
			return nil
		})
		d := r.ann.Says("hello").Deliveries[0]
		e := r.one(d)
		if len(ids) != 3 || slices.ContainsFunc(ids, func(id string) bool { return id != e.ID }) {
			t.Errorf("the tries had the ids %v, want three times one", ids)
		}
		if n := len(d.Attempts()); n != 3 {
			t.Errorf("Slack tried %d times, want 3", n)
		}
	})
}

func TestEventsMarkedAsRetriesAreStoredOnce(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		first := r.one(r.ann.Says("hello", slacktest.AsRetry(3, "http_error")).Deliveries...)
		if first.Kind() != core.KindMessage {
			t.Errorf("got %+v", first)
		}
		d := r.ann.Says("again", slacktest.Copies(4)).Deliveries
		r.one(d...)
		d = r.ann.Says("at once", slacktest.TwiceAtOnce()).Deliveries
		r.one(d...)
	})
}

func TestMentionAndMessageOfOnePostAreOneEvent(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *running) {
		both := r.ann.Posts("C1", r.MentionOfBot()+" hello")
		if len(both.Deliveries) != 2 {
			t.Fatalf("Slack sent %d events", len(both.Deliveries))
		}
		e := r.one(both.Deliveries...)
		if want := "message/T0GATE/C1/" + both.TS; e.ID != want {
			t.Errorf("its id is %q, want %q", e.ID, want)
		}
		var lone []core.Event
		for _, kind := range []string{"app_mention", "message"} {
			p := r.ann.Posts("C1", r.MentionOfBot()+" hello", slacktest.OnlyEvent(kind))
			e := r.one(p.Deliveries...)
			if e.Conversation != core.ConversationID("slack:T0GATE:C1:"+p.TS) || e.Address.Thread != p.TS ||
				e.Address.Message != p.TS || e.FollowUp {
				t.Errorf("%s: got %+v", kind, e)
			}
			lone = append(lone, e)
		}
		if a, b := r.message(lone[0]), r.message(lone[1]); a.Content.String() != b.Content.String() {
			t.Errorf("the mention has the text %q, the message %q", a.Content, b.Content)
		}
	})
}

func TestMentionsInGroupDirectMessagesHaveOneConversationInAnyOrder(t *testing.T) {
	for _, kind := range []string{"app_mention", "message"} {
		t.Run(kind, func(t *testing.T) {
			r := start(t, setup{}).known()
			p := r.ann.Posts("G1", r.MentionOfBot()+" hello", slacktest.OnlyEvent(kind))
			e := r.one(p.Deliveries...)
			if e.Conversation != "slack:T0GATE:G1" || e.Address.Thread != "" {
				t.Errorf("its conversation is %q, its thread %q", e.Conversation, e.Address.Thread)
			}
			r.one(r.ann.Posts("G1", r.MentionOfBot()+" once more").Deliveries...)
			if n := r.CountCalls("conversations.info"); n > 1 {
				t.Errorf("Slack was asked for the type of the conversation %d times", n)
			}
		})
	}
}

func TestAMentionIsStoredWhenTheChannelTypeIsUnknown(t *testing.T) {
	r := start(t, setup{}).known()
	r.Inject(slacktest.Fault{Endpoint: "conversations.info", Trouble: slacktest.ServerError(503)})
	p := r.ann.Posts("C1", r.MentionOfBot()+" hello", slacktest.OnlyEvent("app_mention"))
	if e := r.one(p.Deliveries...); e.Conversation != core.ConversationID("slack:T0GATE:C1:"+p.TS) {
		t.Errorf("its conversation is %q", e.Conversation)
	}
}

func TestWhichMessagesBecomeEvents(t *testing.T) {
	r := start(t, setup{}).known()
	bot := r.MentionOfBot()
	root := r.bob.Posts("C1", "anybody there?")
	r.none(root.Deliveries...)
	thread := core.ConversationID("slack:T0GATE:C1:" + root.TS)
	for name, c := range map[string]struct {
		post         slacktest.Posted
		conversation core.ConversationID // "": not stored
		thread       string
		followUp     bool
	}{
		"direct": {
			post: r.ann.Says("hello"), conversation: core.ConversationID("slack:T0GATE:" + r.DMWith("U1ANN")),
		},
		"group direct":              {post: r.ann.Posts("G1", "hello")},
		"group direct, mention":     {post: r.ann.Posts("G1", "so, "+bot+" hello"), conversation: "slack:T0GATE:G1"},
		"channel":                   {post: r.ann.Posts("C1", "hello")},
		"a mention of another user": {post: r.ann.Posts("C1", "<@U2BOB> hello")},
		"an id that begins alike":   {post: r.ann.Posts("C1", "<@"+r.BotUserID()+"X> hello")},
		"a mention in words":        {post: r.ann.Posts("C1", "&lt;@"+r.BotUserID()+"&gt; hello")},
		"thread": {
			post: r.ann.Posts("C1", "hello", slacktest.InThread(root.TS)), conversation: thread, thread: root.TS,
			followUp: true,
		},
		"thread, mention": {
			post: r.ann.Posts("C1", "so, "+bot+" hello", slacktest.InThread(root.TS)), conversation: thread,
			thread: root.TS,
		},
		"thread, also in channel": {post: r.ann.Posts("C1", "hi", slacktest.InThread(root.TS),
			slacktest.AlsoInChannel()), conversation: thread, thread: root.TS, followUp: true},
		"mention, also in channel": {post: r.ann.Posts("C1", bot+" hi", slacktest.InThread(root.TS),
			slacktest.AlsoInChannel()), conversation: thread, thread: root.TS},
	} {
		got := map[string]core.Event{}
		for _, d := range c.post.Deliveries {
			if err := d.Wait(r.ctx); err != nil {
				t.Fatal(err)
			}
		}
		r.inbox.Lock()
		for id, e := range r.inbox.Stored {
			if strings.HasSuffix(id, "/"+c.post.TS) {
				got[id] = e
			}
		}
		r.inbox.Unlock()
		if c.conversation == "" {
			if len(got) != 0 {
				t.Errorf("%s: was passed to accept: %v", name, got)
			}
			continue
		}
		if len(got) != 1 {
			t.Errorf("%s: was passed to accept as %d events", name, len(got))
		}
		for _, e := range got {
			if e.Conversation != c.conversation || e.Address.Thread != c.thread || e.FollowUp != c.followUp ||
				e.Address.Message != c.post.TS || e.Actor.ID != "slack:U1ANN" {
				t.Errorf("%s: got %+v", name, e)
			}
		}
	}
}

func TestAMentionEventWithoutAMentionIsAFollowUp(t *testing.T) {
	for follow, stored := range map[string]bool{"thread": true, "mention": false} {
		t.Run(follow, func(t *testing.T) {
			r := start(t, setup{config: func(c *slack.Config) { overHTTP(c); c.FollowUp = follow }}).known()
			event := map[string]any{
				"type": "app_mention", "user": "U1ANN", "text": "no name here", "ts": "1700000001.000100",
				"thread_ts": "1700000000.000100", "channel": "C1",
			}
			d := r.Send(event)
			if !stored {
				r.none(d)
			} else if e := r.one(d); !e.FollowUp || e.Conversation != "slack:T0GATE:C1:1700000000.000100" {
				t.Errorf("got %+v", e)
			}
			delete(event, "thread_ts")
			r.none(r.Send(event))
		})
	}
}

func TestFollowUpMentionNeedsAMention(t *testing.T) {
	r := start(t, setup{config: func(c *slack.Config) { overHTTP(c); c.FollowUp = "mention" }}).known()
	root := r.ann.Posts("C1", r.MentionOfBot()+" hello")
	r.one(root.Deliveries...)
	r.none(r.ann.Posts("C1", "and?", slacktest.InThread(root.TS)).Deliveries...)
	r.one(r.ann.Posts("C1", r.MentionOfBot()+" and?", slacktest.InThread(root.TS)).Deliveries...)
	r.one(r.ann.Says("directly").Deliveries...)
}

// People talk to each other in the bot's thread, and in group direct messages.
func TestAMessageThatBeginsWithSomebodyElsesMentionIsNotForTheBot(t *testing.T) {
	r := start(t, setup{config: func(c *slack.Config) { overHTTP(c); c.GroupDM = "all" }}).known()
	bot := r.MentionOfBot()
	root := r.ann.Posts("C1", bot+" hello")
	r.one(root.Deliveries...)
	for text, forBot := range map[string]bool{
		"<@U2BOB> can you look?": false, "<@U2BOB|bob>, can you look?": false, " \n(<@U2BOB>) look": false,
		"&gt; <@U2BOB> look": false, "\u2060<@W2BOB>": false,
		"<@U2BOB> and " + bot + ", look": true, "<@U2BOB>, <@" + r.BotUserID() + "|gatehouse>": true,
		bot + " ask <@U2BOB>": true,
		"ask <@U2BOB>":        true, "<#C1|general> <@U2BOB>": true, "&lt;@U2BOB&gt; is his name": true,
		"<https://x.example> <@U2BOB>": true,
	} {
		got := r.taken(r.ann.Posts("C1", text, slacktest.InThread(root.TS)).Deliveries...)
		group := r.taken(r.ann.Posts("G1", text).Deliveries...)
		if (len(got) == 1) != forBot || (len(group) == 1) != forBot {
			t.Errorf("%q became %v in a thread, and %v in a group direct message", text, got, group)
		}
		r.one(r.ann.Says(text).Deliveries...) // nobody else is there
	}
}

func TestGroupDirectMessagesNeedAMentionUnlessAllAreRead(t *testing.T) {
	for setting, all := range map[string]bool{"": false, "mention": false, "all": true} {
		t.Run(setting, func(t *testing.T) {
			onBoth(t, setup{config: func(c *slack.Config) { c.GroupDM = setting }}, func(t *testing.T, r *running) {
				first := r.ann.Posts("G1", "lunch?")
				said := r.taken(first.Deliveries...)
				inThread := r.taken(r.ann.Posts("G1", "who is in?", slacktest.InThread(first.TS)).Deliveries...)
				if (len(said) == 1) != all || (len(inThread) == 1) != all {
					t.Errorf("without a mention they became %v and %v", said, inThread)
				}
				if e := r.one(r.ann.Posts("G1", r.MentionOfBot()+" lunch?").Deliveries...); e.FollowUp ||
					e.Conversation != "slack:T0GATE:G1" {
					t.Errorf("a mention became %+v", e)
				}
				// a follow-up is stored if the bot has a conversation there
				if e := r.one(r.ann.Posts("G1", "!stop").Deliveries...); e.Kind() != core.KindControl ||
					e.FollowUp == all {
					t.Errorf("a control word became %+v", e)
				}
			})
		})
	}
}

func TestTheSettingForGroupDirectMessages(t *testing.T) {
	for value, valid := range map[string]bool{"": true, "mention": true, "all": true, "yes": false, "All": false} {
		faults := slack.Config{APIURL: "https://slack.com/api/", FollowUp: "thread", GroupDM: value}.Validate()
		if (len(faults) == 0) != valid || !valid && !strings.Contains(faults[0], "SLACK_GROUP_DM") {
			t.Errorf("%q: %v", value, faults)
		}
	}
}

func TestMessagesThatNoPersonWroteAreIgnored(t *testing.T) {
	r := start(t, setup{}).known()
	other := r.AddUser(slacktest.User{ID: "U3BOT", Name: "deploys", IsBot: true})
	r.AddUser(slacktest.User{ID: "USLACKBOT", Name: "Slackbot"})
	r.Invite("C1", "U3BOT")
	r.Invite("G1", "U3BOT")
	bot := r.MentionOfBot()
	root := r.ann.Posts("C1", bot+" hello")
	r.one(root.Deliveries...)
	in := slacktest.InThread(root.TS)
	r.none(other.Posts("C1", bot+" deployed").Deliveries...)
	r.none(other.Posts("C1", bot+" deployed", slacktest.AsBotMessage()).Deliveries...)
	r.none(other.Posts("C1", "deployed", in).Deliveries...)
	r.none(other.Posts("G1", "deployed").Deliveries...)
	r.none(r.ann.Joins("C1")...)
	r.ann.OpensAssistant()
	dm := r.DMWith("U1ANN")
	for _, e := range []map[string]any{
		{
			"type": "message", "user": "USLACKBOT", "text": bot + " reminder", "ts": "1700000001.000100", "channel": dm,
			"channel_type": "im",
		},
		{
			"type": "message", "user": r.BotUserID(), "text": "my own", "ts": "1700000002.000100", "channel": dm,
			"channel_type": "im",
		},
		{
			"type": "message", "bot_id": r.BotID(), "user": r.BotUserID(), "text": "my own", "ts": "1700000003.000100",
			"channel": dm, "channel_type": "im",
		},
		{
			"type": "message", "subtype": "channel_join", "user": "U1ANN", "text": bot + " has joined",
			"ts": "1700000004.000100", "channel": "C1", "channel_type": "channel",
		},
		{
			"type": "message", "subtype": "channel_topic", "user": "U1ANN", "text": bot, "topic": bot,
			"ts": "1700000005.000100", "channel": "C1", "channel_type": "channel",
		},
		{
			"type": "message", "subtype": "bot_message", "text": bot, "ts": "1700000006.000100", "channel": "C1",
			"channel_type": "channel",
		},
		{
			"type": "message", "subtype": "message_replied", "text": bot, "ts": "1700000007.000100", "channel": "C1",
			"channel_type": "channel",
		},
		{"type": "message", "text": bot, "ts": "1700000008.000100", "channel": "C1", "channel_type": "channel"},
		{"type": "message", "user": "U1ANN", "text": bot, "channel": "C1", "channel_type": "channel"},
		{"type": "message", "user": "U1ANN", "text": bot, "ts": "1700000009.000100"},
		{
			"type": "reaction_added", "user": "U1ANN",
			"item": map[string]any{"type": "message", "channel": "C1", "ts": root.TS}, "channel": 5,
		},
		{"type": "something_new"},
	} {
		r.none(r.Send(e))
	}
	ref, _, err := r.p.Post(r.ctx,
		core.Delivery{Post: core.Post{
			Key: "k", To: core.Address{Platform: "slack", Channel: "C1", Thread: root.TS}, Kind: core.PostReply,
			Text: "an answer",
		}})
	if err != nil || ref == "" {
		t.Fatal(err)
	}
	for _, d := range r.Deliveries() {
		if d.Echo {
			r.none(d)
		}
	}
}

// TestThreadsOfDirectMessages: a reply goes on with the conversation of the direct messages, and is answered in its
// thread. With the assistant view a thread that begins there is a conversation of its own, and so is one that has been
// one.
func TestThreadsOfDirectMessages(t *testing.T) {
	without := slices.DeleteFunc(slices.Clone(slacktest.AllScopes), func(s string) bool {
		return s == "assistant:write"
	})
	for name, scopes := range map[string][]string{"assistant": slacktest.AllScopes, "plain": without} {
		t.Run(name, func(t *testing.T) {
			var known core.ConversationID // that has a message or a reset
			var failing error
			events := func(_ context.Context, f core.EventFilter) ([]core.EventRecord, error) {
				if f.Conversation == known && slices.Equal(f.Kinds, []core.Kind{core.KindMessage, core.KindReset}) {
					return make([]core.EventRecord, 1), nil
				}
				return nil, failing
			}
			r := start(t, setup{
				fake: slacktest.Options{Scopes: scopes}, slack: core.Deps{Inbox: adaptertest.Events(events)},
			}).known()
			channel := core.ConversationID("slack:T0GATE:" + r.DMWith("U1ANN"))
			own := func(ts string) core.ConversationID {
				if name == "plain" {
					return channel
				}
				return channel + core.ConversationID(":"+ts)
			}
			replies := func(ts string, want core.ConversationID) {
				t.Helper()
				e := r.one(r.ann.Says("more", slacktest.InThread(ts)).Deliveries...)
				if e.Conversation != want || e.Address.Thread != ts || e.FollowUp {
					t.Errorf("got %+v, want the conversation %s", e, want)
				}
			}
			root := r.ann.Says("hello")
			r.one(root.Deliveries...)
			replies(root.TS, channel)
			to := core.Address{Platform: "slack", Channel: r.DMWith("U1ANN")}
			ref, _, err := r.p.Post(r.ctx,
				core.Delivery{Post: core.Post{Key: "k", To: to, Kind: core.PostReply, Text: "hi"}})
			if err != nil {
				t.Fatal(err)
			}
			_, answer, _ := strings.Cut(string(ref), "/")
			replies(answer, channel)
			e := r.one(r.Send(map[string]any{ // Slack sends a token with any message
				"type": "message", "user": "U1ANN", "text": "x", "channel": to.Channel, "channel_type": "im",
				"ts": "1900000001.000300", "thread_ts": answer, "parent_user_id": "U0BOT",
				"assistant_thread": map[string]any{"action_token": "1"},
			}))
			if e.Conversation != channel {
				t.Errorf("a reply to an answer became %+v", e)
			}
			known = channel + core.ConversationID(":"+root.TS)
			replies(root.TS, own(root.TS))

			_, view := r.ann.OpensAssistant()
			asked := r.CountCalls("conversations.replies")
			replies(view, own(view))
			replies(view, own(view))
			if n := r.CountCalls("conversations.replies") - asked; name == "assistant" && n != 1 ||
				name == "plain" && n != 0 {
				t.Errorf("Slack was asked %d times how a thread began", n)
			}
			_, view = r.ann.OpensAssistant()
			r.Inject(
				slacktest.Fault{
					Endpoint: "conversations.replies", Trouble: slacktest.Refused("internal_error"), Times: 1,
				})
			replies(view, channel) // Slack can't say
			replies(view, own(view))
			e = r.one(r.Send(map[string]any{
				"type": "message", "user": "U1ANN", "text": "x", "channel": to.Channel, "channel_type": "im",
				"ts": "1900000001.000100", "thread_ts": "1900000000.000100",
				"assistant_thread": map[string]any{"action_token": "1"},
			}))
			if e.Conversation != own("1900000000.000100") {
				t.Errorf("an event of the assistant view became %+v", e)
			}
			e = r.one(r.Send(map[string]any{ // Slack sends a token with any message
				"type": "message", "user": "U1ANN", "text": "x", "channel": to.Channel, "channel_type": "im",
				"ts": "1900000001.000200", "thread_ts": "1900000000.000200", "parent_user_id": "U1ANN",
				"assistant_thread": map[string]any{"action_token": "1"},
			}))
			if e.Conversation != channel {
				t.Errorf("a reply to a person's message became %+v", e)
			}
			if failing = core.Errorf(core.StoreBusy, "not now"); name == "assistant" {
				r.refused(r.ann.Says("later", slacktest.InThread(answer)).Deliveries[0])
			}
		})
	}
}

func TestAnEventWithUnreadableExtraFieldsIsStored(t *testing.T) {
	r := start(t, setup{}).known()
	d := r.Send(map[string]any{
		"type": "message", "user": "U1ANN", "text": "hello", "ts": "1700000001.000100", "channel": r.DMWith("U1ANN"),
		"channel_type": "im",
		"files":        []any{map[string]any{"name": "a.png", "mimetype": "image/png", "size": "large"}, "what", nil},
		"edited":       true, "blocks": 5, "assistant_thread": 7,
		"previous_message": "none", "message": []int{1}, "attachments": "x", "reactions": map[string]any{},
	})
	if text := r.message(r.one(d)).Content.String(); !strings.Contains(text, "hello") ||
		!strings.Contains(text, "can't be read") {
		t.Errorf("the text is %q", text)
	}
}

func TestAppRateLimitedIsLogged(t *testing.T) {
	r := start(t, setup{}).known()
	status, _ := r.send("/slack/events",
		[]byte(`{"type":"app_rate_limited","team_id":"T0GATE","minute_rate_limited":1518467820,"api_app_id":"A0GATE"}`),
		nil)
	if status != 200 || len(r.log.Warnings()) != 1 || r.inbox.Tries() != 0 {
		t.Errorf("answered %d, warned %v", status, r.log.Warnings())
	}
}
