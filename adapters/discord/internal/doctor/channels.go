package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/outbound"
)

// maxNamed is how many channels are named in which the bot was not addressed.
const maxNamed = 5

// allChannels reports what the bot may do in those channels of a server that it sees and in which it was not addressed.
func (c *checks) allChannels(s server, addressedIn []string) {
	sees := 0
	var poor []string
	for _, at := range s.channels {
		if !c.readable(s, at) {
			continue
		}
		sees++
		lacks, _ := missing(c.permissions(s, at), c.needed(at))
		if len(lacks) == 0 || slices.Contains(addressedIn, at.ID) {
			continue
		}
		names := make([]string, len(lacks))
		for i, p := range lacks {
			names[i] = p.Name
		}
		poor = append(poor, fmt.Sprintf("#%s (%s)", plain(at.Name), strings.Join(names, ", ")))
	}
	where := plain(s.Name)
	switch named := poor[:min(len(poor), maxNamed)]; {
	case sees == 0:
		c.Add("channels of "+where, outbound.Fail,
			fmt.Sprintf("The bot sees no channel of the server %s that people write in.", where),
			"Open a channel's settings, Permissions, and give the bot's role View Channel.")
	case len(poor) > 0:
		more := ""
		if n := len(poor) - len(named); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		c.Add("channels of "+where, outbound.Warn,
			fmt.Sprintf("The bot sees %d channels of the server %s, and lacks a permission in %s%s.",
				sees, where, strings.Join(named, ", "), more),
			"Open a channel's settings, Permissions, and allow it for the bot's role. Or leave it, if the bot is not "+
				"meant to be used there.")
	default:
		c.Add("channels of "+where, outbound.OK,
			fmt.Sprintf("The bot sees %d channels of the server %s.", sees, where), "")
	}
}

// channel reports what the bot may do in a channel in which it was addressed.
func (c *checks) channel(ctx context.Context, s server, id string) {
	var at discordgo.Channel
	var err error
	if i := slices.IndexFunc(s.channels, func(other discordgo.Channel) bool { return other.ID == id }); i >= 0 {
		at = s.channels[i]
	} else {
		err = c.get(ctx, discordgo.EndpointChannel(id), &at)
	}
	name := "channel #" + plain(at.Name)
	lacks, state := missing(c.permissions(s, at), c.needed(at))
	const open = "Open the channel's settings, Permissions, and "
	switch {
	case rest.IsRefusal(err, discordgo.ErrCodeUnknownChannel): // it was deleted
	case rest.IsRefusal(err, discordgo.ErrCodeMissingAccess):
		c.Add("channel "+id, outbound.Fail, "The bot does not see the channel "+id+" any more.",
			open+"give the bot's role View Channel.")
	case c.unanswered("channel "+id, err) || at.IsThread(): // the channel of a thread is known too
	case state == outbound.OK:
		c.Add(name, outbound.OK, "In the "+name+" the bot has the permissions that it needs.", "")
	default:
		c.Add(name, state, "In the "+name+" the bot "+explained(lacks)+".", open+"allow it for the bot's role.")
	}
}

// thread reports what prevents an answer in a thread, apart from the permissions of its channel.
func (c *checks) thread(ctx context.Context, s server, id, parent string) {
	i := slices.IndexFunc(s.channels, func(other discordgo.Channel) bool { return other.ID == parent })
	if i < 0 || !c.permissions(s, s.channels[i]).Has(discordgo.PermissionViewChannel) {
		return
	}
	manages := c.permissions(s, s.channels[i]).Has(discordgo.PermissionManageThreads)
	in := "thread " + id + " of #" + plain(s.channels[i].Name)
	var at discordgo.Channel
	switch err := c.get(ctx, discordgo.EndpointChannel(id), &at); {
	case rest.IsRefusal(err, discordgo.ErrCodeUnknownChannel): // it was deleted, or never opened
	case rest.IsRefusal(err, discordgo.ErrCodeMissingAccess):
		c.Add(in, outbound.Fail, "The bot does not see the "+in+" any more: it is private.",
			"Mention the bot in the thread; that adds it.")
	case c.unanswered(in, err):
	case at.ThreadMetadata != nil && at.ThreadMetadata.Locked && !manages:
		c.Add(in, outbound.Warn,
			fmt.Sprintf("The thread %s of #%s is locked, so the bot can't answer there.", plain(at.Name),
				plain(s.channels[i].Name)),
			"Open the thread's menu and unlock it; or give the bot's role Manage Threads in the channel's settings, "+
				"Permissions. Or leave it locked.")
	}
}
