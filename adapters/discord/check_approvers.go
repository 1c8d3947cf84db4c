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
	for _, id := range slices.Compact(roles) {
		e.role(id)
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
	case e.stranger(ctx, user):
		e.approver(id, Warn, "is "+plain(who.Name)+", who is in no server of the bot's, so no card reaches them", "Invite them to the server, or name somebody else. "+whereIDs)
	default:
		e.approver(id, OK, "is "+plain(who.Name), "")
	}
}

// stranger reports somebody who is in none of the bot's servers, where all of them could be asked.
func (e *examination) stranger(ctx context.Context, user string) bool {
	for _, s := range e.sites {
		if !isRefusal(e.get(ctx, "/guilds/"+s.ID+"/members/"+user, nil), codeUnknownMember) {
			return false
		}
	}
	return len(e.sites) > 0 && len(e.sites) == len(e.guilds)
}

// role looks a role up in the servers that the bot is in.
func (e *examination) role(id string) {
	for _, s := range e.sites {
		for _, r := range s.ranks {
			if Name+":role:"+r.ID != id {
				continue
			}
			switch name := plain(r.Name) + " in " + plain(s.Name); {
			case r.ID == s.ID:
				e.approver(id, Fail, "is everyone in "+plain(s.Name)+", which is a role that nobody has", "Make a role for those who may approve, and name that one. "+whereIDs)
			case r.Tags.Bot != "":
				e.approver(id, Fail, "is the role "+name+", which belongs to a bot, so that no person can have it", "Make a role for those who may approve, and name that one. "+whereIDs)
			default:
				e.approver(id, OK, "is the role "+name, "")
			}
			return
		}
	}
	if len(e.sites) < len(e.guilds) {
		e.approver(id, Warn, "is no role of the servers that were looked at", "See whether the bot is in the role's server. "+whereIDs)
		return
	}
	e.approver(id, Fail, "is no role of a server that the bot is in", "Name another one, or invite the bot to its server. "+whereIDs)
}
