package storagetest

import (
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

// lastStep returns the last entry of the audit log that is not about a card.
func (w *world) lastStep() (last audit.Entry) {
	w.Helper()
	for _, e := range must(w.AuditLog(w.ctx, 0, 0))(w) {
		if e.Action != audit.Sent {
			last = e
		}
	}
	return last
}

// steps returns the actions of a log without those that are about cards.
func steps(log []audit.Entry) []string {
	return slices.DeleteFunc(actions(log), func(action string) bool { return action == audit.Sent })
}

// sentTo returns the details of the entries about cards that were sent.
func (w *world) sentTo() (places []string) {
	w.Helper()
	for _, e := range must(w.AuditLog(w.ctx, 0, 0))(w) {
		if e.Action == audit.Sent {
			places = append(places, string(e.Approval)+" "+e.Detail)
		}
	}
	return places
}

var auditExamples = []example{
	{"the audit log says where a card was sent, once for each place", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		card := w.first(minute)
		w.ok(w.AddCopies(w.ctx, card, core.Copies{Posts: []core.Post{{
			Key: "copy", To: core.Address{Platform: platform, Channel: "elsewhere", Thread: "7"},
			Conversation: conversation, Kind: core.PostCard, Approval: "a", Copy: true,
		},
			{
				Key: "direct", To: core.Address{Platform: platform}, Conversation: conversation, Kind: core.PostCard,
				Approval: "a", Copy: true, Person: bob.ID,
			}}}))
		card.Parts = []core.Part{{InDoubt: true}}
		w.ok(w.SavePost(w.ctx, card))
		w.equal("before the answer", len(w.sentTo()), 0)
		card.Parts = []core.Part{{Ref: "ref"}}
		w.ok(w.SavePost(w.ctx, card))
		w.ok(w.SavePost(w.ctx, card))
		here := "a to " + platform + ":" + card.To.Channel
		w.equal("after the answer", w.sentTo(), []string{here})
		w.sent(card, "ref")
		for _, row := range w.deliver(minute) {
			w.sent(row, core.Ref("ref-"+row.Key))
		}
		all := w.sentTo()
		slices.Sort(all)
		w.equal("with the copies", all,
			[]string{"a to " + bob.ID + ", copy", "a to " + platform + ":elsewhere/7, copy", here})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Deny)))(w)
		for range 2 {
			for _, row := range w.deliver(minute) {
				row.Parts = nil // it was removed on the platform, and is sent again
				w.ok(w.SavePost(w.ctx, row))
				w.sent(row, "again")
			}
		}
		w.equal("after edits", len(w.sentTo()), 3)
		w.ok(audit.KeysOf(w.Signer()).Verify("", must(w.AuditLog(w.ctx, 0, 0))(w)))
	}},
	{"a card whose sending was refused or is in doubt is not said to be sent; one that was pressed is", func(w *world) {
		for id, state := range map[string]core.RowState{"a": core.RowDead, "b": core.RowUnknown} {
			w.suspend(conversation, id, core.Rule{})
			row := w.first(minute)
			if row.State = state; state == core.RowUnknown {
				row.Parts = []core.Part{{InDoubt: true}}
			}
			w.ok(w.release(row, 0))
		}
		w.equal("sent", len(w.sentTo()), 0)
		channel := w.posted("card/b").To.Channel
		w.message(other)
		c := w.claim(minute)
		w.changed(c, core.Changes{PressedCard: &core.PressedCard{Approval: "b", Channel: channel, Ref: "r"}})
		w.equal("pressed", w.sentTo(), []string{"b to " + platform + ":" + channel})
		w.sent(w.first(minute), "r")
		w.equal("drawn", len(w.sentTo()), 1)
	}},
	{"a vote that takes the place of an earlier one of the same person is a change", func(w *world) {
		w.suspend(conversation, "a", core.Rule{
			Quorum: 3, Vetoes: 3, Approvers: []string{bob.ID, "plat:bob2", cleo.ID},
			People: map[string]string{bob.ID: "bob", "plat:bob2": "bob"},
		})
		for _, d := range []core.Decision{
			sample.Vote("a", bob, core.Approve), sample.Vote("a", cleo, core.Deny),
			sample.Vote("a", core.Actor{ID: "plat:bob2"}, core.Deny),
			sample.Vote("a", bob, core.Approve), sample.Vote("a", cleo, core.Approve),
		} {
			must(w.Decide(w.ctx, d))(w)
		}
		var told []string
		for _, e := range must(w.AuditLog(w.ctx, 1, 0))(w) {
			detail, _, _ := strings.Cut(e.Detail, ", record ")
			told = append(told, e.Action+" "+strings.TrimPrefix(e.Actor, "plat:")+" "+detail)
		}
		w.equal("the log", told, []string{
			"voted bob choice approve", "voted cleo choice deny", "changed bob2 choice deny",
			"changed bob choice approve", "changed cleo choice approve",
		})
	}},
	{"the audit log has the digest of a result, and not a digest that anybody could compute", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "4711 \xff\xfe\x00", Category: core.ToolFailed}))
		e := w.lastStep()
		stored := audit.ResultDigest(must(w.LoadIntent(w.ctx, "a"))(w).Result.Content)
		w.equal("the entry", e.Detail,
			"tool_failed, digest "+audit.KeysOf(w.Signer()).Digest(e.Key, "a", audit.OfResult, stored))
		other := must(core.NewSigner("another secret key"))(w)
		if strings.Contains(e.Detail, stored) ||
			audit.KeysOf(other).Digest("", "a", audit.OfResult, stored) == audit.KeysOf(w.Signer()).Digest("",
				"a", audit.OfResult, stored) {
			w.Fatalf("the digest depends on no key: %q", e.Detail)
		}
	}},
}
