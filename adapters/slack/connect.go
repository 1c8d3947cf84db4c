package slack

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gatehouse/core"
)

// People of other workspaces are in channels that are shared over Slack Connect. With SLACK_CONNECT=deny, the default, what they write and
// press starts nothing; a person who addresses the bot is told so, privately. No stranger decides about an approval, whatever the setting:
// it lets them talk to the bot, and no more.
//
// A person is of the bot's workspace, or of an organisation that the bot's workspace belongs to, if Slack says so: with the event, or if it
// says nothing there, when asked. If it can't be asked, the person is a stranger, except for a slash command: its workspace is then theirs.

// The values of SLACK_CONNECT.
const (
	connectDeny  = "deny"
	connectAllow = "allow"
)

// Texts for strangers.
const (
	strangerTalks   = "Sorry, I only talk with people of my own workspace. Somebody there can ask me for you."
	strangerPresses = "Only people of my own workspace can use this button, so nothing was done."
)

// strangerPause is how long a stranger who was told is not told again.
const strangerPause = time.Minute

// Times of the look-up of a person's workspace.
const (
	homeTime     = time.Second // how long to wait for the answer; this delays the event's commit
	homeLifetime = 10 * time.Minute
	homeRetry    = time.Minute // after a look-up that failed
)

// owns reports whether a workspace or an organisation is the bot's.
func (b bot) owns(id string) bool { return id != "" && (id == b.team || id == b.enterprise) }

// refuses reports whether a message starts nothing because a stranger wrote it.
func (s *Slack) refuses(ctx context.Context, b bot, e envelope, m messageEvent) bool {
	return s.Config.Connect != connectAllow && !s.wrote(ctx, b, e, m)
}

// wrote reports whether the author of a message is one of the bot's own people.
func (s *Slack) wrote(ctx context.Context, b bot, e envelope, m messageEvent) bool {
	named := slices.DeleteFunc([]string{m.UserTeam, m.SourceTeam, m.Team}, func(id string) bool { return id == "" })
	foreign := slices.ContainsFunc(named, func(id string) bool { return !b.owns(id) })
	switch {
	case len(named) > 0 && !foreign:
		return true
	case foreign && b.enterprise == "":
		return false
	}
	shared := string(e.Shared) == "true"
	return !shared || s.isOwn(ctx, b, m.User) // where nobody else is, any other workspace is one of the organisation
}

// pressed reports whether the person of an interaction is one of the bot's own.
func (s *Slack) pressed(ctx context.Context, i interaction) bool {
	b := s.identity.get()
	b.team = cmp.Or(b.team, i.Team.ID)
	home := cmp.Or(i.User.TeamID, i.Team.ID)
	return b.owns(home) || (home == "" || b.enterprise != "") && s.isOwn(ctx, b, i.User.ID)
}

// isFor reports whether a slash command is from the bot's own workspace, or another one of its organisation.
func (c slashCommand) isFor(b bot) bool {
	return b.owns(c.TeamID) || c.TeamID != "" && b.enterprise != "" && c.EnterpriseID == b.enterprise
}

// ran reports whether the person who ran a slash command is one of the bot's own. A command does not say where they are from. If Slack can't
// be asked, the command's own workspace decides.
func (s *Slack) ran(ctx context.Context, b bot, c slashCommand) bool {
	own, known := s.home(ctx, b, c.UserID)
	return own || !known
}

// isOwn reports whether Slack says that a person is one of the bot's own.
func (s *Slack) isOwn(ctx context.Context, b bot, user string) bool {
	own, known := s.home(ctx, b, user)
	return own && known
}

// home asks Slack whether a person is one of the bot's own; known is false if it can't be asked.
func (s *Slack) home(ctx context.Context, b bot, user string) (own, known bool) {
	if at, fresh := s.homes.Get(user); fresh {
		return b.owns(at), at != ""
	}
	ctx, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	u, err := s.api.GetUserInfoContext(ctx, user)
	if err := s.called(err); err != nil {
		s.warnOnce("the workspace of a person can't be looked up", "person", user, "err", err)
		s.homes.Put(user, "", homeRetry)
		return false, false
	}
	at := u.TeamID
	if b.enterprise != "" && u.Enterprise.EnterpriseID == b.enterprise {
		at = b.enterprise
	}
	s.homes.Put(user, at, homeLifetime)
	return b.owns(at), at != ""
}

// refuseStranger logs that a stranger is refused. It reports whether to tell them why: once a minute for each person and text.
func (s *Slack) refuseStranger(what, user, text string) (tell bool) {
	_, told := s.told.Get(text + user)
	if !told {
		s.Log.Info("a person of another workspace is refused (SLACK_CONNECT)", "what", what, "person", user)
		s.told.Put(text+user, true, strangerPause)
	}
	return !told
}

// refusesPress reports whether the person who pressed a button, or submitted a modal, is a stranger. It then tells them.
func (s *Slack) refusesPress(ctx context.Context, i interaction) bool {
	if s.pressed(ctx, i) {
		return false
	}
	if s.refuseStranger("press", i.User.ID, strangerPresses) {
		s.tellClicker(i, strangerPresses)
	}
	return true
}

// tellStranger tells a stranger who wrote to the bot that it does not answer.
func (s *Slack) tellStranger(m messageEvent, at core.Address) {
	if s.refuseStranger("message", m.User, strangerTalks) {
		at.Thread = m.ThreadTS // a message that would begin a thread is answered in the channel
		s.tell(at, m.User, strangerTalks)
	}
}
