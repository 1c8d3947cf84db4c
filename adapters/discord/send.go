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

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// call sends a message to a channel, or edits one. Where Discord does not let the bot attach its files, they stand in
// its text.
func (d *Discord) call(
	ctx context.Context, method, endpoint, channel string, m draw.Message, out draw.Outgoing, made any,
) error {
	if len(m.Files) == 0 {
		return d.rest.Call(ctx, method, endpoint, out, made)
	}
	if refused, known := d.fileless.Get(channel); !known || d.Now().Sub(refused) >= filelessTime {
		err := d.rest.Call(ctx, method, endpoint, rest.Form{Payload: m.Attach(out), Files: m.Uploads()}, made)
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
	return base64.RawURLEncoding.EncodeToString(sum[:draw.MaxNonce*3/4])
}

// send sends a part to a channel, as a reply if replyTo is not "". It may return a message that was sent earlier: one
// with the same nonce.
func (d *Discord) send(
	ctx context.Context, channel, replyTo string, delivery core.Delivery, part draw.Message,
) (core.Ref, posted, error) {
	out := part.Outgoing()
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
		return "", outbound.SendError(err)
	case !snowflake.Valid(made.ID):
		return "", core.Errorf(core.DeliveryInDoubt, "Discord's answer does not contain the message's id.")
	}
	d.sent.Put(made.ID, partName(delivery))
	return address.Ref(channel, made.ID), nil
}

// posted is the part that is read of an existing message of the bot.
type posted struct {
	ID      string                 `json:"id"`
	Content string                 `json:"content"`
	Flags   discordgo.MessageFlags `json:"flags"`
	Author  heard.User             `json:"author"`
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
func (p posted) hasText(part draw.Message, late string) bool {
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
