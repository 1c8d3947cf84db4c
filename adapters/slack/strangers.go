package slack

import (
	"cmp"
	"context"
	"time"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// People of other workspaces are in channels that are shared over Slack Connect. With SLACK_CONNECT=deny, the default,
// what they write and press starts nothing; a person who addresses the bot is told so, privately. No stranger decides
// about an approval, whatever the setting: it lets them talk to the bot, and no more.
//
// A person is of the bot's workspace, or of an organisation that the bot's workspace belongs to, if Slack says so: with
// the event, or if it says nothing there, when asked. If it does not say, because it does not know the person or the
// token lacks a scope, they are a stranger. If it can't be asked now, nobody is refused as a stranger and nobody gets
// in: a message is not stored, so that Slack sends it again, and whoever pressed something is asked to press again. A
// slash command is the exception: if Slack does not say, its workspace is theirs.

// The values of SLACK_CONNECT.
const (
	connectDeny  = "deny"
	connectAllow = "allow"
)

// strangerTalks is what strangers who write to the bot are told.
const strangerTalks = "Sorry, I only talk with people in my own workspace. Somebody there can ask me for you."

// unknownHome is the beginning of the log line about somebody of whom Slack can't be asked now.
const unknownHome = "the workspace of a person can't be looked up now; "

// unknownBot is why nobody can be taken for a stranger yet.
const unknownBot = "Slack has not said yet which workspace the bot is in."

// strangerPause is how long a stranger who was told is not told again.
const strangerPause = time.Minute

// Times of the look-up of a person's workspace.
const (
	homeTime     = time.Second // how long to wait for the answer; this delays the event's commit
	homeLifetime = 10 * time.Minute
	homeRetry    = time.Minute // after Slack did not say
)

// owns reports whether a workspace or an organisation is the bot's.
func (b bot) owns(id string) bool { return id != "" && (id == b.team || id == b.enterprise) }

// refuses reports whether a message starts nothing because a stranger wrote it. Error: temporary, Slack can't be asked
// now.
func (s *Slack) refuses(ctx context.Context, b bot, e envelope, m messageEvent) (bool, error) {
	if s.Config.Connect == connectAllow {
		return false, nil
	}
	shared := e.Shared == true
	own, err := s.isOwn(ctx, b, m.User, shared, m.UserTeam, m.SourceTeam, m.Team)
	return !own, err
}

// isOwn reports whether a person is one of the bot's own, by the workspaces or organisations that Slack names as theirs
// ("" for none) or else by what it answers. shared: people of other workspaces may be there. Error: temporary, Slack
// can't be asked now.
func (s *Slack) isOwn(ctx context.Context, b bot, user string, shared bool, homes ...string) (bool, error) {
	named, foreign := false, false
	for _, id := range homes {
		named = named || id != ""
		foreign = foreign || id != "" && !b.owns(id)
	}
	switch {
	case named && !foreign:
		return true, nil
	case foreign && b.unknown || b.team == "":
		return false, core.Errorf(core.DeliveryLater, unknownBot)
	case foreign && b.enterprise == "":
		return false, nil
	case !shared: // any other workspace is one of the organisation
		return true, nil
	}
	home, err := s.home(ctx, b, user)
	return b.owns(home), err
}

// isFor reports whether a slash command is from the bot's own workspace, or another one of its organisation.
func (c slashCommand) isFor(b bot) bool {
	return b.owns(c.TeamID) || c.TeamID != "" && b.enterprise != "" && c.EnterpriseID == b.enterprise
}

// ran reports whether the person who ran a slash command is one of the bot's own. A command does not say where they are
// from. If Slack does not either, the command's own workspace decides.
func (s *Slack) ran(ctx context.Context, b bot, c slashCommand) bool {
	home, err := s.home(ctx, b, c.UserID)
	return err != nil || home == "" || b.owns(home)
}

// home asks Slack for a person's workspace, or their organisation if it is the bot's; "" if Slack does not say. Error:
// temporary, Slack can't be asked now. Only answers are cached.
func (s *Slack) home(ctx context.Context, b bot, user string) (string, error) {
	if at, fresh := s.homes.Get(user); fresh {
		return at, nil
	}
	ctx, cancel := context.WithTimeout(ctx, homeTime)
	defer cancel()
	u, err := s.api.GetUserInfoContext(ctx, user)
	switch err := s.called(err); {
	case core.IsTemporary(err):
		return "", err
	case err != nil:
		s.warnOnce("Slack does not say which workspace a person is of", "person", user, "err", err)
		return s.homes.Put(user, "", homeRetry), nil
	case b.enterprise != "" && u.Enterprise.EnterpriseID == b.enterprise:
		return s.homes.Put(user, b.enterprise, homeLifetime), nil
	}
	return s.homes.Put(user, u.TeamID, homeLifetime), nil
}

// refuseStranger logs that a stranger is refused. It reports whether to tell them why: once a minute for each person
// and text.
func (s *Slack) refuseStranger(what, user, text string) (tell bool) {
	tell = s.told.Add(text+user, true, strangerPause)
	if tell {
		s.Log.Info("a person of another workspace is refused (SLACK_CONNECT)", "what", what, "person", user)
	}
	return tell
}

// admits reports whether somebody may press a button: they are one of the bot's own or, below a reply to a failed
// event, may talk to it. If not, they are told why, and result is the outcome of the press.
func (s *Slack) admits(ctx context.Context, p press) (ok bool, result inbound.Result) {
	talks := p.button.OnReply() && s.Config.Connect == connectAllow
	if talks || p.button.Action == "" { // the desk refuses what is not ours
		return true, inbound.Stored
	}
	b := s.identity.get()
	b.unknown, b.team = b.team == "", cmp.Or(b.team, p.Team.ID)
	own, err := s.isOwn(ctx, b, p.User.ID, true, cmp.Or(p.User.TeamID, p.Team.ID))
	switch {
	case err != nil:
		if ctx.Err() == nil {
			s.Log.Warn(unknownHome+pressNote, "person", p.User.ID, "category", core.CategoryOf(err), "err", err)
		}
		s.tell(p.Address, p.User.ID, s.desk.PressUnchecked)
		return false, inbound.NotStored
	case !own && s.refuseStranger("press", p.User.ID, s.desk.PressStranger):
		s.tell(p.Address, p.User.ID, s.desk.PressStranger)
	}
	return own, inbound.Stored
}
