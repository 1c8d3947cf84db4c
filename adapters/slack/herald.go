package slack

import (
	"context"
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// Numbers of the copies of a card.
const (
	maxCopies   = 20 // direct messages for one card
	maxChannel  = 20 // pages of members that are looked at, to find out who sees a channel
	memberLimit = 1000
)

// CardCopies gives copies of a card, as direct messages, for approvers who do not see its conversation: those named who are not in
// it, and the members of a group of which nobody is. Where the card could not be posted at all, everybody gets one, and the
// requester is told.
func (s *Slack) CardCopies(ctx context.Context, d core.Delivery, refused bool) ([]core.Post, error) {
	sees := map[string]bool{}
	if !refused {
		var err error
		if sees, err = s.audience(ctx, d.To.Channel); err != nil {
			return nil, err
		}
		if sees == nil {
			return nil, nil
		}
	}
	users, err := s.unaware(ctx, d.Card.Approvers, sees)
	if err != nil {
		return nil, err
	}
	var posts []core.Post
	for _, user := range users {
		channel, err := s.directTo(ctx, user)
		if core.CategoryOf(err) == core.DeliveryLater || core.CategoryOf(err) == core.DeliveryInDoubt {
			return nil, err
		}
		if err != nil {
			s.once("an approver can't be written to; they get no copy of a card", "person", user, "err", err)
			continue
		}
		posts = append(posts, core.Post{
			Key: d.Key + "/" + Name + ":" + user, To: core.Address{Platform: Name, Channel: channel}, Conversation: d.Conversation, Kind: core.PostCard, Approval: d.Approval,
			Event: d.Event, Copy: true,
		})
	}
	if !refused {
		return posts, nil
	}
	word, err := s.toldElsewhere(ctx, d, len(posts))
	if word != nil {
		posts = append(posts, *word)
	}
	return posts, err
}

// toldElsewhere tells the requester, in direct messages, where the card went.
func (s *Slack) toldElsewhere(ctx context.Context, d core.Delivery, copies int) (*core.Post, error) {
	user, ok := userID(d.Card.Requested.ID)
	if !ok {
		return nil, nil
	}
	channel, err := s.directTo(ctx, user)
	switch core.CategoryOf(err) {
	case "":
	case core.DeliveryLater, core.DeliveryInDoubt:
		return nil, err
	default:
		return nil, nil
	}
	text := "Your request waits for an approval, but its card could not be posted where you asked. The approvers have got it as a direct message: "
	if copies == 0 {
		text = "Your request waits for an approval, but its card could not be posted where you asked, nor sent to an approver. Please tell an admin: "
	}
	return &core.Post{
		Key: d.Key + "/requester", To: core.Address{Platform: Name, Channel: channel}, Conversation: d.Conversation, Kind: core.PostNotice, Text: text + d.Card.Summary, Event: d.Event,
	}, nil
}

// audience gives who is in a channel; nil where that can't be told, and everybody is taken to see it.
func (s *Slack) audience(ctx context.Context, channel string) (map[string]bool, error) {
	sees, cursor := map[string]bool{}, ""
	for range maxChannel {
		users, next, err := s.api.GetUsersInConversationContext(ctx, &api.GetUsersInConversationParameters{ChannelID: channel, Cursor: cursor, Limit: memberLimit})
		switch err := s.heard(err); core.CategoryOf(err) {
		case "":
		case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
			return nil, err
		default:
			s.once("who is in a channel can't be looked up; approvers outside it get no copy of its cards", "channel", channel, "err", err)
			return nil, nil
		}
		for _, u := range users {
			sees[u] = true
		}
		if cursor = next; cursor == "" {
			return sees, nil
		}
	}
	return nil, nil // a channel as large as that has its approvers in it
}

// unaware gives the approvers that see nothing.
func (s *Slack) unaware(ctx context.Context, approvers []string, sees map[string]bool) ([]string, error) {
	var users []string
	add := func(u string) {
		if !sees[u] && !slices.Contains(users, u) && len(users) < maxCopies {
			users = append(users, u)
		}
	}
	for _, id := range approvers {
		if user, ok := userID(id); ok {
			add(user)
		}
		group, ok := groupID(id)
		if !ok {
			continue
		}
		members, err := s.people.members(ctx, group)
		switch core.CategoryOf(err) {
		case "":
		case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
			return nil, err
		default:
			s.once("a group of approvers can't be looked up; nobody in it gets a copy of a card", "group", group, "err", err)
		}
		if !slices.ContainsFunc(members, func(u string) bool { return sees[u] }) {
			for _, u := range members {
				add(u)
			}
		}
	}
	return users, nil
}

// directTo gives the channel of the bot's direct messages with a person. It stays the same, so it is asked for once.
func (s *Slack) directTo(ctx context.Context, user string) (string, error) {
	if channel, known := s.people.direct(user); known {
		return channel, nil
	}
	c, _, _, err := s.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{strings.TrimSpace(user)}})
	if err := s.heard(err); err != nil {
		return "", err
	}
	s.people.writesTo(user, c.ID)
	return c.ID, nil
}
