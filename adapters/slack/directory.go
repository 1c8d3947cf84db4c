package slack

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// How long data about people and groups is cached.
const (
	nameLifetime  = 10 * time.Minute
	nameRetry     = time.Minute      // after a name that could not be looked up
	reachLifetime = time.Minute      // of a place at which people can be told
	namesTime     = 5 * time.Second  // not a lifetime: the time limit for looking up all names in a text
	handleTime    = 2 * time.Second  // nor this: of the look-up of a group's handle
	groupLifetime = 30 * time.Second // for who is told, and for what a press may open; never for who decides
)

// nameOf asks Slack for the name of a person, or of a bot.
func (s *Slack) nameOf(ctx context.Context, id string) (string, error) {
	if strings.HasPrefix(id, "B") {
		b, err := s.api.GetBotInfoContext(ctx, api.GetBotInfoParameters{Bot: id})
		if err != nil {
			return "", err
		}
		return b.Name, nil
	}
	u, err := s.api.GetUserInfoContext(ctx, id)
	if err != nil {
		return "", err
	}
	return webapi.DisplayName(u), nil
}

// userName returns the name of a person or a bot, or the id if the name can't be looked up.
func (s *Slack) userName(ctx context.Context, user string) string {
	return s.name(ctx, user, "names of people can't be looked up: the token lacks the scope users:read", s.nameOf)
}

// channelName returns a channel's name. It is its id with the reason for one that the bot can't see, and the id alone
// if Slack can't say.
func (s *Slack) channelName(ctx context.Context, channel string) string {
	const noScope = "names of channels can't be looked up: the token lacks the scope channels:read"
	return s.name(ctx, channel, noScope, func(ctx context.Context, id string) (string, error) {
		c, err := s.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: id})
		if err != nil {
			return "", err
		}
		return c.Name, nil
	})
}

// name returns the name that is cached for an id, or that ask asks Slack for. noScope is the warning if a scope is
// missing.
func (s *Slack) name(
	ctx context.Context, id, noScope string, ask func(ctx context.Context, id string) (string, error),
) string {
	known, fresh := s.names.Get(id)
	if fresh {
		return known
	}
	name, err := ask(ctx, id)
	switch fault := s.called(err); {
	case err == nil && name != "":
		return s.names.Put(id, safetext.Name(name), nameLifetime)
	case webapi.IsRefusal(err, "channel_not_found"):
		known = id + " (a private channel that the bot can't see)"
	case core.CategoryOf(fault) == core.Unsupported:
		s.warnOnce(noScope)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return id
	}
	return s.names.Put(id, cmp.Or(known, id), nameRetry)
}

// NameOf returns the name in Slack of a person, or of one of SLACK_BOTS, "" if it can't be looked up.
func (s *Slack) NameOf(ctx context.Context, who core.Actor) string {
	user, ok := webapi.UserID(who.ID)
	if !ok && s.isBot(who) {
		user, ok = strings.TrimPrefix(who.ID, Name+":"), true
	}
	if ok {
		if name := s.userName(ctx, user); name != user {
			return name
		}
	}
	return ""
}

// Missing says why nobody can be told by a post: its channel is not there, its person is deactivated or a group
// without members. "": somebody can, or could within reachLifetime, or Slack can't say so now.
func (s *Slack) Missing(ctx context.Context, p core.Post) string {
	id := cmp.Or(p.Person, Name+":"+p.To.Channel)
	if _, fresh := s.reached.Get(id); fresh {
		return ""
	}
	why := s.gone(ctx, id, p.To.Channel)
	if why == "" {
		s.reached.Put(id, true, reachLifetime)
	}
	return why
}

func (s *Slack) gone(ctx context.Context, id, channel string) string {
	if user, ok := webapi.UserID(id); ok {
		u, err := s.api.GetUserInfoContext(ctx, user)
		switch {
		case webapi.IsRefusal(err, "user_not_found", "users_not_found", "user_not_visible"):
			return "Slack has no person " + id
		case s.called(err) == nil && u.Deleted:
			return "the account " + id + " is deactivated in Slack"
		}
		return ""
	}
	if group, ok := webapi.GroupID(id); ok {
		if members, err := s.toldMembers(ctx, group); err == nil && len(members) == 0 {
			return "Slack's group " + id + " has no members that the bot may see"
		}
		return ""
	}
	_, err := s.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: channel})
	if webapi.IsRefusal(err, "channel_not_found") {
		return "Slack has no channel " + id + " that the bot may see"
	}
	return ""
}

// openDM returns the channel of the bot's direct messages with a person. It never changes, so Slack is asked only once.
func (s *Slack) openDM(ctx context.Context, user string) (string, error) {
	if channel, known := s.dms.Get(user); known {
		return channel, nil
	}
	c, _, _, err := s.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{user}})
	if err := s.called(err); err != nil {
		return "", err
	}
	return s.dms.Put(user, c.ID, outbound.Forever), nil
}

// toldMembers returns the members of a user group as they were within groupLifetime: for who is told. Errors: those
// of groupMembers.
func (s *Slack) toldMembers(ctx context.Context, group string) ([]string, error) {
	if known, fresh := s.members.Get(group); fresh {
		return known, nil
	}
	return s.groupMembers(ctx, group)
}

// groupMembers asks Slack for the members of a user group. A group that Slack does not know, or that the token may
// not read, has none. Error: Slack can't be asked now.
func (s *Slack) groupMembers(ctx context.Context, group string) ([]string, error) {
	users, err := s.api.GetUserGroupMembersContext(ctx, group)
	switch err := s.called(err); {
	case core.IsTemporary(err):
		return nil, err
	case err != nil:
		s.warnOnce("a group of approvers ("+group+") can't be looked up and is treated as empty", "err", err)
		return nil, nil
	}
	return s.members.Put(group, users, groupLifetime), nil
}

// Groups asks Slack which of the wanted user groups (slack:S…) a person is in. If Slack can't be asked now, the error
// is retryable.
func (s *Slack) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	return s.groupsOf(ctx, who, wanted, s.groupMembers)
}

// recently is the directory for a press that decides nothing yet: who was in a group a moment ago may go on.
type recently struct{ *Slack }

func (s recently) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	if in, err := s.groupsOf(ctx, who, wanted, s.toldMembers); err == nil && len(in) > 0 {
		return in, nil
	}
	return s.Slack.Groups(ctx, who, wanted)
}

type membersOf func(ctx context.Context, group string) ([]string, error)

func (s *Slack) groupsOf(ctx context.Context, who core.Actor, wanted []string, membersOf membersOf) ([]string, error) {
	var in []string
	user, _ := webapi.UserID(who.ID)
	for _, id := range wanted {
		group, ok := webapi.GroupID(id)
		if !ok {
			continue
		}
		members, err := membersOf(ctx, group)
		if err != nil {
			return nil, outbound.LookupError(err, "Slack can't say whether you are in %s.", s.handle(ctx, group))
		}
		if slices.Contains(members, user) {
			in = append(in, id)
		}
	}
	return in, nil
}

// allGroups is in the cache of handles while Slack was asked for all groups a moment ago.
const allGroups = ""

// handle returns how people call a user group: @ops; its id if Slack does not say.
func (s *Slack) handle(ctx context.Context, group string) string {
	known, fresh := s.handles.Get(group)
	if fresh {
		return known
	}
	if _, asked := s.handles.Get(allGroups); asked {
		return cmp.Or(known, group)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTime)
	defer cancel()
	all, err := s.api.GetUserGroupsContext(ctx)
	if s.called(err) == nil {
		for _, g := range all {
			s.handles.Put(g.ID, "@"+safetext.Name(g.Handle), nameLifetime)
		}
	}
	s.handles.Put(allGroups, "", nameRetry)
	known, _ = s.handles.Get(group)
	return cmp.Or(known, group)
}

// Times of channel look-ups.
const (
	channelTime  = time.Second // how long to wait for the answer; this delays the event's commit
	channelRetry = time.Minute // after a look-up that failed
)

// channelType returns the type of a channel. fromEvent is the type in the event, "" if it has none. The event of a
// mention does not contain whether it was written in a group direct message, but the message event of the same message
// does. Whichever comes first, the message must get the same conversation.
func (s *Slack) channelType(ctx context.Context, channel, fromEvent string) string {
	if fromEvent != "" {
		return s.channels.Put(channel, fromEvent, outbound.Forever)
	}
	if strings.HasPrefix(channel, "D") {
		return slackevents.ChannelTypeIM
	}
	if known, fresh := s.channels.Get(channel); fresh {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, channelTime)
	defer cancel()
	kind, lifetime := slackevents.ChannelTypeChannel, outbound.Forever // as most are
	c, err := s.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: channel})
	if err != nil {
		lifetime = channelRetry
	} else if c.IsMpIM {
		kind = slackevents.ChannelTypeMPIM
	}
	return s.channels.Put(channel, kind, lifetime)
}

// Limits of the look-up of a channel's members.
const (
	membersPage = 1000
	maxPages    = 20
)

// CardCopies returns copies of a card, as direct messages, for approvers who don't see its conversation: named people
// who are not in it, and all members of a group that has no member in it. If the card could not be posted at all, all
// approvers get a copy, and the requester is notified. If the card's rule says so, those who see the conversation get a
// copy too, or nobody does.
func (s *Slack) CardCopies(ctx context.Context, d core.Delivery, refused bool) (core.Copies, error) {
	var sees []string
	if !refused && !d.Card.Direct {
		if d.Quiet {
			return core.Copies{}, nil
		}
		var err error
		if sees, err = s.channelMembers(ctx, d.To.Channel); err != nil || sees == nil {
			return core.Copies{}, err
		}
	}
	users, err := s.approversOutside(ctx, d.Card.Approvers, sees)
	if err != nil {
		return core.Copies{}, err
	}
	// users holds only people who don't see the card
	seesCard := func(context.Context, string) (bool, error) { return false, nil }
	return outbound.Copies{Platform: Name, People: people{s}}.Posts(ctx, d, users, seesCard, refused)
}

// channelMembers returns the members of a channel; nil if they can't be determined, in which case everybody is assumed
// to see the channel.
func (s *Slack) channelMembers(ctx context.Context, channel string) ([]string, error) {
	members, cursor := []string{}, ""
	for range maxPages {
		users, next, err := s.api.GetUsersInConversationContext(ctx,
			&api.GetUsersInConversationParameters{ChannelID: channel, Cursor: cursor, Limit: membersPage})
		switch err := s.called(err); {
		case core.IsTemporary(err):
			return nil, err
		case err != nil:
			s.warnOnce("the members of a channel can't be looked up; approvers outside it get no copy of its cards",
				"channel", channel, "err", err)
			return nil, nil
		}
		members = append(members, users...)
		if cursor = next; cursor == "" {
			return members, nil
		}
	}
	return nil, nil // assume that so large a channel includes its approvers
}

// approversOutside returns the approvers who don't see a card: named people, and the members of a group if none of them
// sees it.
func (s *Slack) approversOutside(ctx context.Context, approvers, sees []string) ([]string, error) {
	var outside []string
	add := func(users ...string) {
		for _, u := range users {
			if !slices.Contains(sees, u) && !slices.Contains(outside, u) {
				outside = append(outside, u)
			}
		}
	}
	for _, id := range approvers {
		if user, ok := webapi.UserID(id); ok {
			add(user)
		}
		group, ok := webapi.GroupID(id)
		if !ok {
			continue
		}
		members, err := s.toldMembers(ctx, group)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(members, func(u string) bool { return slices.Contains(sees, u) }) {
			add(members...)
		}
	}
	return outside, nil
}

// people are those whom the bot can write to.
type people struct{ slack *Slack }

func (people) User(id string) (string, bool) { return webapi.UserID(id) }

func (p people) OpenDM(ctx context.Context, user string) (string, error) {
	return p.slack.openDM(ctx, user)
}

func (p people) Warn(text string, args ...any) { p.slack.warnOnce(text, args...) }
