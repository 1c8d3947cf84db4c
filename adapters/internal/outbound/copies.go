package outbound

import (
	"context"
	"fmt"

	"gatehouse/core"
)

// maxCopies is the most copies that are sent for one card.
const maxCopies = 20

// People are those who can be written to on a platform.
type People interface {
	// User returns the platform's id of an actor.
	User(id string) (user string, ok bool)
	// OpenDM returns the channel of direct messages with a person.
	OpenDM(ctx context.Context, user string) (channel string, err error)
	// Warn logs a text once.
	Warn(text string, args ...any)
}

// Copies makes copies of a card for approvers who can't see its conversation.
type Copies struct {
	Platform string
	People
}

// Posts returns a copy, as a direct message, for each user who can't see the card's conversation according to sees. If
// the card or a copy of it was refused, every user gets a copy; if it was the card, the requester is notified, since it
// is not in their conversation. The keys of the posts are the same each time. Left out are users beyond maxCopies,
// whether they see it or not, and those who can't be written to. Error: this can't be determined now.
func (c Copies) Posts(
	ctx context.Context, d core.Delivery, users []string, sees func(ctx context.Context, user string) (bool, error),
	refused bool,
) (core.Copies, error) {
	var all core.Copies
	instead := d.Instead
	if d.Quiet {
		instead = d.Key
	}
	for i, user := range users {
		if len(all.Posts) == maxCopies {
			all.LeftOut += len(users) - i
			break
		}
		if !refused {
			seen, err := sees(ctx, user)
			if err != nil {
				return core.Copies{}, err
			}
			if seen {
				continue
			}
		}
		channel, err := c.OpenDM(ctx, user)
		switch {
		case core.IsTemporary(err):
			return core.Copies{}, err
		case err != nil:
			all.LeftOut++
			c.Warn("an approver can't be written to; they get no copy of a card", "person", user, "err", err)
		default:
			person := c.Platform + ":" + user
			reminds := d.Reminds
			if reminds != "" {
				reminds += "/" + person
			}
			all.Posts = append(all.Posts, core.Post{
				Key: d.Key + "/" + person, Reminds: reminds, To: core.Address{Platform: c.Platform, Channel: channel},
				Conversation: d.Conversation,
				Kind:         core.PostCard, Approval: d.Approval, Event: d.Event, Copy: true, Person: person,
				Occasion: d.Occasion, Instead: instead,
			})
		}
	}
	if !refused || d.Copy {
		return all, nil
	}
	notice, err := c.toRequester(ctx, d, all)
	all.Posts = append(all.Posts, notice...)
	return all, err
}

// toRequester returns a direct message to the requester about who received the card.
func (c Copies) toRequester(ctx context.Context, d core.Delivery, copies core.Copies) ([]core.Post, error) {
	user, ok := c.User(d.Card.Requested.ID)
	if !ok {
		return nil, nil
	}
	channel, err := c.OpenDM(ctx, user)
	switch {
	case core.IsTemporary(err):
		return nil, err
	case err != nil:
		return nil, nil
	}
	text := "Your request waits for an approval, but its card could not be posted where you asked. "
	switch {
	case len(copies.Posts) == 0:
		text = "Your request waits for an approval, but its card could not be posted where you asked, nor sent to an " +
			"approver. Please tell an admin: "
	case copies.LeftOut > 0:
		text += fmt.Sprintf("%d of %d approvers have received it as a direct message: ", len(copies.Posts),
			len(copies.Posts)+copies.LeftOut)
	default:
		text += "The approvers have received it as a direct message: "
	}
	return []core.Post{{
		Key: d.Key + "/requester", To: core.Address{Platform: c.Platform, Channel: channel},
		Conversation: d.Conversation, Kind: core.PostNotice,
		Text: text + d.Card.Summary, Event: d.Event,
	}}, nil
}
