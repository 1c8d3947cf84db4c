package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// whereIDs tells where the id of a person or a role is found.
const whereIDs = "Switch Developer Mode on in Discord's settings, Advanced; then right-click a person, or a role in the server's settings, and Copy ID."

// approvers looks up whoever may approve here.
func (e *examination) approvers(ctx context.Context) {
	here := 0
	var roles []string
	for _, id := range e.Approvers {
		if !strings.HasPrefix(id, Name+":") {
			continue
		}
		here++
		if user := discordPerson.FindStringSubmatch(id); user != nil {
			e.person(ctx, id, user[1])
		} else if role := discordRole.FindStringSubmatch(id); role != nil {
			roles = append(roles, id)
		} else {
			e.approver(id, Fail, "is the id of no person (discord:NUMBER) and of no role (discord:role:NUMBER)", whereIDs)
		}
	}
	if len(roles) > 0 {
		e.roles(ctx, roles)
	}
	switch {
	case len(e.Approvers) == 0:
		e.add("approvers", Warn, "Nobody is named who may approve, so every change that is asked for on Discord is refused.",
			"Set GATEHOUSE_APPROVERS, such as discord:80351110224678912 or discord:role:41771983423143936. "+whereIDs)
	case here == 0:
		e.add("approvers", Warn, "Nobody on Discord is among those who may approve, so cards can't be decided here.",
			"Add people or roles to GATEHOUSE_APPROVERS, such as discord:80351110224678912. "+whereIDs)
	}
}

func (e *examination) approver(id string, state State, what, mend string) {
	e.add("approver "+plain(id), state, fmt.Sprintf("%s, named in GATEHOUSE_APPROVERS, %s.", plain(id), what), mend)
}

func (e *examination) person(ctx context.Context, id, user string) {
	var who struct {
		Name string `json:"username"`
		Bot  bool   `json:"bot"`
	}
	err := e.get(ctx, "/users/"+user, &who)
	switch {
	case isRefusal(err, codeUnknownUser):
		e.approver(id, Fail, "is nobody on Discord", "Name somebody else. "+whereIDs)
	case e.unasked("approver "+plain(id), err):
	case who.Bot:
		e.approver(id, Fail, "is a bot, and bots press no buttons", "Name a person. "+whereIDs)
	default:
		e.approver(id, OK, "is "+plain(who.Name), "")
	}
}

// roles looks the roles up in the servers that the bot is in.
func (e *examination) roles(ctx context.Context, ids []string) {
	names := map[string]string{}
	for _, g := range e.guilds[:min(len(e.guilds), maxGuilds)] {
		var there []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		}
		if e.unasked("roles", e.get(ctx, "/guilds/"+g.ID+"/roles", &there)) {
			return
		}
		for _, r := range there {
			names[r.ID] = plain(r.Name) + " in " + plain(g.Name)
		}
	}
	for _, id := range slices.Compact(ids) {
		role := discordRole.FindStringSubmatch(id)[1]
		switch name := names[role]; {
		case name != "":
			e.approver(id, OK, "is the role "+name, "")
		case len(e.guilds) > maxGuilds:
			e.approver(id, Warn, "is no role of the servers that were looked at", "See whether the bot is in the role's server. "+whereIDs)
		default:
			e.approver(id, Fail, "is no role of a server that the bot is in", "Name another one, or invite the bot to its server. "+whereIDs)
		}
	}
}
