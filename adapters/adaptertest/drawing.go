package adaptertest

import (
	"encoding/json"
	"reflect"
	"strings"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// AnyText draws a text composed of bits of markup.
func AnyText(t *rapid.T, label string, bits []string) string {
	var b strings.Builder
	for range rapid.IntRange(0, 20).Draw(t, label) {
		b.WriteString(rapid.SampledFrom(bits).Draw(t, label))
	}
	return b.String()
}

// AnyPost draws a post of any kind except a card.
func AnyPost(t *rapid.T, text func(t *rapid.T, label string) string) core.Delivery {
	return core.Delivery{Post: core.Post{
		Kind: rapid.SampledFrom(
			[]core.PostKind{
				core.PostReply, core.PostReply, core.PostError, core.PostNotice, core.PostPrivate, core.PostSteps,
			}).Draw(t, "kind"),
		Text: text(t, "text"), Bucket: core.RetryableTransient, Event: 1,
	}, Late: rapid.Bool().Draw(t, "late")}
}

// AnyCard draws a card in any state, with some texts longer than any message.
func AnyCard(t *rapid.T, anyText func(t *rapid.T, label string) string) core.Delivery {
	states := []core.ApprovalState{core.Open, core.Approved, core.Denied, core.Expired, core.Cancelled, core.Answered}
	text := func(label string) string {
		more := rapid.SampledFrom([]string{"x", "<", "😀"}).Draw(t, label)
		return anyText(t, label) + strings.Repeat(more, rapid.SampledFrom([]int{0, 100, 5000}).Draw(t, label))
	}
	c := core.Card{
		Approval: core.ApprovalID("ap-1"), State: rapid.SampledFrom(states).Draw(t, "state"), Tool: text("tool"),
		Summary:   text("summary"),
		Arguments: text("arguments"), Requester: text("requester"), DecidedBy: text("by"), Reason: text("reason"),
		Changed: text("changed"),
		Asked: core.Asked{
			Message: text("message"), Dropped: text("dropped"), Place: 1, Of: rapid.IntRange(0, 3).Draw(t, "of"),
		},
		Quorum: rapid.IntRange(0, 9).Draw(t, "quorum"), DecidedAt: Noon, Deadline: Noon,
		Risk: rapid.SampledFrom([]core.Risk{core.Ordinary, core.Dangerous}).Draw(t, "risk"),
	}
	for range rapid.IntRange(0, 13).Draw(t, "approvers") {
		c.Approvers = append(c.Approvers, text("approver"))
	}
	for range rapid.IntRange(0, 13).Draw(t, "votes") {
		c.Voters, c.Against = append(c.Voters, core.Actor{ID: "elsewhere:1", Name: text("voter")}),
			append(c.Against, core.Actor{ID: text("against")})
	}
	c.Vetoes, c.Edits, c.Editor = rapid.IntRange(0, 3).Draw(t, "vetoes"), rapid.IntRange(0, 2).Draw(t, "edits"),
		core.Actor{Name: text("editor")}
	occasion := rapid.SampledFrom([]core.Occasion{"", core.Reminder, core.Escalated}).Draw(t, "occasion")
	for range rapid.IntRange(0, 9).Draw(t, "lines") {
		c.Context = append(c.Context, core.Line{Role: core.User, Text: text("line")})
	}
	if c.Editable = rapid.Bool().Draw(t, "editable"); c.Editable {
		c.Arguments = asJSON(c.Arguments)
	}
	if rapid.Bool().Draw(t, "is a question") {
		c.Question, c.Answer = anyQuestion(t, text), mask.Escape(text("answer"))
	}
	post := core.Post{
		Kind: core.PostCard, Copy: rapid.Bool().Draw(t, "copy"), Quiet: rapid.Bool().Draw(t, "quiet"),
		LeftOut: rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "left out"), Occasion: occasion,
	}
	return core.Delivery{Post: post, Card: &c, Late: rapid.Bool().Draw(t, "late")}
}

// asJSON returns arguments with this text, as a card has them.
func asJSON(text string) string {
	raw, _ := json.MarshalIndent(map[string]string{"text": text}, "", "  ") // can't fail: it has only texts
	return mask.Escape(string(raw))
}

// DrawsWithinLimits tests that every post is drawn within the limits, which draw checks. Only a reply has several
// messages, a second drawing is the same, and a late post has as many messages. same returns the comparable part of a
// drawing.
func DrawsWithinLimits[M any](
	t *rapid.T, text func(*rapid.T, string) string, draw func(core.Delivery) []M, same func([]M) any,
) {
	d := AnyPost(t, text)
	all := draw(d)
	if d.Kind != core.PostReply && len(all) != 1 {
		t.Fatalf("%d messages", len(all))
	}
	if again := draw(d); !reflect.DeepEqual(same(again), same(all)) {
		t.Fatalf("drawn twice, it differs")
	}
	d.Late = !d.Late
	if other := draw(d); len(other) != len(all) {
		t.Fatalf("%d messages, %d where it is late", len(all), len(other))
	}
}
