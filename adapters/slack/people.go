package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// Numbers of what is remembered of people and groups.
const (
	nameLasts  = 10 * time.Minute
	nameTime   = 5 * time.Second  // for all the names in a text
	nameFails  = time.Minute      // how long a name that can't be found out is not asked for again
	groupLasts = 30 * time.Second // a person taken out of a group decides no longer than that
	remembered = 5000
)

// people knows names and who is in which group, for a while.
type people struct {
	slack *Slack

	mu      sync.Mutex
	names   map[string]remembrance[string]
	groups  map[string]remembrance[[]string]
	directs map[string]string // by person: the channel of direct messages
}

type remembrance[T any] struct {
	what  T
	until time.Time
}

func newPeople(s *Slack) *people {
	return &people{slack: s, names: map[string]remembrance[string]{}, groups: map[string]remembrance[[]string]{}}
}

// name gives what a person is called; the id where that can't be found out.
func (p *people) name(ctx context.Context, user string) string {
	now := p.slack.Now()
	p.mu.Lock()
	known, ok := p.names[user]
	p.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.what
	}
	u, err := p.slack.api.GetUserInfoContext(ctx, user)
	if err := p.slack.heard(err); err != nil {
		if core.CategoryOf(err) == core.Unsupported {
			p.slack.once("names of people can't be looked up: the token lacks the scope users:read")
		}
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return user
		}
		name := user
		if ok {
			name = known.what
		}
		p.remember(user, name, now.Add(nameFails))
		return name
	}
	name := oneLine(calledBy(u))
	if name == "" {
		name = user
	}
	p.remember(user, name, now.Add(nameLasts))
	return name
}

func (p *people) remember(user, name string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.names) >= remembered {
		clear(p.names)
	}
	p.names[user] = remembrance[string]{name, until}
}

func calledBy(u *api.User) string {
	for _, name := range []string{u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}

// maxName is how much of a name is shown.
const maxName = 80

// oneLine makes a name that can't pass for anything but a name.
func oneLine(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName])
	}
	return name
}

func (p *people) direct(user string) (channel string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	channel, known = p.directs[user]
	return channel, known
}

func (p *people) writesTo(user, channel string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.directs == nil || len(p.directs) >= remembered {
		p.directs = map[string]string{}
	}
	p.directs[user] = channel
}

// NameOf tells what somebody is called in Slack.
func (s *Slack) NameOf(ctx context.Context, who core.Actor) string {
	user, ok := userID(who.ID)
	if !ok {
		return ""
	}
	if name := s.people.name(ctx, user); name != user {
		return name
	}
	return ""
}

// members gives who is in a user group.
func (p *people) members(ctx context.Context, group string) ([]string, error) {
	now := p.slack.Now()
	p.mu.Lock()
	known, ok := p.groups[group]
	p.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.what, nil
	}
	users, err := p.slack.api.GetUserGroupMembersContext(ctx, group)
	if err := p.slack.heard(err); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups[group] = remembrance[[]string]{users, now.Add(groupLasts)}
	return users, nil
}

// Groups gives which of the wanted user groups (slack:S…) a person is in. A group that Slack does not know, or that the token may not
// ask for, has nobody in it; where Slack can't be asked now the error is retryable.
func (s *Slack) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	var in []string
	user := strings.TrimPrefix(who.ID, Name+":")
	for _, id := range wanted {
		group, ok := groupID(id)
		if !ok {
			continue
		}
		users, err := s.people.members(ctx, group)
		switch err := askFault(err); core.CategoryOf(err) {
		case "":
			if slices.Contains(users, user) {
				in = append(in, id)
			}
		case core.ProviderUnavailable, core.ProviderAuthentication:
			return nil, core.Wrap(core.ProviderUnavailable, err, "Slack can't be asked now who is in the group %s.", group)
		default:
			s.once("a group of approvers ("+group+") can't be looked up; nobody counts as in it", "err", err)
		}
	}
	return in, nil
}

// groupID reads slack:S456.
func groupID(approver string) (string, bool) {
	id, ok := strings.CutPrefix(approver, Name+":")
	return id, ok && strings.HasPrefix(id, "S")
}

// userID reads slack:U123; ids of people begin with U or W.
func userID(approver string) (string, bool) {
	id, ok := strings.CutPrefix(approver, Name+":")
	return id, ok && (strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W"))
}
