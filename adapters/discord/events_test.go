package discord_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestWhichMessagesBecomeEvents(t *testing.T) {
	r := newInbound(t, setup{}).known()
	dm := r.DMWith(annID)
	me := r.MentionOfBot()

	direct := r.of(r.ann.Says("hello"))
	if direct.Kind() != core.KindMessage || direct.Conversation != core.ConversationID("discord:@me:"+dm) ||
		direct.Actor.ID != "discord:1001" || direct.FollowUp ||
		direct.Address.Channel != dm || direct.Address.Thread != "" {
		t.Errorf("a direct message came as %+v", direct)
	}
	m := r.ann.Posts(general, me+" hello")
	mention := r.of(m)
	if mention.Conversation != core.ConversationID("discord:2001:"+m.ID) ||
		mention.Address != (core.Address{Platform: "discord", Channel: general, Thread: m.ID, Message: m.ID}) ||
		mention.FollowUp {
		t.Errorf("a mention came as %+v", mention)
	}
	thread := r.ann.OpensThread(general, m.ID, "work")
	follow := r.of(r.bob.Posts(thread, "and another thing"))
	if follow.Conversation != mention.Conversation || follow.Address.Channel != general ||
		follow.Address.Thread != thread || !follow.FollowUp {
		t.Errorf("what was said in the thread came as %+v", follow)
	}
	if again := r.of(r.bob.Posts(thread, me+" listen")); again.Conversation != mention.Conversation || again.FollowUp {
		t.Errorf("a mention in the thread came as %+v", again)
	}
	role := r.RoleOfBot(guild)
	if e := r.of(r.ann.Posts(general, "<@&"+role+"> hello")); e.FollowUp || r.says(e).Content.String() == "" ||
		strings.Contains(r.says(e).Content.String(), role) {
		t.Errorf("a mention of the bot's role came as %+v", e)
	}
	reply := r.ann.Replies(general, r.button(general, "x").Message, "what is this?", discordtest.WithoutPing())
	if e := r.of(reply); e.FollowUp || e.Conversation != "discord:2001:3001" || e.Address.Channel != general ||
		e.Address.Thread != "" {
		t.Errorf("a reply to the bot came as %+v", e)
	}
	r.none(r.ann.Posts(general, "nothing for you"))
	r.none(r.ann.Replies(general, m.ID, "nor this"))
	r.none(r.ann.Posts(general, "@everyone nor this"))
}

func TestReplyInChannel(t *testing.T) {
	r := newInbound(t, setup{config: func(c *discord.Config) { c.Reply = "channel" }}).known()
	m := r.ann.Posts(general, "hello "+r.MentionOfBot())
	if e := r.of(m); e.Conversation != "discord:2001:3001" ||
		e.Address != (core.Address{Platform: "discord", Channel: general, Message: m.ID}) {
		t.Errorf("got %+v", e)
	}
}

func TestMessagesOfBotsAndOfDiscordAreIgnored(t *testing.T) {
	r := newInbound(t, setup{}).known()
	robot := r.AddUser(discordtest.User{ID: "1009", Name: "robot", IsBot: true})
	robot.Joins(guild)
	r.none(robot.Posts(general, r.MentionOfBot()+" hello"))
	r.none(robot.Says(r.MentionOfBot() + " hello"))
	for name, change := range map[string]string{
		"a webhook":       `"webhook_id":"7","author":{"id":"7","username":"hook"}`,
		"the bot itself":  `"author":{"id":"` + r.BotUserID() + `","username":"gatehouse"}`,
		"Discord":         `"author":{"id":"643945264868098049","username":"Discord","system":true}`,
		"a system notice": `"type":6,"author":{"id":"1001","username":"ann"}`,
		"nobody":          `"author":null`,
	} {
		r.Dispatch(guild,
			"MESSAGE_CREATE",
			[]byte(`{"id":"99999","channel_id":"3001","guild_id":"2001","content":"`+r.MentionOfBot()+
				`","type":0,"mentions":[],`+change+`}`))
		r.settled()
		for _, id := range r.inbox.IDs() {
			if strings.Contains(id, "99999") {
				t.Errorf("what %s said is heard", name)
			}
		}
	}
}

func TestControlWords(t *testing.T) {
	r := newInbound(t, setup{}).known()
	for text, want := range map[string]core.Kind{
		"!new": core.KindReset, "!STOP": core.KindControl, "!status": core.KindControl, " !cancel ": core.KindControl,
		"!help": core.KindControl, "!newer": core.KindMessage,
	} {
		e := r.of(r.ann.Says(text))
		if e.Kind() != want || want == core.KindControl && e.Subject() != strings.ToLower(strings.Trim(text, " !")) {
			t.Errorf("%q came as %q, %q", text, e.Kind(), e.Subject())
		}
	}
	if e := r.of(r.ann.Posts(general, r.MentionOfBot()+", !status")); e.Kind() != core.KindControl ||
		e.Subject() != "status" {
		t.Errorf("in a channel it came as %+v", e)
	}
}

func TestEditsAndDeletions(t *testing.T) {
	r := newInbound(t, setup{}).known()
	dm := r.DMWith(annID)
	m := r.ann.Says("add mlk")
	r.of(m)
	r.Unfurl(dm, m.ID, "https://example.org")
	r.ann.Edits(dm, m.ID, "add milk")
	r.settled()
	var amendments []core.Event
	r.inbox.Lock()
	for _, e := range r.inbox.Stored {
		if e.Kind() == core.KindAmend {
			amendments = append(amendments, e)
		}
	}
	r.inbox.Unlock()
	if len(amendments) != 1 {
		t.Fatalf("there are %d amendments, want one: %+v", len(amendments), amendments)
	}
	e := amendments[0]
	a := amendment(t, e)
	if e.Subject() != "message/"+dm+"/"+m.ID || e.Actor.ID != "discord:1001" || a.Text != "add milk" ||
		a.Revision == "" {
		t.Errorf("got %+v: %+v", e, a)
	}
	changed := e
	changed.Body, changed.Conversation, changed.Payload = core.MessageEvent{}, core.ConversationID("discord:@me:"+dm),
		a.Payload
	if text := r.says(changed).Content.String(); text != "add milk" {
		t.Errorf("it says %q", text)
	}
	r.Unfurl(dm, m.ID, "https://example.com") // after an edit: the time of the edit is as it was
	r.ann.Deletes(dm, m.ID)
	gone := r.inbox.Event("amend/" + dm + "/" + m.ID + "/deleted")
	if b := amendment(t, gone); gone.Subject() != e.Subject() || gone.Actor.ID != "" || b.Payload != nil ||
		b.Revision <= a.Revision {
		t.Errorf("the deletion came as %+v: %+v", gone, b)
	}
	r.Dispatch(guild, "MESSAGE_DELETE_BULK", []byte(`{"ids":["71","72"],"channel_id":"3001","guild_id":"2001"}`))
	r.inbox.Event("amend/3001/71/deleted")
	r.inbox.Event("amend/3001/72/deleted")
}

func TestWithoutTheMessageContent(t *testing.T) {
	r := newInbound(t, setup{fake: discordtest.Options{Denied: discordtest.IntentMessageContent}}).known()
	if ids := r.Identifies(); len(ids) != 1 || ids[0].Intents&discordtest.IntentMessageContent != 0 {
		t.Errorf("it identified as %+v, want once without the content", ids)
	}
	if !strings.Contains(r.log.String(), "message content intent is not granted") {
		t.Error("nobody is told what is missing")
	}
	m := r.ann.Posts(general, r.MentionOfBot()+" hello")
	r.of(m)
	thread := r.ann.OpensThread(general, m.ID, "work")
	r.none(r.ann.Posts(thread, "what the bot can't read"))
	r.of(r.ann.Posts(thread, r.MentionOfBot()+" what it can"))
}

func TestMessageContentIsRevokedLater(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.SetDenied(discordtest.IntentMessageContent)
	r.ForgetSessions()
	r.ResetAll()
	r.eventually("another session", func() bool { return len(r.Identifies()) > 2 && len(r.Open()) == 1 })
}

// The intents of a session stay the same when it is resumed, so a new session begins.
func TestMessageContentIsGrantedLater(t *testing.T) {
	for name, goesOn := range map[string]func(*inbound){
		"a restart":   func(r *inbound) { r.halt(); r.start() },
		"it is heard": func(r *inbound) { r.timers.Fire(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t,
				setup{fake: discordtest.Options{
					Denied: discordtest.IntentMessageContent, HeartbeatInterval: time.Second,
				}}).known()
			r.eventually("asked who it is", func() bool { return r.timers.Count(time.Minute) == 1 })
			r.SetDenied(0)
			goesOn(r)
			r.eventually("a session with the content", func() bool {
				ids := r.Identifies()
				return len(r.Open()) == 1 && ids[len(ids)-1].Intents&discordtest.IntentMessageContent != 0
			})
			m := r.ann.Posts(general, r.MentionOfBot()+" hello")
			r.of(m)
			r.of(r.ann.Posts(r.ann.OpensThread(general, m.ID, "work"), "no mention"))
			if ids := r.Identifies(); len(ids) != 2 {
				t.Errorf("it identified %d times", len(ids))
			}
		})
	}
}

func TestChannelUnknownToTheSession(t *testing.T) {
	r := newInbound(t, setup{}).known()
	m := r.ann.Posts(general, "work", discordtest.WithoutEvent())
	thread := r.ann.OpensThread(general, m.ID, "work")
	r.settled()
	r.halt()
	r.start() // it resumes, and is told nothing of servers
	r.known()
	calls := r.CountCalls("GET /channels/{channel}")
	e := r.of(r.ann.Posts(thread, "go on"))
	if e.Address.Channel != general || e.Address.Thread != thread || !e.FollowUp {
		t.Errorf("got %+v", e)
	}
	if e := r.of(r.ann.Posts(general, r.MentionOfBot()+" hello <@&"+r.RoleOfBot(guild)+">")); e.Address.Thread == "" {
		t.Errorf("got %+v", e)
	}
	if r.CountCalls("GET /channels/{channel}") != calls+1 || len(r.Identifies()) != 1 {
		t.Errorf("it asked %d times and identified %d times", r.CountCalls("GET /channels/{channel}")-calls,
			len(r.Identifies()))
	}
	r.of(r.ann.Posts(thread, "and on"))
	if r.CountCalls("GET /channels/{channel}") != calls+1 {
		t.Error("it asks again for what it knows")
	}
}

// Without the message content, an edit that removes the mention arrives empty: its new text is unknown.
func TestEditWithWithheldContentIsIgnored(t *testing.T) {
	r := newInbound(t, setup{fake: discordtest.Options{Denied: discordtest.IntentMessageContent}}).known()
	m := r.ann.Posts(general, r.MentionOfBot()+" add mlk")
	r.of(m)
	r.ann.Edits(general, m.ID, "never mind")
	r.ann.Edits(general, m.ID, r.MentionOfBot()+" add milk")
	r.settled()
	var texts []string
	r.inbox.Lock()
	for _, id := range r.inbox.Order {
		if e := r.inbox.Stored[id]; e.Kind() == core.KindAmend {
			texts = append(texts, amendment(t, e).Text)
		}
	}
	r.inbox.Unlock()
	if len(texts) != 1 || texts[0] != "add milk" {
		t.Errorf("it was changed to %q", texts)
	}
}
