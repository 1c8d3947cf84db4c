package storagetest

import (
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// deliver claims all posts that are due.
func (w *world) deliver(life time.Duration) []core.OutboxRow {
	w.Helper()
	return w.delivered(core.PostRequest{Limit: 10, Scopes: scope}, life)
}

func (w *world) delivered(r core.PostRequest, life time.Duration) []core.OutboxRow {
	w.Helper()
	owner, dies := w.holder(life)
	defer dies()
	r.Owner = owner
	return must(w.ClaimPosts(w.ctx, r))(w)
}

// first claims the one post that is due.
func (w *world) first(life time.Duration) core.OutboxRow {
	w.Helper()
	rows := w.deliver(life)
	if len(rows) != 1 {
		w.Fatalf("got %d posts, want 1", len(rows))
	}
	return rows[0]
}

// sent ends a delivery successfully.
func (w *world) sent(row core.OutboxRow, ref core.Ref) {
	w.Helper()
	row.State, row.Shown, row.Parts = core.RowSent, row.Wanted, []core.Part{{Ref: ref}}
	w.ok(w.release(row, 0))
}

// say runs a turn that posts.
func (w *world) say(l core.ConversationID, posts ...core.Post) {
	w.Helper()
	w.message(l)
	w.changed(w.claim(minute), core.Changes{Posts: posts})
}

func post(key string, l core.ConversationID) core.Post {
	return core.Post{
		Key: key, To: core.Address{Platform: platform, Channel: string(l)}, Conversation: l, Kind: core.PostReply,
		Text: "text of " + key,
	}
}

// indicator returns the typing indicator of a claim's event.
func indicator(c core.Claim) core.Post {
	return core.Post{
		Key: fmt.Sprintf("working/%d", c.Event.Seq), To: c.Event.Address, Conversation: c.Event.Conversation,
		Kind: core.PostWorking, Event: c.Event.Seq, On: true,
	}
}

func (w *world) posted(key string) core.OutboxRow {
	w.Helper()
	for _, row := range must(w.ListPosts(w.ctx, nil, "", 0))(w) {
		if row.Key == key {
			return row
		}
	}
	w.Fatalf("there is no post %s", key)
	return core.OutboxRow{}
}

func keys(rows []core.OutboxRow) []string {
	all := []string{}
	for _, r := range rows {
		all = append(all, r.Key)
	}
	return all
}

var outboxExamples = []example{
	{"a post is stored unchanged", func(w *world) {
		p := core.Post{
			Key: "k", To: core.Address{Platform: platform, Channel: "c", Thread: "t"}, Conversation: conversation,
			Kind: core.PostPrivate,
			Text: "<b> & \u2028", Bucket: core.UserCorrectable, Approval: "a", Person: "p", Event: 7,
		}
		w.say(conversation, p)
		want := core.OutboxRow{Post: p, Wanted: 1, State: core.RowWaiting}
		got := w.posted("k")
		if got.CreatedAt.IsZero() || got.Seq == 0 {
			w.Fatalf("got %+v", got)
		}
		want.Seq, want.CreatedAt, want.NextAt = got.Seq, got.CreatedAt, got.NextAt
		w.equal("the row", got, want)
		row := w.first(minute)
		if row.Age <= 0 || row.Age > minute {
			w.Errorf("it was claimed at the age of %s", row.Age)
		}
		want.Owner, want.Fence, want.Doubted, want.Age = w.owner, 1, true, row.Age
		w.equal("the claim", row, want)
	}},
	{"a post added while a turn runs is due at once", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.ok(w.AddPosts(w.ctx, c, []core.Post{post("a", conversation), post("b", other)}))
		w.equal("due", keys(w.deliver(minute)), []string{"a", "b"})
	}},
	{"a second post of a key changes the first", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", conversation))
		changed := post("a", conversation)
		changed.Text = "changed"
		w.say(conversation, changed)
		rows := must(w.ListPosts(w.ctx, nil, "", 0))(w)
		w.equal("rows", keys(rows), []string{"b", "a"})
		row := w.first(minute)
		if row.Text != "changed" || row.Wanted != 2 || row.Shown != 0 {
			w.Fatalf("got %+v", row)
		}
	}},
	{"a sent post that changes is due again, before later ones", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.sent(w.first(minute), "ref-a")
		w.say(conversation, post("b", conversation))
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		if row.Key != "a" || row.Parts[0].Ref != "ref-a" || row.Wanted != 2 || row.Shown != 1 {
			w.Fatalf("got %+v", row)
		}
		w.sent(row, "ref-a")
		w.equal("then", w.first(minute).Key, "b")
	}},
	{"a post that changes in flight is due again", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		w.say(conversation, post("a", conversation))
		w.equal("while in flight", len(w.deliver(minute)), 0)
		w.sent(row, "ref")
		again := w.first(minute)
		if again.Wanted != 2 || again.Shown != 1 || again.Parts[0].Ref != "ref" {
			w.Fatalf("got %+v", again)
		}
		w.sent(again, "ref")
		w.equal("in the end", len(w.deliver(minute)), 0)
	}},
	{"a pressed button is removed, once", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.sent(w.first(minute), "ref-a")
		for range 2 {
			w.message(conversation)
			w.changed(w.claim(minute), core.Changes{Pressed: []string{"a", "no such post"}})
		}
		row := w.first(minute)
		if !row.Pressed || row.Wanted != 2 || row.Parts[0].Ref != "ref-a" || row.Text != "text of a" {
			w.Fatalf("got %+v", row)
		}
		w.sent(row, "ref-a")
		w.equal("then", len(w.deliver(minute)), 0)
	}},
	{"a button to ask again is removed from all cards, once", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		card := w.first(minute)
		w.ok(
			w.AddCopies(w.ctx, card,
				core.Copies{Posts: []core.Post{{
					Key: "copy", To: core.Address{Platform: platform, Channel: "elsewhere"}, Conversation: conversation,
					Kind: core.PostCard, Approval: "a", Copy: true,
				}}}))
		w.sent(card, "ref")
		w.sent(w.first(minute), "ref-copy")
		for range 2 {
			w.message(conversation)
			w.changed(w.claim(minute), core.Changes{AskedAgain: "a"})
		}
		rows := w.deliver(minute)
		w.equal("redrawn", len(rows), 2)
		for _, row := range rows {
			if !row.Pressed || row.Wanted != 2 {
				w.Errorf("got %+v", row)
			}
			w.sent(row, "ref")
		}
		w.equal("then", len(w.deliver(minute)), 0)
	}},
	{"a card in doubt that was pressed exists, and is redrawn", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		row := w.first(minute)
		row.State, row.Cause, row.Parts = core.RowUnknown, "lost", []core.Part{{InDoubt: true}}
		w.ok(w.release(row, 0))
		seen := core.PressedCard{Approval: "a", Channel: "elsewhere", Ref: "the-card"}
		press := func(s core.PressedCard) {
			w.Helper()
			w.message(other)
			w.changed(w.claim(minute), core.Changes{PressedCard: &s})
		}
		press(seen)
		w.equal("elsewhere", w.posted(row.Key).State, core.RowUnknown)
		seen.Channel = row.To.Channel
		press(seen)
		got := w.first(minute)
		if got.Key != row.Key || got.Shown != 0 || len(got.Parts) != 1 || got.Parts[0] != (core.Part{Ref: "the-card"}) {
			w.Fatalf("got %+v", got)
		}
		w.sent(got, "the-card")
		w.equal("then", len(w.deliver(minute)), 0)
		seen.Ref = "another"
		press(seen)
		w.equal("a card that is known stays", w.posted(row.Key).Parts[0].Ref, core.Ref("the-card"))
	}},
	{"cards are redrawn on request", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		w.sent(w.first(minute), "the-card")
		w.equal("nothing to draw", len(w.deliver(minute)), 0)
		w.message(other)
		w.changed(w.claim(minute), core.Changes{Redraw: "a"})
		w.equal("due before the answer to the press is shown", len(w.deliver(minute)), 0)
		w.db.Advance(2 * time.Second)
		w.sent(w.first(minute), "the-card")
		w.ok(w.RedrawCards(w.ctx, "a"))
		w.ok(w.RedrawCards(w.ctx, "a"))
		w.sent(w.first(minute), "the-card")
		w.equal("then", len(w.deliver(minute)), 0)
		w.ok(w.RedrawCards(w.ctx, "no such approval"))
	}},
	{"copies are added once, and only by the row's delivery", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		for range 2 {
			w.ok(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{post("b", other), post("a", other)}}))
		}
		w.equal("the rows", keys(must(w.ListPosts(w.ctx, nil, "", 0))(w)), []string{"b", "a"})
		w.equal("where a goes", w.posted("a").Conversation, conversation)
		w.sent(row, "ref")
		w.sent(w.first(minute), "ref-b")
		w.fails(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{post("c", other)}}), core.ClaimLost)
		w.equal("due", len(w.deliver(minute)), 0)
	}},
	{"a post may move to another destination", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", conversation))
		moved := post("a", conversation)
		moved.To.Channel = "elsewhere"
		w.say(conversation, moved)
		w.equal("due", len(w.deliver(minute)), 2)
	}},
	{"a typing indicator cleared before it was sent is done", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c)}))
		w.done(c, core.Finish{})
		w.equal("due", len(w.deliver(minute)), 0)
		if row := w.posted(indicator(c).Key); row.State != core.RowSent || row.On || row.Shown != row.Wanted {
			w.Fatalf("got %+v", row)
		}
	}},
	{"a typing indicator that was never shown is not cleared", func(w *world) {
		c := w.take(w.message(conversation), minute)
		cleared := indicator(c)
		cleared.On = false
		w.ok(w.AddPosts(w.ctx, c, []core.Post{cleared}))
		w.done(c, core.Finish{})
		w.equal("rows", len(must(w.ListPosts(w.ctx, nil, "", 0))(w)), 0)
	}},
	{"a typing indicator cleared in flight is cleared afterwards", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c)}))
		row := w.first(minute)
		w.done(c, core.Finish{})
		w.sent(row, "")
		w.indicatorCleared(c)
	}},
	{"a cleared typing indicator stays cleared", func(w *world) {
		c := w.working()
		cleared := indicator(c)
		cleared.On = false
		w.ok(w.AddPosts(w.ctx, c, []core.Post{cleared}))
		w.sent(w.first(minute), "")
		w.done(c, core.Finish{})
		w.equal("due", len(w.deliver(minute)), 0)
	}},
	{"what is said comes before the typing indicators of others", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c)}))
		w.say(other, post("p1", other))
		for _, key := range []string{"p1", indicator(c).Key} {
			rows := w.delivered(core.PostRequest{Limit: 1, Scopes: scope}, minute)
			w.equal("the next post", len(rows) == 1 && rows[0].Key == key, true)
		}
	}},
	{"a typing indicator and the answer do not wait for each other", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c), sample.Reply(c, "hello")}))
		w.equal("due", len(w.deliver(minute)), 2)
	}},
	{"posts are listed, latest first", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", other), post("c", conversation))
		row := w.deliver(minute)[0]
		row.State = core.RowDead
		w.ok(w.release(row, 0))
		w.equal("all", keys(must(w.ListPosts(w.ctx, nil, "", 0))(w)), []string{"c", "b", "a"})
		w.equal("one", keys(must(w.ListPosts(w.ctx, nil, "", 1))(w)), []string{"c"})
		w.equal("a conversation", keys(must(w.ListPosts(w.ctx, nil, conversation, 0))(w)), []string{"c", "a"})
		w.equal("a state", keys(must(w.ListPosts(w.ctx, []core.RowState{core.RowDead, core.RowUnknown}, "", 0))(w)),
			[]string{"a"})
		w.equal("both", keys(must(w.ListPosts(w.ctx, []core.RowState{core.RowWaiting}, conversation, 0))(w)),
			[]string{"c"})
	}},
}
