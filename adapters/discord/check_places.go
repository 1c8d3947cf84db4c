package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Numbers of what is looked at.
const (
	maxGuilds  = 20 // servers
	maxKnown   = 20 // channels that the bot was spoken to in
	maxThreads = 10 // threads there
	maxNamed   = 5  // other channels that are named
)

// site is what decides over what the bot may do in a server.
type site struct {
	guild
	mine     []string  // the bot's roles
	muted    time.Time // until then the bot is timed out
	ranks    []rank
	channels []ground // that the bot sees: Discord tells of no others here
}

// visited are the places of a server that the bot was last spoken to in.
type visited struct {
	channels []string
	threads  [][2]string // each with the channel that it belongs to
}

// servers looks at the servers that the bot is in, those where it was spoken to first.
func (e *examination) servers(ctx context.Context) {
	if e.unasked("servers", e.list(ctx)) {
		return
	}
	if len(e.guilds) == 0 {
		e.add("servers", Fail, "The bot is in no server, so only direct messages could reach it, and only from people who share one.",
			"Open "+invitation(e.app.ID, wanted(e.Config))+" and choose a server.")
		return
	}
	known := e.visited()
	slices.SortStableFunc(e.guilds, func(a, b guild) int { return len(known[b.ID].channels) - len(known[a.ID].channels) })
	for _, g := range e.guilds[:min(len(e.guilds), maxGuilds)] {
		s, err := e.site(ctx, g)
		if e.unasked("server "+plain(g.Name), err) {
			continue
		}
		e.sites = append(e.sites, s)
		if s.muted.After(e.Now()) && !e.powersAt(s, ground{}).may(bitAdministrator) {
			e.add("server "+plain(g.Name), Fail, fmt.Sprintf("In the server %s the bot is timed out until %s, so it can say nothing there.",
				plain(g.Name), s.muted.Local().Format("2006-01-02 15:04")), "Open the server's members, right-click the bot, Remove Timeout.")
			continue
		}
		e.server(s, known[g.ID])
		for _, channel := range known[g.ID].channels {
			e.channel(ctx, s, channel)
		}
		for _, thread := range known[g.ID].threads {
			e.thread(ctx, s, thread[0], thread[1])
		}
	}
	if more := len(e.guilds) - maxGuilds; more > 0 {
		e.add("servers", OK, fmt.Sprintf("The bot is in %d more, which were not looked at.", more), "")
	}
}

// list reads which servers the bot is in.
func (e *examination) list(ctx context.Context) error {
	after := "0"
	for range guildPages {
		var page []guild
		if err := e.get(ctx, fmt.Sprintf("/users/@me/guilds?limit=%d&after=%s", guildsPage, after), &page); err != nil {
			return err
		}
		e.guilds = append(e.guilds, page...)
		if len(page) < guildsPage {
			break
		}
		after = page[len(page)-1].ID
	}
	return nil
}

// visited gives the places that the bot was last spoken to in, by server.
func (e *examination) visited() map[string]visited {
	all, seen, channels, threads := map[string]visited{}, map[string]bool{}, 0, 0
	for _, ev := range e.recent {
		id, channel, thread := guildIn(ev.Conversation), ev.Address.Channel, ev.Address.Thread
		if ev.Platform != Name || !isSnowflake(id) || !isSnowflake(channel) {
			continue
		}
		at := all[id]
		if !seen[channel] && channels < maxKnown {
			at.channels, seen[channel] = append(at.channels, channel), true
			channels++
		}
		if isSnowflake(thread) && !seen[thread] && seen[channel] && threads < maxThreads {
			at.threads, seen[thread] = append(at.threads, [2]string{thread, channel}), true
			threads++
		}
		all[id] = at
	}
	return all
}

// site reads what decides over what the bot may do in a server.
func (e *examination) site(ctx context.Context, g guild) (site, error) {
	s := site{guild: g}
	var member struct {
		Roles []string   `json:"roles"`
		Muted *time.Time `json:"communication_disabled_until"`
	}
	err := e.get(ctx, "/guilds/"+g.ID+"/members/"+e.me.ID, &member)
	if err == nil {
		err = e.get(ctx, "/guilds/"+g.ID+"/roles", &s.ranks)
	}
	if err == nil {
		err = e.get(ctx, "/guilds/"+g.ID+"/channels", &s.channels)
	}
	s.mine = member.Roles
	if member.Muted != nil {
		s.muted = *member.Muted
	}
	return s, err
}

// powersAt is what the bot may do in a channel that it sees; in a server of its own, everything. Where it does not see the channel, it may
// do nothing there, whatever else it was given.
func (e *examination) powersAt(s site, at ground) powers {
	if s.Owner {
		return 1 << bitAdministrator
	}
	return powersIn(s.ID, e.me.ID, s.mine, s.ranks, at.Exceptions)
}

// needed gives the permissions that the bot has a use for in a channel: in a forum everything is said in threads, and where people
// speak there are none.
func (e *examination) needed(at ground) []Permission {
	return slices.DeleteFunc(wanted(e.Config), func(p Permission) bool {
		switch at.Type {
		case typeForum, typeMedia:
			return p.bit == bitSend || p.bit == bitPublicThreads
		case typeVoice, typeStage:
			return p.bit == bitSendInThreads || p.bit == bitPublicThreads
		}
		return false
	})
}

// lacking gives what is not among the bot's permissions, and how bad that is.
func lacking(has powers, needed []Permission) (lacks []Permission, state State) {
	state = OK
	for _, p := range needed {
		switch {
		case has.may(p.bit):
			continue
		case p.demand == always:
			state = Fail
		case state == OK:
			state = Warn
		}
		lacks = append(lacks, p)
	}
	return lacks, state
}

// explained names permissions that the bot lacks, with what comes of it.
func explained(lacks []Permission) string {
	words := make([]string, len(lacks))
	for i, p := range lacks {
		words[i] = p.Name + ", so " + p.Without
	}
	return "lacks the permission " + strings.Join(words, "; ")
}

// server tells what the bot may do in a server in general, and in the channels that it sees and was not spoken to in. What it lacks in
// general may be so on purpose, where a channel makes an exception.
func (e *examination) server(s site, known visited) {
	where := plain(s.Name)
	sees, fit := 0, 0
	var poor []string
	for _, at := range s.channels {
		switch at.Type {
		case typeText, typeNews, typeForum, typeMedia:
		default:
			continue
		}
		has := e.powersAt(s, at)
		if !has.may(bitView) {
			continue
		}
		sees++
		lacks, state := lacking(has, e.needed(at))
		if state != Fail {
			fit++
		}
		if state == OK || slices.Contains(known.channels, at.ID) {
			continue
		}
		names := make([]string, len(lacks))
		for i, p := range lacks {
			names[i] = p.Name
		}
		poor = append(poor, fmt.Sprintf("#%s (%s)", plain(at.Name), strings.Join(names, ", ")))
	}
	lacks, state := lacking(e.powersAt(s, ground{}), wanted(e.Config))
	mend, exceptions := "Open "+invitation(e.app.ID, wanted(e.Config))+" and choose the server again; or open its settings, Roles, and add it to the bot's role.", ""
	if state == Fail && fit > 0 {
		state, exceptions = Warn, " Some channels make an exception."
		mend += " Or leave it so, where the bot should be in those alone."
	}
	if state == OK {
		e.add("server "+where, OK, "In the server "+where+" the bot may do what it needs to.", "")
	} else {
		e.add("server "+where, state, fmt.Sprintf("In the server %s the bot %s.%s", where, explained(lacks), exceptions), mend)
	}
	switch named := poor[:min(len(poor), maxNamed)]; {
	case sees == 0:
		e.add("channels of "+where, Fail, fmt.Sprintf("The bot sees no channel of the server %s that people write in.", where), "Open a channel's settings, Permissions, and give the bot's role View Channel.")
	case len(poor) > 0:
		more := ""
		if n := len(poor) - len(named); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		e.add("channels of "+where, Warn, fmt.Sprintf("The bot sees %d channels of the server %s, and lacks a permission in %s%s.",
			sees, where, strings.Join(named, ", "), more), "Open a channel's settings, Permissions, and allow it for the bot's role. Or leave it so, where nobody should talk to it there.")
	default:
		e.add("channels of "+where, OK, fmt.Sprintf("The bot sees %d channels of the server %s.", sees, where), "")
	}
}

// channel tells what the bot may do in a channel that it was spoken to in.
func (e *examination) channel(ctx context.Context, s site, id string) {
	var at ground
	var err error
	if i := slices.IndexFunc(s.channels, func(g ground) bool { return g.ID == id }); i >= 0 {
		at = s.channels[i]
	} else {
		err = e.get(ctx, "/channels/"+id, &at)
	}
	name := "channel #" + plain(at.Name)
	lacks, state := lacking(e.powersAt(s, at), e.needed(at))
	const open = "Open the channel's settings, Permissions, and "
	switch {
	case isRefusal(err, codeUnknownChannel): // it was deleted
	case isRefusal(err, codeMissingAccess):
		e.add("channel "+id, Fail, "The bot does not see the channel "+id+" any more.", open+"give the bot's role View Channel.")
	case e.unasked("channel "+id, err) || at.isThread(): // the channel of a thread is known too
	case state == OK:
		e.add(name, OK, "In the "+name+" the bot may do what it needs to.", "")
	default:
		e.add(name, state, "In the "+name+" the bot "+explained(lacks)+".", open+"allow it for the bot's role.")
	}
}

// thread adds what stands in the way of a conversation in a thread, beside what is said of its channel.
func (e *examination) thread(ctx context.Context, s site, id, parent string) {
	var at struct {
		ground
		State struct {
			Locked bool `json:"locked"`
		} `json:"thread_metadata"`
	}
	i := slices.IndexFunc(s.channels, func(g ground) bool { return g.ID == parent })
	if i < 0 || !e.powersAt(s, s.channels[i]).may(bitView) {
		return
	}
	manages := e.powersAt(s, s.channels[i]).may(bitManageThreads)
	in := "thread " + id + " of #" + plain(s.channels[i].Name)
	switch err := e.get(ctx, "/channels/"+id, &at); {
	case isRefusal(err, codeUnknownChannel): // it was deleted, or never opened
	case isRefusal(err, codeMissingAccess):
		e.add(in, Fail, "The bot does not see the "+in+" any more: it is private.", "Mention the bot in the thread, which adds it.")
	case e.unasked(in, err):
	case at.State.Locked && !manages:
		e.add(in, Warn, fmt.Sprintf("The thread %s of #%s is locked, so the bot can't answer there.", plain(at.Name), plain(s.channels[i].Name)),
			"Open the thread's menu and unlock it; or give the bot's role Manage Threads in the channel's settings, Permissions. Or leave it so.")
	}
}
