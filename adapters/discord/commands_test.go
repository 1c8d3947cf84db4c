package discord_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestAsk(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		dm := r.DMWith(annID)
		thread := r.ann.OpensThread(general, r.ann.Posts(general, "work").ID, "work")
		for channel, want := range map[string]core.Event{
			general: {Conversation: "discord:2001:3001", Address: core.Address{Platform: "discord", Channel: general}},
			thread: {
				Conversation: core.ConversationID("discord:2001:" + thread),
				Address:      core.Address{Platform: "discord", Channel: general, Thread: thread},
			},
			dm: {
				Conversation: core.ConversationID("discord:@me:" + dm),
				Address:      core.Address{Platform: "discord", Channel: dm},
			},
		} {
			i := r.ann.Runs(channel, "/ask why is *the* sky @everyone blue")
			e := r.inbox.Event("command/" + i.ID)
			r.answered(i, discordtest.DeferredReply)
			want.Address.Message = "command:" + i.ID
			if e.Kind() != core.KindMessage || e.Conversation != want.Conversation || e.Address != want.Address ||
				e.Actor.ID != "discord:1001" || e.FollowUp {
				t.Errorf("got %+v", e)
			}
			if bytes.Contains(e.Payload, []byte(i.Token)) {
				t.Error("the payload has the token")
			}
			text := r.says(e).Content.String()
			if !strings.Contains(text, "why is *the* sky @everyone blue") ||
				(channel != dm) != strings.Contains(text, `{"name":"ann","id":"discord:1001"} says:`) {
				t.Errorf("it says %q", text)
			}
			said := len(r.Messages(channel))
			post := core.Delivery{Post: core.Post{
				Key: "reply/" + i.ID, Kind: core.PostReply, Text: "Because of the air.", To: e.Address,
				Conversation: e.Conversation,
			}}
			if _, more, err := r.p.Post(r.ctx, post); err != nil || more {
				t.Fatal(err)
			}
			m, ok := i.Shown()
			if !ok || m.Ephemeral != "" || !strings.Contains(m.Content, "sky") ||
				!strings.Contains(m.Content, "the air") || len(m.Reaches()) != 0 ||
				strings.Contains(m.Content, "@everyone") {
				t.Errorf("all see %+v", m)
			}
			if n := len(r.Messages(channel)); n != said {
				t.Errorf("the answer stands in %d messages more", n-said)
			}
			if found, err := r.p.Find(r.ctx, post); err != nil || found.Ref != core.Ref(channel+"/"+m.ID) {
				t.Errorf("Find gives %+v, %v", found, err)
			}
		}
	})
}

// TestTheCardOfACommandTellsItsApprovers: Discord notifies nobody of an edit, and an answer that was announced is one.
// So the answer to /ask is the question, and the card is a message of its own, which is redrawn with the command's
// token and, later, without.
func TestTheCardOfACommandTellsItsApprovers(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := newInbound(t, setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}}).known()
	r.registered()
	r.DenyBot(general, discordtest.SendMessages)
	i := r.ann.Runs(general, "/ask add *milk*")
	e := r.inbox.Event("command/" + i.ID)
	r.answered(i, discordtest.DeferredReply)
	card := &core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add a note", Arguments: "{}",
		Approvers: []string{"discord:" + bobID}, Quorum: 1,
		Deadline: clock.Now().Add(time.Hour),
	}
	d := core.Delivery{Post: core.Post{
		Key: "card/a", Kind: core.PostCard, Approval: card.Approval, To: e.Address, Conversation: e.Conversation,
	}, Card: card}
	ref, _, err := r.p.Post(r.ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	if answer, _ := i.Shown(); answer.Content != `> add \*milk\*` || len(answer.Notified) != 0 {
		t.Errorf("the answer is %+v", answer)
	}
	shown := func() discordtest.Message {
		all := r.Messages(general)
		return all[len(all)-1]
	}
	if m := shown(); ref != core.Ref(general+"/"+m.ID) || !slices.Equal(m.Notified, []string{bobID}) {
		t.Errorf("the card is %s: %+v", ref, m)
	}
	d.SentAt = clock.Now()
	if found, err := r.p.Find(r.ctx, d); err != nil || found.Ref != ref {
		t.Errorf("Find gives %+v, %v", found, err)
	}
	// with the token, and after it
	for state, title := range map[core.ApprovalState]string{core.Approved: "Approved", core.Denied: "Denied"} {
		card.State = state
		if err := r.p.Edit(r.ctx, ref, d); err != nil || !strings.Contains(shown().Shown(), title) {
			t.Errorf("%s: %v\n%s", state, err, r.Dump())
		}
		clock.Advance(discordtest.TokenLifetime + time.Second)
	}
}

// The answer is part of the command, so it needs no permission to post.
func TestAskWhereTheBotMayNotPost(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.registered()
	r.DenyBot(general, discordtest.SendMessages)
	i := r.ann.Runs(general, "/ask why")
	e := r.inbox.Event("command/" + i.ID)
	r.answered(i, discordtest.DeferredReply)
	post := core.Delivery{Post: core.Post{
		Key: "reply/1", Kind: core.PostReply, Text: "Because.", To: e.Address, Conversation: e.Conversation,
	}}
	if _, _, err := r.p.Post(r.ctx, post); err != nil {
		t.Fatal(err)
	}
	if m, _ := i.Shown(); !strings.Contains(m.Content, "Because.") {
		t.Errorf("it is not answered:\n%s", r.Dump())
	}
}

func TestTheOtherCommands(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		for name, want := range map[string]core.Kind{"new": core.KindReset, "status": core.KindControl} {
			i := r.ann.Runs(general, "/"+name)
			e := r.inbox.Event("command/" + i.ID)
			r.answered(i, discordtest.DeferredReply)
			if e.Kind() != want || e.Conversation != "discord:2001:3001" ||
				want == core.KindControl && e.Subject() != name || bytes.Contains(e.Payload, []byte(i.Token)) {
				t.Errorf("/%s came as %+v", name, e)
			}
			said := len(r.Messages(general))
			post := core.Delivery{Post: core.Post{
				Key: "notice/" + name, Kind: core.PostNotice, Text: "This is how it is.", To: e.Address,
				Conversation: e.Conversation,
			}}
			if _, more, err := r.p.Post(r.ctx, post); err != nil || more {
				t.Fatalf("/%s: %v, %v", name, more, err)
			}
			m, ok := i.Shown()
			if alone := m.Ephemeral == annID; !ok || alone != (name == "status") ||
				!strings.Contains(m.Content, "This is how it is.") || len(m.Reaches()) != 0 {
				t.Errorf("/%s: the answer is %+v", name, m)
			}
			if got := len(r.Messages(general)); got != said {
				t.Errorf("/%s was answered in %d messages more", name, got-said)
			}
			more := "By the way, " + name
			post.Key, post.Text = "done/"+name, more
			if _, _, err := r.p.Post(r.ctx, post); err != nil {
				t.Fatal(err)
			}
			where, not := general, r.DMWith(annID)
			if name == "status" { // its answers are for ann alone
				where, not = not, where
			}
			if m, _ := i.Shown(); strings.Contains(m.Content, more) || r.standsIn(where, more) != 1 ||
				r.standsIn(not, more) != 0 {
				t.Errorf("/%s: what more there is to say stands in %+v", name, m)
			}
		}
		before := len(r.inbox.IDs())
		i := r.ann.Runs(general, "/help")
		r.answered(i, discordtest.Reply)
		if m, ok := i.Shown(); !ok || m.Ephemeral != annID || !strings.Contains(m.Content, "mention me") {
			t.Errorf("/help: ann sees %+v", m)
		}
		if len(r.inbox.IDs()) != before {
			t.Error("/help is stored")
		}
	})
}

// statusAsked returns a /status command by ann and the post that answers it.
func (r *inbound) statusAsked() (*discordtest.Interaction, core.Delivery) {
	i := r.ann.Runs(general, "/status")
	e := r.inbox.Event("command/" + i.ID)
	return i,
		core.Delivery{Post: core.Post{
			Key: "notice/1", Kind: core.PostNotice, Text: "Nothing waits.", To: e.Address, Conversation: e.Conversation,
		}}
}

// standsIn counts the messages of a channel with a text.
func (r *inbound) standsIn(channel, text string) int {
	n := 0
	for _, m := range r.Messages(channel) {
		if strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

func TestCommandAnswerReadyBeforeItsAnnouncement(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.registered()
	callback := r.Inject(discordtest.Fault{Endpoint: discordtest.AnswerInteraction, Trouble: discordtest.Held()})
	i, post := r.statusAsked()
	if _, _, err := r.p.Post(r.ctx, post); core.CategoryOf(err) != core.DeliveryLater || core.RetryAfterOf(err) <= 0 {
		t.Errorf("too early it gives %v", err)
	}
	callback.Lift()
	r.answered(i, discordtest.DeferredReply)
	if _, _, err := r.p.Post(r.ctx, post); err != nil {
		t.Fatal(err)
	}
	if m, _ := i.Shown(); m.Ephemeral != annID || !strings.Contains(m.Content, "Nothing waits.") ||
		r.standsIn(general, "Nothing waits.") != 0 {
		t.Errorf("the answer is %+v\n%s", m, r.Dump())
	}
}

// A late answer goes where the same people see it: that of /new to the channel, that of /status to its person alone.
func TestLateCommandAnswerIsAnOrdinaryMessage(t *testing.T) {
	for name, dm := range map[string]bool{"new": false, "status": true} {
		t.Run(name, func(t *testing.T) {
			clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
			r := newInbound(t,
				setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}}).known()
			r.registered()
			i := r.ann.Runs(general, "/"+name)
			e := r.inbox.Event("command/" + i.ID)
			post := core.Delivery{Post: core.Post{
				Key: "notice/1", Kind: core.PostNotice, Text: "Nothing waits.", To: e.Address,
				Conversation: e.Conversation,
			}, SentAt: clock.Now()}
			r.answered(i, discordtest.DeferredReply)
			clock.Advance(discordtest.TokenLifetime + time.Second)
			ref, _, err := r.p.Post(r.ctx, post)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.p.Edit(r.ctx, ref, post); err != nil {
				t.Error(err)
			}
			if found, err := r.p.Find(r.ctx, post); err != nil || found.Ref != ref {
				t.Errorf("Find gives %+v, %v", found, err)
			}
			where, not := general, r.DMWith(annID)
			if dm {
				where, not = not, where
			}
			if r.standsIn(where, "Nothing waits.") != 1 || r.standsIn(not, "Nothing waits.") != 0 {
				t.Errorf("it is not there, or for all to see:\n%s", r.Dump())
			}
		})
	}
}

func TestLostCommandAnswerIsFound(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.registered()
	i, post := r.statusAsked()
	r.answered(i, discordtest.DeferredReply)
	if found, err := r.p.Find(r.ctx, post); found.Ref != "" || err != nil {
		t.Errorf("before it is given Find gives %q, %v", found.Ref, err)
	}
	r.Inject(discordtest.Fault{Endpoint: discordtest.EditFollowUp, Trouble: discordtest.AnswerLost(), Times: 1})
	if _, _, err := r.p.Post(r.ctx, post); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("a lost answer gives %v", err)
	}
	found, err := r.p.Find(r.ctx, post)
	ref := found.Ref
	if err != nil || ref != core.Ref(general+"/"+i.State().Original) {
		t.Errorf("Find gives %q, %v", ref, err)
	}
	post.Text = "Nothing waits any more."
	if err := r.p.Edit(r.ctx, ref, post); err != nil {
		t.Error(err)
	}
	if m, _ := i.Shown(); !strings.Contains(m.Content, "Nothing waits any more.") {
		t.Errorf("it is not changed:\n%s", r.Dump())
	}
}

// The question is quoted within the limit of a message, however much of it has to be escaped.
func TestLongQuestionIsQuotedInOneMessage(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		for name, text := range map[string]string{
			"escapes": strings.Repeat("*", 3000), "emoji": strings.Repeat("🐈", 3000),
			"lines": strings.Repeat("a\n", 1500), "calls": strings.Repeat("@b", 1500),
			"words": strings.Repeat("ward ", 1000),
		} {
			i := r.ann.Runs(general, "/ask", discordtest.WithOption("text", text))
			e := r.inbox.Event("command/" + i.ID)
			r.answered(i, discordtest.DeferredReply)
			answer := core.Delivery{Post: core.Post{
				Key: "reply/" + i.ID, Kind: core.PostReply, Text: strings.Repeat("word ", 360), To: e.Address,
				Conversation: e.Conversation,
			}}
			if _, _, err := r.p.Post(r.ctx, answer); err != nil {
				t.Fatal(err)
			}
			m, ok := i.Shown()
			question, _, _ := strings.Cut(m.Content, "word word")
			if n := len(utf16.Encode([]rune(m.Content))); !ok || n < 1900 || n > 2000 ||
				!strings.Contains(question, "…") {
				t.Errorf("%s: %v, %d characters begin with %q", name, ok, n, m.Content[:min(len(m.Content), 300)])
			}
		}
	})
}
