package slack

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
)

// identity is who the bot is in its workspace. The zero value means not known yet.
type identity struct {
	bot    atomic.Pointer[bot]
	scopes atomic.Pointer[map[string]bool] // of its token, as reported with Slack's last answer
}

// get returns the bot, a zero one if it is not known yet.
func (i *identity) get() bot {
	if known := i.bot.Load(); known != nil {
		return *known
	}
	return bot{}
}

func (i *identity) setScopes(scopes map[string]bool) { i.scopes.Store(&scopes) }

// hasScope reports whether the token has a scope. It returns unknown if Slack has not reported the scopes yet.
func (i *identity) hasScope(scope string, unknown bool) bool {
	if known := i.scopes.Load(); known != nil {
		return (*known)[scope]
	}
	return unknown
}

// keepIdentity asks Slack who the bot is, until ctx ends.
func (s *Slack) keepIdentity(ctx context.Context) error {
	return outbound.Identity{Title: webapi.Title, Log: s.Log, Asker: asker{s}}.Keep(ctx)
}

// asker asks Slack who the bot is.
type asker struct{ slack *Slack }

func (a asker) Known() bool { return a.slack.identity.get().team != "" }

func (a asker) Sleep(ctx context.Context, wait time.Duration) { a.slack.sleep(ctx, wait) }

func (a asker) Jitter(wait time.Duration) time.Duration { return a.slack.jitter(wait) }

func (a asker) Ask(ctx context.Context) error {
	s := a.slack
	me, err := s.api.AuthTestContext(ctx)
	if err == nil { // before the answer counts as healthy
		s.identity.bot.Store(&bot{
			team: me.TeamID, enterprise: me.EnterpriseID, user: me.UserID, id: me.BotID, workspace: me.Team,
			name: me.User,
		})
	}
	if err := s.called(err); err != nil {
		if ctx.Err() == nil {
			s.outbound.Set(err)
		}
		return err
	}
	s.announce()
	return nil
}

// announce logs, once, that the bot is connected: as soon as a connection is open and Slack has said who the bot is.
func (s *Slack) announce() {
	b := s.identity.get()
	if s.sockets == nil || s.sockets.Err() != nil || b.team == "" || !s.announced.CompareAndSwap(false, true) {
		return
	}
	s.Log.Info("connected to Slack over Socket Mode", "workspace", b.workspace, "team", b.team, "bot", "@"+b.name,
		"user", b.user)
}

// Clock returns Slack's time, by its answers.
func (s *Slack) Clock() (now time.Time, ahead time.Duration, off error) { return s.clock.Read() }

// posted notes that a message has been posted: Slack's clock shows its timestamp or a later one.
func (s *Slack) posted(ts string) {
	if seconds, err := strconv.ParseFloat(ts, 64); err == nil {
		s.clock.AtLeast(time.UnixMicro(int64(seconds * 1e6)))
	}
}

// Health reports whether events arrive (with Socket Mode: whether a connection is open) and whether Slack answered the
// last call.
func (s *Slack) Health() (inbound, outbound error) {
	if s.sockets != nil {
		inbound = s.sockets.Err()
	}
	return inbound, s.outbound.Err()
}
