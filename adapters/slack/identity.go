package slack

import (
	"context"
	"sync"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
)

// identity is who the bot is in its workspace. The zero value means not known yet.
type identity struct {
	mu     sync.Mutex
	team   string
	user   string          // the bot's own user id
	scopes map[string]bool // of its token, as reported with Slack's last answer; nil: not known yet
}

// get returns the workspace and the bot's user id, "" if they are not known yet.
func (i *identity) get() (team, user string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.team, i.user
}

func (i *identity) set(team, user string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.team, i.user = team, user
}

func (i *identity) setScopes(scopes map[string]bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.scopes = scopes
}

// hasScope reports whether the token has a scope. It returns unknown if Slack has not reported the scopes yet.
func (i *identity) hasScope(scope string, unknown bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.scopes == nil {
		return unknown
	}
	return i.scopes[scope]
}

// keepIdentity asks Slack who the bot is, until ctx ends.
func (s *Slack) keepIdentity(ctx context.Context) error {
	return chat.Identity{
		Title: webapi.Title, Log: s.Log, Sleep: s.sleep, Jitter: s.jitter,
		Known: func() bool { team, _ := s.identity.get(); return team != "" },
		Ask: func(ctx context.Context) error {
			me, err := s.api.AuthTestContext(ctx)
			if err := s.called(err); err != nil {
				if ctx.Err() == nil {
					s.outbound.Set(err)
				}
				return err
			}
			s.identity.set(me.TeamID, me.UserID)
			return nil
		},
	}.Keep(ctx)
}

// Health reports whether events arrive (with Socket Mode: whether a connection is open) and whether Slack answered the last call.
func (s *Slack) Health() (inbound, outbound error) {
	if s.sockets != nil {
		inbound = s.sockets.Err()
	}
	return inbound, s.outbound.Err()
}
