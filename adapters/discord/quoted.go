package discord

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// quotable is a message as others may point at it: one that is replied to, or one of a thread.
type quotable struct {
	carried
	ID              string                       `json:"id"`
	Author          *user                        `json:"author"`
	Member          *member                      `json:"member"`
	Webhook         string                       `json:"webhook_id"`
	MentionChannels lenient[[]discordgo.Channel] `json:"mention_channels"`
	Snapshots       lenient[[]snapshot]          `json:"message_snapshots"` // of the messages that it forwards
	Reference       lenient[reference]           `json:"message_reference"`
}

// snapshot is a message that was forwarded, as it was then. Discord does not say who wrote it.
type snapshot struct {
	Message struct {
		carried
		Snapshots lenient[[]snapshot] `json:"message_snapshots"` // of a forward that was forwarded
	} `json:"message"`
}

// forwarded are the messages that a message forwards; in place of a forward that was forwarded, those that it forwards.
func (s quotable) forwarded() (all []carried) {
	var walk func(list []snapshot)
	walk = func(list []snapshot) {
		for _, f := range list {
			if inner := f.Message.Snapshots.it; len(inner) > 0 {
				walk(inner)
			} else if len(all) < maxEmbeds {
				all = append(all, f.Message.carried)
			}
		}
	}
	walk(s.Snapshots.it)
	return all
}

// reference is where a message is that another points at: it replies to it, forwards it, or tells of it.
type reference struct {
	Type    discordgo.MessageReferenceType `json:"type"`
	Channel string                         `json:"channel_id"`
}

// isBy reports whether somebody wrote the message.
func (s quotable) isBy(user string) bool { return s.Author != nil && s.Author.ID == user }

// byBot reports whether a bot or a webhook wrote the message.
func (s quotable) byBot() bool { return s.Author != nil && s.Author.Bot || s.Webhook != "" }

// quotation is a message as the model is shown it: its author, and all that it carries, its files by their names.
func (n *names) quotation(what string, s quotable) core.Quotation {
	q := core.Quotation{What: what, At: quotedAt(s.At.it), Text: n.text(s.carried, s.byBot())}
	by := n.speaker(s.Author)
	q.Name, q.ID = by.Name, by.ID
	for _, f := range n.forwards(s) {
		q.Text = chat.Joined("\n", q.Text, "["+f.What+"]", "> "+strings.ReplaceAll(f.Text, "\n", "\n> "))
	}
	return n.bounded(q)
}

// forwards are the messages that a message forwards.
func (n *names) forwards(s quotable) (all []core.Quotation) {
	what := "forwarded message"
	if len(s.Snapshots.it) == 0 && s.Reference.it.Type != discordgo.MessageReferenceTypeForward {
		return nil
	}
	if place := n.of(origin, s.Reference.it.Channel); place != "" {
		what += " from #" + chat.Name(place)
	}
	for _, f := range s.forwarded() {
		all = append(all, n.bounded(core.Quotation{What: what, At: quotedAt(f.At.it), Text: n.text(f, true)}))
	}
	if len(all) == 0 {
		all = append(all, chat.Note("This message forwards another, which Discord does not show."))
	}
	return all
}

func (n *names) bounded(q core.Quotation) core.Quotation {
	q.Text = cmp.Or(strings.TrimSpace(chat.Shortened(q.Text, maxQuoted)), n.nothing)
	return q
}

// text is what a quoted message says and carries.
func (n *names) text(c carried, byBot bool) string {
	all := []string{n.read(c.Content)}
	for _, p := range c.extras(byBot) {
		all = append(all, "["+chat.Joined(" of ", p.what, p.page)+"] "+n.read(p.text))
	}
	for _, a := range first(c.Attachments.it, maxItems) {
		all = append(all, "[file] "+a.named())
	}
	return chat.Joined("\n", all...)
}

// quotedAt is the time of a message, "" if it can't be read.
func quotedAt(at string) string {
	t, _ := time.Parse(time.RFC3339, at)
	return core.QuotedAt(t)
}

// repliesTo is the message that a message replies to, or forwards without a snapshot, as the model is shown it.
func (n *names) repliesTo(m message, me string) []core.Quotation {
	switch to := m.RepliesTo.it; {
	case m.forwardsWhole():
		return []core.Quotation{n.quotation("forwarded message", *to)}
	case m.Type != discordgo.MessageTypeReply:
		return nil
	case to == nil && m.RepliesTo.null:
		return []core.Quotation{chat.Note("This message replies to one that was deleted.")}
	case to == nil || to.Author == nil:
		return []core.Quotation{chat.Note("This message replies to one that can't be read.")}
	case to.Author.ID == me:
		q := n.quotation("your own message, which is replied to", *to)
		q.Text = chat.Shortened(q.Text, maxOwn)
		return []core.Quotation{q}
	default:
		return []core.Quotation{n.quotation("message replied to", *to)}
	}
}

// maxOwn is how much of a message of the bot is quoted, in characters: enough to know which it is.
const maxOwn = 500

// points is what a message points at and carries, as the model is shown it.
func (n *names) points(m message, me string, by core.Speaker) (blocks []core.Block) {
	all := n.repliesTo(m, me)
	if !m.forwardsWhole() {
		all = append(all, n.forwards(m.quotable)...)
	}
	for _, p := range m.extras(m.byBot()) {
		q := core.Quotation{What: p.what, Name: by.Name, ID: by.ID, Text: n.read(p.text)}
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

// isEmpty reports whether there is nothing in a message that can be read.
func (s quotable) isEmpty() bool {
	return s.isBare() && !s.has(func(c carried) bool { return len(c.Stickers.it) > 0 })
}

// isBare reports whether a message has nothing but stickers. In a server Discord withholds all else where the message
// content is not granted.
func (s quotable) isBare() bool {
	return !s.has(func(c carried) bool {
		c.Stickers.it = nil
		return c.Content != "" || len(c.Attachments.it) > 0 || len(c.extras(false)) > 0
	})
}

// has reports whether something holds of a message, or of one that it forwards.
func (s quotable) has(holds func(carried) bool) bool {
	return holds(s.carried) || slices.ContainsFunc(s.forwarded(), holds)
}
