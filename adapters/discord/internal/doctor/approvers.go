package doctor

import (
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/outbound"
)

// whereIDs explains where to find the id of a person or a role.
const whereIDs = "Switch Developer Mode on in Discord's settings, Advanced; then right-click a person, or a role in " +
	"the server's settings, and Copy ID."

// approvers checks each Discord approver once.
func (c *checks) approvers(ctx context.Context) {
	seen := map[string]bool{}
	c.Approvers(ctx, c.Checkup.Approvers, "discord:80351110224678912 or discord:role:41771983423143936", whereIDs,
		func(ctx context.Context, id string) {
			if seen[id] {
				return
			}
			seen[id] = true
			account := address.Account(id)
			switch role, isRole := strings.CutPrefix(account, "&"); {
			case isRole:
				c.role(id, role)
			case account != "":
				c.person(ctx, id, account)
			default:
				c.Approver(id, outbound.Fail,
					"is neither a person's id (discord:NUMBER) nor a role's (discord:role:NUMBER)", whereIDs)
			}
		})
}

func (c *checks) person(ctx context.Context, id, user string) {
	var who discordgo.User
	err := c.get(ctx, discordgo.EndpointUser(user), &who)
	switch {
	case rest.IsRefusal(err, discordgo.ErrCodeUnknownUser):
		c.Approver(id, outbound.Fail, "is not a user on Discord", "Name another person. "+whereIDs)
	case c.unanswered("approver "+plain(id), err):
	case who.Bot:
		c.Approver(id, outbound.Fail, "is a bot, and bots can't press buttons", "Name a person. "+whereIDs)
	case c.inNoServer(ctx, user):
		c.Approver(id, outbound.Warn,
			"is "+plain(who.Username)+", who shares no server with the bot, so no card reaches them",
			"Invite them to the server, or name another person. "+whereIDs)
	default:
		c.Approver(id, outbound.OK, "is "+plain(who.Username), "")
	}
}

// inNoServer reports whether a user is certainly in none of the bot's servers: all of them were asked.
func (c *checks) inNoServer(ctx context.Context, user string) bool {
	for _, s := range c.servers {
		if !rest.IsRefusal(c.get(ctx, discordgo.EndpointGuildMember(s.ID, user), nil), discordgo.ErrCodeUnknownMember) {
			return false
		}
	}
	return len(c.servers) > 0 && len(c.servers) == len(c.guilds)
}

// role looks a role up in the servers that the bot is in.
func (c *checks) role(id, role string) {
	const another = "Make a role for the approvers, and name that one. " + whereIDs
	for _, s := range c.servers {
		for _, r := range s.roles {
			if r.ID != role {
				continue
			}
			switch name := plain(r.Name) + " in " + plain(s.Name); {
			case r.ID == s.ID:
				c.Approver(id, outbound.Fail,
					"is everyone in "+plain(s.Name)+", which does not count as a role", another)
			case r.Tags.Bot != "":
				c.Approver(id, outbound.Fail, "is the role "+name+", which belongs to a bot, so no person can have it",
					another)
			default:
				c.Approver(id, outbound.OK, "is the role "+name, "")
			}
			return
		}
	}
	if len(c.servers) < len(c.guilds) {
		c.Approver(id, outbound.Warn, "is not a role of the servers that were checked",
			"Check whether the bot is in the role's server. "+whereIDs)
		return
	}
	c.Approver(id, outbound.Fail, "is not a role of a server that the bot is in",
		"Name another role, or invite the bot to its server. "+whereIDs)
}
