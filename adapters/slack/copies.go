package slack

import (
	"context"
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// How much of a channel's members is read.
const (
	membersPage = 1000
	maxPages    = 20
)

// CardCopies gives copies of a card, as direct messages, for approvers who do not see its conversation: those named who are not in it,
// and the members of a group of which nobody is. Where the card could not be posted at all, all of them get one, and the requester is
// told.
func (s *Slack) CardCopies(ctx context.Context, d core.Delivery, refused bool) ([]core.Post, error) {
	var sees []string
	if !refused {
		var err error
		if sees, err = s.channelMembers(ctx, d.To.Channel); err != nil || sees == nil {
			return nil, err
		}
	}
	users, err := s.approversOutside(ctx, d.Card.Approvers, sees)
	if err != nil {
		return nil, err
	}
	nobody := func(context.Context, string) (bool, error) { return false, nil } // of those users sees the card
	return chat.Copies{Platform: Name, User: webapi.UserID, OpenDM: s.openDM, Warn: s.warnOnce}.Posts(ctx, d, users, nobody, refused)
}

// channelMembers gives who is in a channel; nil where that can't be told, and everybody is taken to see it.
func (s *Slack) channelMembers(ctx context.Context, channel string) ([]string, error) {
	members, cursor := []string{}, ""
	for range maxPages {
		users, next, err := s.api.GetUsersInConversationContext(ctx, &api.GetUsersInConversationParameters{ChannelID: channel, Cursor: cursor, Limit: membersPage})
		switch err := s.called(err); {
		case core.IsTemporary(err):
			return nil, err
		case err != nil:
			s.warnOnce("the members of a channel can't be looked up; approvers outside it get no copy of its cards", "channel", channel, "err", err)
			return nil, nil
		}
		members = append(members, users...)
		if cursor = next; cursor == "" {
			return members, nil
		}
	}
	return nil, nil // a channel as large as that has its approvers in it
}

// approversOutside gives the approvers who do not see a card: the people named, and the members of a group of which nobody sees it.
func (s *Slack) approversOutside(ctx context.Context, approvers, sees []string) ([]string, error) {
	var users []string
	for _, id := range approvers {
		if user, ok := webapi.UserID(id); ok {
			users = append(users, user)
		}
		group, ok := webapi.GroupID(id)
		if !ok {
			continue
		}
		members, err := s.groupMembers(ctx, group)
		switch {
		case core.IsTemporary(err):
			return nil, err
		case err != nil:
			s.warnOnce("a group of approvers can't be looked up; nobody in it gets a copy of a card", "group", group, "err", err)
		case !slices.ContainsFunc(members, func(u string) bool { return slices.Contains(sees, u) }):
			users = append(users, members...)
		}
	}
	var outside []string
	for _, u := range users {
		if !slices.Contains(sees, u) && !slices.Contains(outside, u) {
			outside = append(outside, u)
		}
	}
	return outside, nil
}
