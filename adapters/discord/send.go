package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// drawn is one Discord message: a text with its buttons in rows, or a card. It pings Users and Roles, if it mentions
// them, and nobody else.
type drawn struct {
	Text  string
	Plain string // the same text for where the bot may not attach Files: they stand in it; "" without Files
	Rows  []discordgo.MessageComponent
	Card  *discordgo.Container // with a coloured edge
	Users []string
	Roles []string
	Files []file
}

// file is a file that is attached to a message.
type file struct{ name, text string }

// write adds texts to a card, but for empty ones.
func (m *drawn) write(texts ...string) {
	for _, text := range texts {
		if text != "" {
			m.Text += text + "\n"
			m.Card.Components = append(m.Card.Components, discordgo.TextDisplay{Content: text})
		}
	}
}

// outgoing is a message in the form that Discord accepts; discordgo.MessageSend has no nonce. A card has no content.
type outgoing struct {
	Content   string                           `json:"content,omitempty"`
	Flags     discordgo.MessageFlags           `json:"flags"`
	Mentions  discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Rows      []discordgo.MessageComponent     `json:"components"`
	Nonce     string                           `json:"nonce,omitempty"`
	Enforce   bool                             `json:"enforce_nonce,omitempty"`
	Reference *discordgo.MessageReference      `json:"message_reference,omitempty"`
	Attached  []attached                       `json:"attachments,omitempty"`
}

// attached names a file of the form that a message is sent in. An edit keeps no others.
type attached struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
}

// outgoing makes the message to send. Without allowed_mentions, Discord would ping everyone whom the text mentions.
func (m drawn) outgoing() outgoing {
	out := outgoing{
		Content: m.Text, Flags: discordgo.MessageFlagsSuppressEmbeds,
		Rows: append([]discordgo.MessageComponent{}, m.Rows...),
		Mentions: discordgo.MessageAllowedMentions{
			Parse: []discordgo.AllowedMentionType{}, Users: m.Users, Roles: m.Roles,
		},
	}
	if m.Card != nil {
		out.Content, out.Flags = "", out.Flags|discordgo.MessageFlagsIsComponentsV2
		out.Rows = []discordgo.MessageComponent{*m.Card}
	}
	return out
}

// under returns the message with something above its text.
func (m drawn) under(above string) drawn {
	m.Text = above + m.Text
	if m.Plain != "" {
		m.Plain = above + m.Plain
	}
	return m
}

// call sends a message to a channel, or edits one. Where Discord does not let the bot attach its files, they stand in
// its text.
func (d *Discord) call(ctx context.Context, method, endpoint, channel string, m drawn, out outgoing, made any) error {
	if len(m.Files) == 0 {
		return d.rest.Call(ctx, method, endpoint, out, made)
	}
	if refused, known := d.fileless.Get(channel); !known || d.Now().Sub(refused) >= filelessTime {
		form, with := rest.Form{}, out
		for i, f := range m.Files {
			with.Attached = append(with.Attached, attached{ID: strconv.Itoa(i), Name: f.name})
			form.Files = append(form.Files, &discordgo.File{
				Name: f.name, ContentType: "text/plain; charset=utf-8", Reader: strings.NewReader(f.text),
			})
		}
		form.Payload = with
		err := d.rest.Call(ctx, method, endpoint, form, made)
		if !rest.IsRefusal(err, discordgo.ErrCodeMissingPermissions) {
			return err
		}
		d.fileless.Put(channel, d.Now())
	}
	out.Content = m.Plain
	return d.rest.Call(ctx, method, endpoint, out, made)
}

// filelessTime is how long no file is tried in a channel in which Discord has refused one.
const filelessTime = 10 * time.Minute

// nonce identifies a part of a post to Discord, which for some minutes posts no second message with the same nonce. It
// is sealed, so it can't be guessed.
func (d *Discord) nonce(delivery core.Delivery) string {
	fields := []string{"part", delivery.Key, strconv.Itoa(delivery.Part)}
	if delivery.Again > 0 {
		fields = append(fields, strconv.Itoa(delivery.Again))
	}
	sum := sha256.Sum256([]byte(d.Signer.Seal(fields...)))
	return base64.RawURLEncoding.EncodeToString(sum[:maxNonce*3/4])
}

// send sends a part to a channel, as a reply if replyTo is not "". It may return a message that was sent earlier: one
// with the same nonce.
func (d *Discord) send(
	ctx context.Context, channel, replyTo string, delivery core.Delivery, part drawn,
) (core.Ref, posted, error) {
	out := part.outgoing()
	out.Nonce, out.Enforce = d.nonce(delivery), true
	if replyTo != "" {
		out.Reference = &discordgo.MessageReference{MessageID: replyTo, FailIfNotExists: new(false)}
	}
	var made posted
	err := d.call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), channel, part, out, &made)
	ref, err := d.taken(delivery, channel, made, err)
	return ref, made, err
}

// taken returns the reference of a part that was just sent, and remembers which part it is.
func (d *Discord) taken(delivery core.Delivery, channel string, made posted, err error) (core.Ref, error) {
	switch {
	case err != nil:
		return "", chat.SendError(err)
	case !snowflake.Valid(made.ID):
		return "", core.Errorf(core.DeliveryInDoubt, "Discord's answer does not contain the message's id.")
	}
	d.sent.Put(made.ID, partName(delivery))
	return refOf(channel, made.ID), nil
}

// posted is the part that is read of an existing message of the bot.
type posted struct {
	ID      string                 `json:"id"`
	Content string                 `json:"content"`
	Flags   discordgo.MessageFlags `json:"flags"`
	Author  user                   `json:"author"`
	Rows    json.RawMessage        `json:"components"`
}

// piece is the part that is read of a component of a message: of a container, a text, a row or a button.
type piece struct {
	Content  string  `json:"content"`
	CustomID string  `json:"custom_id"`
	Disabled bool    `json:"disabled"`
	Pieces   []piece `json:"components"`
}

// pieces returns the message's components and those inside them, in order. One that can't be read is left out.
func (p posted) pieces() []piece {
	var top []piece
	_ = json.Unmarshal(p.Rows, &top) // another shape is not ours
	return flat(top)
}

func flat(pieces []piece) (all []piece) {
	for _, one := range pieces {
		all = append(append(all, one), flat(one.Pieces)...)
	}
	return all
}

// hasText reports whether the message has the text of a part, apart from the note that it comes late, and all its
// buttons can be pressed.
func (p posted) hasText(part drawn, late string) bool {
	said := p.Content
	for _, one := range p.pieces() {
		if one.Disabled {
			return false
		}
		if one.Content != "" {
			said += one.Content + "\n"
		}
	}
	plain := func(s string) string { return strings.TrimSpace(strings.Replace(s, late, "", 1)) }
	said = plain(said)
	return said == plain(part.Text) || part.Plain != "" && said == plain(part.Plain)
}

// partName identifies a part of a post.
func partName(d core.Delivery) string { return fmt.Sprintf("%s#%d+%d", d.Key, d.Part, d.Again) }

// isOther reports whether a message is known to be another part. It tells apart two posts with the same text.
func (d *Discord) isOther(message string, delivery core.Delivery) bool {
	part, known := d.sent.Get(message)
	return known && part != partName(delivery)
}
