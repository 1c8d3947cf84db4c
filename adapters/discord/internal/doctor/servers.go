package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
)

// Limits of what is checked.
const (
	maxServers  = 20
	maxChannels = 20 // in which the bot was addressed
	maxThreads  = 10 // in those
)

// addressedIn has the channels and threads of a server in which the bot was last addressed.
type addressedIn struct {
	channels []string
	threads  [][2]string // each with the channel that it belongs to
}

// allServers checks the servers that the bot is in. Those in which it was addressed come first.
func (c *checks) allServers(ctx context.Context) {
	var err error
	if c.guilds, err = guilds.List(ctx, c.REST); c.unanswered("servers", err) {
		return
	}
	if len(c.guilds) == 0 {
		c.Add("servers", outbound.Fail, "The bot is in no server, so nobody can talk to it.",
			"Open "+InviteURL(c.app.ID, Needed(c.Threads))+" and choose a server.")
		return
	}
	known := c.addressedIn()
	slices.SortStableFunc(c.guilds, func(a, b discordgo.UserGuild) int {
		return len(known[b.ID].channels) - len(known[a.ID].channels)
	})
	for _, g := range c.guilds[:min(len(c.guilds), maxServers)] {
		s, err := c.read(ctx, g)
		if c.unanswered("server "+plain(g.Name), err) {
			continue
		}
		c.servers = append(c.servers, s)
		until := s.member.CommunicationDisabledUntil
		if until != nil && until.After(c.Now()) &&
			!c.permissions(s, discordgo.Channel{}).Has(discordgo.PermissionAdministrator) {
			c.Add("server "+plain(g.Name), outbound.Fail,
				fmt.Sprintf("In the server %s the bot is timed out until %s, so it can't post there.",
					plain(g.Name), until.Local().Format("2006-01-02 15:04 MST")),
				"Open the server's members, right-click the bot, Remove Timeout.")
			continue
		}
		c.server(s)
		c.allChannels(s, known[g.ID].channels)
		for _, id := range known[g.ID].channels {
			c.channel(ctx, s, id)
		}
		for _, thread := range known[g.ID].threads {
			c.thread(ctx, s, thread[0], thread[1])
		}
	}
	if more := len(c.guilds) - maxServers; more > 0 {
		c.Add("servers", outbound.OK, fmt.Sprintf("The bot is in %d more servers, which were not checked.", more), "")
	}
}

// addressedIn returns the channels and threads in which the bot was last addressed, by server.
func (c *checks) addressedIn() map[string]addressedIn {
	all, seen, channels, threads := map[string]addressedIn{}, map[string]bool{}, 0, 0
	for _, e := range c.recent {
		rest, ours := strings.CutPrefix(string(e.Conversation), c.Platform+":")
		guild, _, _ := strings.Cut(rest, ":")
		channel, thread := e.Address.Channel, e.Address.Thread
		if !ours || e.Platform != c.Platform || !snowflake.Valid(guild) || !snowflake.Valid(channel) {
			continue
		}
		in := all[guild]
		if !seen[channel] && channels < maxChannels {
			in.channels, seen[channel] = append(in.channels, channel), true
			channels++
		}
		if snowflake.Valid(thread) && !seen[thread] && seen[channel] && threads < maxThreads {
			in.threads, seen[thread] = append(in.threads, [2]string{thread, channel}), true
			threads++
		}
		all[guild] = in
	}
	return all
}

// read asks Discord for what determines the bot's permissions in a server.
func (c *checks) read(ctx context.Context, g discordgo.UserGuild) (server, error) {
	s := server{UserGuild: g}
	err := c.get(ctx, discordgo.EndpointGuildMember(g.ID, c.me.ID), &s.member)
	if err == nil {
		err = c.get(ctx, discordgo.EndpointGuildRoles(g.ID), &s.roles)
	}
	if err == nil {
		err = c.get(ctx, discordgo.EndpointGuildChannels(g.ID), &s.channels)
	}
	return s, err
}

// server reports what the bot may do in a server in general. A missing permission may be intended if a channel makes an
// exception.
func (c *checks) server(s server) {
	where, invite := plain(s.Name), InviteURL(c.app.ID, Needed(c.Threads))
	lacks, state := missing(c.permissions(s, discordgo.Channel{}), Needed(c.Threads))
	if state == outbound.OK {
		c.Add("server "+where, outbound.OK, "In the server "+where+" the bot has the permissions that it needs.", "")
		return
	}
	mend, exceptions := "Open "+invite+
		" and choose the server again; or open its settings, Roles, and add the permission to the bot's role. "+
		"See gatehouse help adapters/discord#permissions.", ""
	isException := func(at discordgo.Channel) bool {
		_, there := missing(c.permissions(s, at), c.needed(at))
		return c.readable(s, at) && there != outbound.Fail
	}
	if state == outbound.Fail && slices.ContainsFunc(s.channels, isException) {
		state, exceptions = outbound.Warn, " Some channels make an exception."
		mend += " Or leave it, if the bot is meant for those channels alone."
	}
	c.Add("server "+where, state, fmt.Sprintf("In the server %s the bot %s.%s", where, explained(lacks), exceptions),
		mend)
}
