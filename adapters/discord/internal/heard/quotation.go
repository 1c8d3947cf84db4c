package heard

import (
	"cmp"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Quotation is a message as the model is shown it: its author, and all that it carries, its files by their names.
func (n *Names) Quotation(what string, s Quotable) core.Quotation {
	q := core.Quotation{What: what, At: quotedAt(s.At.It), Text: n.text(s.parts, s.byBot())}
	by := n.speaker(s.Author)
	q.Name, q.ID = by.Name, by.ID
	for _, f := range n.forwards(s) {
		q.Text = safetext.Joined("\n", q.Text, "["+f.What+"]", "> "+strings.ReplaceAll(f.Text, "\n", "\n> "))
	}
	return n.bounded(q)
}

// forwards are the messages that a message forwards.
func (n *Names) forwards(s Quotable) (all []core.Quotation) {
	what := "forwarded message"
	if len(s.Snapshots.It) == 0 && s.Reference.It.Type != discordgo.MessageReferenceTypeForward {
		return nil
	}
	if place := n.of(origin, s.Reference.It.Channel); place != "" {
		what += " from #" + safetext.Name(place)
	}
	for _, f := range s.forwarded() {
		all = append(all, n.bounded(core.Quotation{What: what, At: quotedAt(f.At.It), Text: n.text(f, true)}))
	}
	if len(all) == 0 {
		all = append(all, inbound.Note("This message forwards another, which Discord does not show."))
	}
	return all
}

func (n *Names) bounded(q core.Quotation) core.Quotation {
	q.Text = cmp.Or(strings.TrimSpace(safetext.Shortened(q.Text, maxQuoted)), n.nothing)
	return q
}

// text is what a quoted message says and carries.
func (n *Names) text(c parts, byBot bool) string {
	all := []string{n.Text(c.Content)}
	for _, p := range c.extras(byBot) {
		all = append(all, "["+safetext.Joined(" of ", p.what, p.page)+"] "+n.Text(p.text))
	}
	for _, a := range first(c.Attachments.It, maxItems) {
		all = append(all, "[file] "+a.named())
	}
	return safetext.Joined("\n", all...)
}

// quotedAt is the time of a message, "" if it can't be read.
func quotedAt(at string) string {
	t, _ := time.Parse(time.RFC3339, at)
	return core.QuotedAt(t)
}

// repliesTo is the message that a message replies to, or forwards without a snapshot, as the model is shown it.
func (n *Names) repliesTo(m Message, me string) []core.Quotation {
	switch to := m.RepliesTo.It; {
	case m.forwardsWhole():
		return []core.Quotation{n.Quotation("forwarded message", *to)}
	case m.Type != discordgo.MessageTypeReply:
		return nil
	case to == nil && m.RepliesTo.null:
		return []core.Quotation{inbound.Note("This message replies to one that was deleted.")}
	case to == nil || to.Author == nil:
		return []core.Quotation{inbound.Note("This message replies to one that can't be read.")}
	case to.Author.ID == me:
		q := n.Quotation("your own message, which is replied to", *to)
		q.Text = safetext.Shortened(q.Text, maxOwn)
		return []core.Quotation{q}
	default:
		return []core.Quotation{n.Quotation("message replied to", *to)}
	}
}

// maxOwn is how much of a message of the bot is quoted, in characters: enough to know which it is.
const maxOwn = 500

// Points is what a message points at and carries, as the model is shown it.
func (n *Names) Points(m Message, me string, by core.Speaker) (blocks []core.Block) {
	all := n.repliesTo(m, me)
	if !m.forwardsWhole() {
		all = append(all, n.forwards(m.Quotable)...)
	}
	for _, p := range m.extras(m.byBot()) {
		q := core.Quotation{What: p.what, Name: by.Name, ID: by.ID, Text: n.Text(p.text)}
		if p.what == linkPreview {
			q.Name, q.ID = p.page, ""
		}
		all = append(all, n.bounded(q))
	}
	for _, q := range all {
		blocks = append(blocks, core.Quote(q))
	}
	return blocks
}
