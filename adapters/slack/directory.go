package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Times of what is remembered of people and groups.
const (
	nameLifetime  = 10 * time.Minute
	nameRetry     = time.Minute      // after a name that could not be looked up
	namesTime     = 5 * time.Second  // for all the names in a text
	groupLifetime = 30 * time.Second // somebody removed from a group may decide no longer than that
)

// userName gives a person's name; the id where it can't be looked up.
func (s *Slack) userName(ctx context.Context, user string) string {
	known, fresh := s.names.Get(user)
	if fresh {
		return known
	}
	u, err := s.api.GetUserInfoContext(ctx, user)
	switch err := s.called(err); {
	case err == nil:
		name := chat.Name(webapi.DisplayName(u))
		if name == "" {
			name = user
		}
		return s.names.Put(user, name, nameLifetime)
	case core.CategoryOf(err) == core.Unsupported:
		s.warnOnce("names of people can't be looked up: the token lacks the scope users:read")
	}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return user
	}
	if known == "" {
		known = user
	}
	return s.names.Put(user, known, nameRetry)
}

// NameOf gives a person's name in Slack, "" where it can't be looked up.
func (s *Slack) NameOf(ctx context.Context, who core.Actor) string {
	user, ok := webapi.UserID(who.ID)
	if !ok {
		return ""
	}
	if name := s.userName(ctx, user); name != user {
		return name
	}
	return ""
}

// openDM gives the channel of the bot's direct messages with a person. It stays the same, so it is asked for once.
func (s *Slack) openDM(ctx context.Context, user string) (string, error) {
	if channel, known := s.dms.Get(user); known {
		return channel, nil
	}
	c, _, _, err := s.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{user}})
	if err := s.called(err); err != nil {
		return "", err
	}
	return s.dms.Put(user, c.ID, chat.Forever), nil
}

// groupMembers gives who is in a user group.
func (s *Slack) groupMembers(ctx context.Context, group string) ([]string, error) {
	if known, fresh := s.members.Get(group); fresh {
		return known, nil
	}
	users, err := s.api.GetUserGroupMembersContext(ctx, group)
	if err := s.called(err); err != nil {
		return nil, err
	}
	return s.members.Put(group, users, groupLifetime), nil
}

// Groups gives which of the wanted user groups (slack:S…) a person is in. A group that Slack does not know, or that the token may not
// ask for, counts as empty; where Slack can't be asked now the error is retryable.
func (s *Slack) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	var in []string
	user, _ := webapi.UserID(who.ID)
	for _, id := range wanted {
		group, ok := webapi.GroupID(id)
		if !ok {
			continue
		}
		members, err := s.groupMembers(ctx, group)
		switch {
		case core.IsTemporary(err):
			return nil, chat.LookupError(err, "Slack can't be asked now who is in the group %s.", group)
		case err != nil:
			s.warnOnce("a group of approvers ("+group+") can't be looked up; nobody counts as a member", "err", err)
		case slices.Contains(members, user):
			in = append(in, id)
		}
	}
	return in, nil
}

// Times of look-ups of channels.
const (
	channelTime  = time.Second // for the answer; the event waits for its commit meanwhile
	channelRetry = time.Minute // after an answer that did not come
)

// channelType gives the type of a channel: fromEvent is what the event says, "" where it says nothing. A mention does not say whether it was
// written in a group direct message; the message event of the same message does. Whichever comes first, the message must get the same
// conversation.
func (s *Slack) channelType(ctx context.Context, channel, fromEvent string) string {
	if fromEvent != "" {
		return s.channels.Put(channel, fromEvent, chat.Forever)
	}
	if strings.HasPrefix(channel, "D") {
		return slackevents.ChannelTypeIM
	}
	if known, fresh := s.channels.Get(channel); fresh {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, channelTime)
	defer cancel()
	switch c, err := s.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: channel}); {
	case err != nil:
		return s.channels.Put(channel, slackevents.ChannelTypeChannel, channelRetry) // as most are
	case c.IsMpIM:
		return s.channels.Put(channel, slackevents.ChannelTypeMPIM, chat.Forever)
	}
	return s.channels.Put(channel, slackevents.ChannelTypeChannel, chat.Forever)
}

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
