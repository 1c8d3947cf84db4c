package discord

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Groups returns those of the wanted roles (discord:role:…) that a person has: by what came with their press, or else
// as Discord says now. A role that is in none of the bot's servers, or that the bot may not read, has no members. If
// Discord can't be asked now, the error is retryable.
func (d *Discord) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	user, ok := address.User(who.ID)
	if !ok {
		return nil, nil
	}
	var in []string
	for _, id := range wanted {
		role, ok := strings.CutPrefix(address.Account(id), "&")
		if !ok {
			continue
		}
		if slices.Contains(who.Groups, id) { // it came with the press
			in = append(in, id)
			continue
		}
		guild, err := d.guilds.GuildOfRole(ctx, role)
		var has []string
		switch {
		case err == nil && guild != "":
			has, err = d.guilds.Roles(ctx, guild, user)
		case err == nil:
			d.warnOnce("a role of approvers is in none of the bot's servers; nobody counts as having it", "role", role)
		}
		if err != nil {
			name := cmp.Or(d.guilds.RoleName(guild, role), role)
			return nil, core.Wrap(core.ProviderUnavailable, err, "Discord can't say whether you are in @%s.", name)
		}
		if slices.Contains(has, role) {
			in = append(in, id)
		}
	}
	return in, nil
}

// Missing says why nobody can be told by a post: its channel is not there, or its person is a role, whose members
// Discord does not list. "": somebody can, or Discord can't say so now.
func (d *Discord) Missing(ctx context.Context, p core.Post) string {
	if strings.HasPrefix(address.Account(p.Person), "&") {
		return "Discord does not say who has the role " + p.Person + ", so its members get no direct messages"
	}
	if p.Person != "" {
		return ""
	}
	if found, err := d.guilds.Channel(ctx, p.To.Channel); err == nil && found.ID == "" {
		return "Discord has no channel " + address.Platform + ":" + p.To.Channel + " that the bot may see"
	}
	return ""
}

// NameOf returns no name: people's names on Discord come with their events.
func (d *Discord) NameOf(context.Context, core.Actor) string { return "" }

// CardCopies returns copies of a card, as direct messages, for the approvers named as people who do not see its
// conversation. The members of a role can't be listed without a privileged intent, so those who approve by role are
// assumed to see it; in a direct message they can't, and the requester is told so. If the card's rule says so, those
// who see it get a copy too, or nobody does. If the card could not be posted at all, every person named gets a copy,
// and the requester is notified.
func (d *Discord) CardCopies(ctx context.Context, delivery core.Delivery, refused bool) (core.Copies, error) {
	ctx = rest.ForPosts(ctx)
	var users []string
	for _, id := range delivery.Card.Approvers {
		if user, ok := address.User(id); ok && !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	if delivery.Quiet && !delivery.Card.Direct && !refused {
		return core.Copies{}, nil
	}
	isDirect := address.Guild(delivery.Conversation) == address.Direct
	_, roles := draw.Told(doc.View(core.Delivery{Card: delivery.Card}, draw.Reader(d.desk.Texts)))
	if !refused && len(users) == 0 && len(roles) > 0 && (delivery.Quiet || isDirect) {
		why := "a role, and the policy notifies by direct messages, which can't be sent to a role. " +
			"Please tell somebody who has it."
		if isDirect {
			why = "a role on a server, and they do not see our direct messages. " +
				"Please ask in a channel of that server instead."
		}
		return core.Copies{Posts: []core.Post{{
			Key: delivery.Key + "/unseen", To: delivery.To, Conversation: delivery.Conversation, Kind: core.PostNotice,
			Event: delivery.Event, Text: "Nobody was notified: this is decided by people with " + why,
		}}}, nil
	}
	sees := func(ctx context.Context, user string) (bool, error) {
		if delivery.Card.Direct {
			return false, nil
		}
		return d.sees(ctx, delivery, user)
	}
	copies := outbound.Copies{Platform: address.Platform, People: people{d}}
	return copies.Posts(ctx, delivery, users, sees, refused)
}

// sees reports whether a person sees the conversation of a card. If that can't be determined, it returns true.
func (d *Discord) sees(ctx context.Context, delivery core.Delivery, user string) (bool, error) {
	guild := address.Guild(delivery.Conversation)
	if guild == address.Direct {
		return delivery.Card.Requested.ID == address.Actor(user).ID, nil
	}
	if !snowflake.Valid(guild) {
		return true, nil
	}
	sees, err := d.guilds.Sees(ctx, guild, delivery.To.Channel, user)
	if err != nil && !core.IsTemporary(err) {
		d.warnOnce("who sees a channel can't be looked up; approvers outside it get no copy of its cards",
			"channel", delivery.To.Channel, "err", err)
		return true, nil
	}
	return sees, err
}

// people are those whom the bot can write to.
type people struct{ discord *Discord }

func (people) User(id string) (string, bool) { return address.User(id) }

func (p people) OpenDM(ctx context.Context, user string) (string, error) {
	return p.discord.guilds.DM(ctx, user)
}

func (p people) Warn(text string, args ...any) { p.discord.warnOnce(text, args...) }
