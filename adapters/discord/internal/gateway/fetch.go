package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
)

// Limits of what is fetched of one conversation.
const (
	catchUpPage  = 100 // messages of one call: Discord's limit
	catchUpPages = 10
)

// errTooMany is returned if a conversation has more messages than are fetched.
var errTooMany = errors.New("too many messages")

// fetch fetches and processes the messages of a conversation, oldest first, and records in c how far it got. Only
// Discord's calls end with timed: a message that was fetched is stored, however long that takes.
func (u *catchUp) fetch(ctx, timed context.Context, c *missing) error {
	for range catchUpPages {
		page, err := u.page(timed, c.Channel, c.After)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, m := range page {
			if !u.take(ctx, event{name: "MESSAGE_CREATE", data: m.from(c)}) {
				return ctx.Err()
			}
			c.After = m.id
		}
		if len(page) < catchUpPage {
			return nil
		}
	}
	return errTooMany
}

// fetched is a message as REST returns it.
type fetched struct {
	id     string
	fields map[string]json.RawMessage
}

// from returns the message as the gateway would have sent it: REST omits its server.
func (m fetched) from(c *missing) json.RawMessage {
	delete(m.fields, "guild_id")
	if c.Guild != address.Direct {
		m.fields["guild_id"], _ = json.Marshal(c.Guild)
	}
	body, _ := json.Marshal(m.fields) // can't fail: it is JSON that was read
	return body
}

// page reads the messages after since, sorted by id.
func (u *catchUp) page(ctx context.Context, channel, since string) ([]fetched, error) {
	var all []json.RawMessage
	endpoint := fmt.Sprintf("%s?after=%s&limit=%d", discordgo.EndpointChannelMessages(channel), since, catchUpPage)
	err := u.REST.Get(ctx, endpoint, &all)
	if err != nil {
		return nil, err
	}
	page := make([]fetched, 0, len(all))
	for _, one := range all {
		var m fetched
		if err := inbound.Decode(one, &m.fields); err != nil {
			u.Log.Warn("a message that was fetched can't be read and is ignored", "channel", channel, "bytes", len(one),
				"err", inbound.JSONFault(err))
			continue
		}
		if json.Unmarshal(m.fields["id"], &m.id) == nil && snowflake.Valid(m.id) && snowflake.Greater(m.id, since) {
			page = append(page, m)
		}
	}
	slices.SortFunc(page, func(a, b fetched) int {
		if snowflake.Greater(b.id, a.id) {
			return -1
		}
		return 1
	})
	return page, nil
}
