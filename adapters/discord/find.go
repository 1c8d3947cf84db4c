package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Limits of a search for a message whose send is in doubt.
const (
	nonceTime = 3 * time.Minute // how long a nonce certainly lasts; Discord says "a few minutes"
	margin    = 2 * time.Second // how far Discord's own clocks may differ, that of its answers and that of its ids
	pageSize  = 100             // Discord's limit
	pages     = 20
)

// isPart reports whether the message is a part of a post. It compares the text or, if that may have changed since the
// send, the buttons or the kind.
func (p posted) isPart(at desk.Desk, delivery core.Delivery, part draw.Message) bool {
	switch delivery.Kind {
	case core.PostSteps:
		return strings.HasPrefix(p.Content, draw.StepsPrefix)
	case core.PostCard:
		for _, one := range p.pieces() {
			if b := at.Open(one.CustomID); b.Action != "" && b.Approval == delivery.Approval {
				return true
			}
		}
	}
	return p.hasText(part, draw.Late(at.Texts))
}

// Find looks for a part whose send is in doubt, among the bot's own messages in its channel since the send, by text and
// buttons. While the nonce lasts, a part that was not found can safely be sent again. What only one person sees can't
// be read back.
func (d *Discord) Find(ctx context.Context, delivery core.Delivery) (core.Found, error) {
	ctx = rest.ForPosts(ctx)
	if delivery.Kind == core.PostPrivate {
		return core.Found{},
			core.Errorf(core.DeliveryInDoubt, "A message that only one person sees can't be read back.")
	}
	delivery, part, more, err := d.next(ctx, delivery)
	if err != nil {
		return core.Found{}, err
	}
	c, err := d.commandOf(ctx, delivery)
	followUp := err == nil && c.asksFor(delivery)
	if !followUp {
		var ref core.Ref
		if err == nil {
			ref, err = d.findAnswer(ctx, c, delivery, part)
		}
		if !errors.Is(err, errLate) {
			return core.Found{Ref: ref, More: more}, err
		}
	}
	own, err := d.privateTo(ctx, delivery.To)
	if err != nil {
		return core.Found{}, findError(err)
	}
	channels := []string{cmp.Or(own, address.Channel(delivery.To))}
	if address.StartsThread(delivery.To) {
		channels = append(channels, delivery.To.Channel) // where it is if the thread could not be opened
	}
	newer := false
	for _, channel := range channels {
		id, later, err := d.findIn(ctx, channel, delivery, part)
		if err != nil {
			return core.Found{}, err
		}
		newer = newer || later
		if id != "" {
			d.sent.Put(id, partName(delivery))
			return core.Found{Ref: address.Ref(channel, id), More: more}, nil
		}
	}
	// any other message has a nonce, which prevents a duplicate if it becomes readable late
	return core.Found{Late: followUp, Newer: newer}, nil
}

// findIn looks for a part in a channel, from its latest message back, and returns the part's message id, "" if it is
// not there; newer: a message is there that was posted after the part's send had ended.
func (d *Discord) findIn(
	ctx context.Context, channel string, delivery core.Delivery, part draw.Message,
) (id string, newer bool, err error) {
	after, before := sentAfter(delivery), ""
	for range pages {
		var found []posted
		page := fmt.Sprintf("%s?limit=%d%s", discordgo.EndpointChannelMessages(channel), pageSize, before)
		err = d.rest.Get(ctx, page, &found)
		switch {
		case rest.IsRefusal(err, discordgo.ErrCodeUnknownChannel):
			return "", newer, nil
		case err != nil:
			return "", false, findError(err)
		case len(found) == 0 && before == "":
			if now, _, _ := d.Clock(); now.Sub(snowflake.Time(after)) < nonceTime {
				return "", newer, nil
			}
			// Without the permission to read the history, Discord returns an empty one, which does no harm while the
			// nonce lasts.
			return "", false, core.Errorf(core.DeliveryInDoubt,
				"The bot sees no messages where it posted. Give it the permission Read Message History there.")
		}
		for _, one := range found {
			newer = newer || !delivery.LostAt.IsZero() && snowflake.Time(one.ID).After(delivery.LostAt)
			if !snowflake.Greater(one.ID, after) {
				return "", newer, nil
			}
			if one.Author.Bot && one.isPart(d.desk, delivery, part) && !d.isOther(one.ID, delivery) {
				return one.ID, newer, nil
			}
			before = "&before=" + one.ID
		}
		if len(found) < pageSize {
			return "", newer, nil
		}
	}
	return "", false, core.Errorf(core.DeliveryInDoubt, "There are too many messages to search.")
}

// sentAfter returns an id that is certainly below that of a part whose send is in doubt: that of the message that the
// part answers, and the first one of the moment at which the send began, by Discord's clock.
func sentAfter(delivery core.Delivery) string {
	return snowflake.Max(snowflake.At(delivery.SentAt.Add(-margin)), delivery.To.Message)
}

// findError converts an error of a search for the outbox. A search changes nothing, so while Discord fails, or until
// the token is corrected, it is repeated later, without limit. If Discord refuses the answer, the send stays in doubt.
func findError(err error) error { return outbound.SendError(outbound.FindError(err)) }
