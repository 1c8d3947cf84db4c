package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"gatehouse/core"
)

// maxCopies is how many direct messages there are for one card.
const maxCopies = 20

// CardCopies gives copies of a card, as direct messages, for the people named as approvers who do not see its conversation. Who has a
// role can't be listed without a privileged intent, so those that approve by a role are taken to see it. Where the card could not be
// posted at all, everybody who is named gets one, and the requester is told.
func (d *Discord) CardCopies(ctx context.Context, delivery core.Delivery, refused bool) ([]core.Post, error) {
	var posts []core.Post
	for _, user := range named(delivery.Card.Approvers) {
		if len(posts) == maxCopies {
			break
		}
		if !refused {
			sees, err := d.sees(ctx, delivery, user)
			if err != nil {
				return nil, err
			}
			if sees {
				continue
			}
		}
		channel, err := d.directTo(ctx, user)
		switch core.CategoryOf(err) {
		case "":
			posts = append(posts, core.Post{
				Key: delivery.Key + "/" + Name + ":" + user, To: core.Address{Platform: Name, Channel: channel}, Conversation: delivery.Conversation, Kind: core.PostCard,
				Approval: delivery.Approval, Event: delivery.Event, Copy: true,
			})
		case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
			return nil, err
		default:
			d.once("an approver can't be written to; they get no copy of a card", "person", user, "err", err)
		}
	}
	if !refused {
		return posts, nil
	}
	word, err := d.toldElsewhere(ctx, delivery, len(posts))
	if word != nil {
		posts = append(posts, *word)
	}
	return posts, err
}

// named gives the people among the approvers.
func named(approvers []string) []string {
	var users []string
	for _, id := range approvers {
		if found := discordPerson.FindStringSubmatch(id); found != nil && !slices.Contains(users, found[1]) {
			users = append(users, found[1])
		}
	}
	return users
}

// toldElsewhere tells the requester, in direct messages, where the card went.
func (d *Discord) toldElsewhere(ctx context.Context, delivery core.Delivery, copies int) (*core.Post, error) {
	user, ok := strings.CutPrefix(delivery.Card.Requested.ID, Name+":")
	if !ok || !isSnowflake(user) {
		return nil, nil
	}
	channel, err := d.directTo(ctx, user)
	switch core.CategoryOf(err) {
	case "":
	case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
		return nil, err
	default:
		return nil, nil
	}
	text := "Your request waits for an approval, but its card could not be posted where you asked. The approvers have got it as a direct message: "
	if copies == 0 {
		text = "Your request waits for an approval, but its card could not be posted where you asked, nor sent to an approver. Please tell an admin: "
	}
	return &core.Post{
		Key: delivery.Key + "/requester", To: core.Address{Platform: Name, Channel: channel}, Conversation: delivery.Conversation, Kind: core.PostNotice,
		Text: text + delivery.Card.Summary, Event: delivery.Event,
	}, nil
}

// sees reports whether a person sees the conversation of a card. Where that can't be told they are taken to.
func (d *Discord) sees(ctx context.Context, delivery core.Delivery, user string) (bool, error) {
	guild := guildIn(delivery.Conversation)
	if guild == direct {
		return delivery.Card.Requested.ID == Name+":"+user, nil
	}
	if !isSnowflake(guild) {
		return true, nil
	}
	sees, err := d.seesIn(ctx, guild, delivery.To.Channel, user)
	switch core.CategoryOf(err) {
	case "":
		return sees, nil
	case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
		return false, err
	}
	d.once("who sees a channel can't be looked up; approvers outside it get no copy of its cards", "channel", delivery.To.Channel, "err", err)
	return true, nil
}

// ground is a channel with its exceptions.
type ground struct {
	ID         string      `json:"id"`
	Guild      string      `json:"guild_id"`
	Parent     string      `json:"parent_id"`
	Name       string      `json:"name"`
	Type       int         `json:"type"`
	Exceptions []overwrite `json:"permission_overwrites"`
}

// isThread reports a thread: what may be done there is said by the channel that it belongs to.
func (g ground) isThread() bool { return 10 <= g.Type && g.Type <= 12 }

// ground looks up a channel; for a thread, the one that it belongs to.
func (d *Discord) ground(ctx context.Context, channel string) (ground, error) {
	var at ground
	if err := d.call(ctx, http.MethodGet, "/channels/"+channel, nil, &at); err != nil || !at.isThread() || !isSnowflake(at.Parent) {
		return at, err
	}
	parent := at.Parent
	at = ground{}
	err := d.call(ctx, http.MethodGet, "/channels/"+parent, nil, &at)
	return at, err
}
