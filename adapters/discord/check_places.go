package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// Numbers of what is looked at.
const (
	maxGuilds  = 20 // servers
	maxKnown   = 20 // channels that the bot was spoken to in
	freshEvent = time.Hour
)

// servers tells which servers the bot is in, and what it may do in general there.
func (e *examination) servers(ctx context.Context) bool {
	if e.unasked("servers", e.get(ctx, "/users/@me/guilds?limit=200", &e.guilds)) {
		return false
	}
	needed := wanted(e.Config)
	if len(e.guilds) == 0 {
		e.add("servers", Fail, "The bot is in no server, so only direct messages could reach it, and only from people who share one.",
			"Open "+invitation(e.app.ID, needed)+" and choose a server.")
		return true
	}
	for _, g := range e.guilds[:min(len(e.guilds), maxGuilds)] {
		e.lacking("server "+plain(g.Name), "In the server "+plain(g.Name), g.Powers, needed,
			"Open "+invitation(e.app.ID, needed)+" and choose the server again; or open its settings, Roles, and add it to the bot's role.")
	}
	if more := len(e.guilds) - maxGuilds; more > 0 {
		e.add("servers", OK, fmt.Sprintf("The bot is in %d more, which were not looked at.", more), "")
	}
	return true
}

// lacking adds a check for what the bot may not do somewhere, or that it may do all.
func (e *examination) lacking(name, where string, has powers, needed []Permission, mend string) {
	state, lacks := OK, []string{}
	for _, p := range needed {
		if has.may(p.bit) {
			continue
		}
		lacks = append(lacks, p.Name+", so "+p.Without)
		if p.demand == always {
			state = Fail
		} else if state == OK {
			state = Warn
		}
	}
	if len(lacks) == 0 {
		e.add(name, OK, where+" the bot may do what it needs to.", "")
		return
	}
	e.add(name, state, where+" the bot lacks the permission "+strings.Join(lacks, "; ")+".", mend)
}

// known gives the channels of servers that the bot was last spoken to in, by channel.
func (e *examination) known() (channels []string, guilds map[string]string) {
	guilds = map[string]string{}
	for _, ev := range e.recent {
		guild, channel := guildIn(ev.Lane), ev.Address.Channel
		if ev.Platform != Name || !isSnowflake(guild) || !isSnowflake(channel) || guilds[channel] != "" || len(channels) == maxKnown {
			continue
		}
		channels, guilds[channel] = append(channels, channel), guild
	}
	return channels, guilds
}

// channels tells what the bot may do where it was spoken to: a channel may make exceptions.
func (e *examination) channels(ctx context.Context) {
	channels, guilds := e.known()
	for _, channel := range channels {
		id := guilds[channel]
		if !slices.ContainsFunc(e.guilds, func(g guild) bool { return g.ID == id }) {
			continue // it has left that server
		}
		name := "channel " + channel
		var at ground
		err := e.get(ctx, "/channels/"+channel, &at)
		if err == nil && at.isThread() && isSnowflake(at.Parent) {
			continue // its channel is known too, or will be
		}
		switch {
		case isRefusal(err, codeUnknownChannel):
			continue // it was deleted
		case isRefusal(err, codeMissingAccess):
			e.add(name, Fail, "The bot does not see the channel "+channel+" any more.", "Open the channel's settings, Permissions, and give the bot's role View Channel.")
			continue
		}
		has, err2 := e.powersIn(ctx, id, at)
		if err == nil {
			err = err2
		}
		if e.unasked(name, err) {
			continue
		}
		e.lacking("channel #"+plain(at.Name), "In the channel #"+plain(at.Name), has, wanted(e.Config),
			"Open the channel's settings, Permissions, and allow it for the bot's role.")
	}
}

// powersIn is what the bot may do in a channel.
func (e *examination) powersIn(ctx context.Context, guild string, at ground) (powers, error) {
	var member struct {
		Roles []string `json:"roles"`
	}
	var ranks []rank
	if err := e.get(ctx, "/guilds/"+guild+"/members/"+e.me.ID, &member); err != nil {
		return 0, err
	}
	if err := e.get(ctx, "/guilds/"+guild+"/roles", &ranks); err != nil {
		return 0, err
	}
	return powersIn(guild, e.me.ID, member.Roles, ranks, at.Exceptions), nil
}

// events tells when Discord was last heard, which proves the whole way from Discord to the database.
func (e *examination) events() {
	if e.Recent == nil {
		return
	}
	const mend = "While gatehouse serve runs, mention the bot in a channel that it sees, and run gatehouse doctor again. If nothing comes, gatehouse serve says why."
	if e.recentErr != nil {
		e.add("events", Fail, fmt.Sprintf("The database can't tell when the last event came from Discord: %v.", e.recentErr), "See GATEHOUSE_DATABASE_URL.")
		return
	}
	at := time.Time{}
	if i := slices.IndexFunc(e.recent, func(ev core.EventRecord) bool { return ev.Platform == Name }); i >= 0 {
		at = e.recent[i].AcceptedAt
	}
	age := e.Now().Sub(at)
	switch {
	case at.IsZero():
		e.add("events", Warn, "No event has come from Discord yet.", mend)
	case age <= freshEvent:
		e.add("events", OK, fmt.Sprintf("The last event came from Discord %s ago.", age.Round(time.Second)), "")
	default:
		e.add("events", Warn, fmt.Sprintf("The last event came from Discord at %s.", at.Local().Format("2006-01-02 15:04")), mend)
	}
}
