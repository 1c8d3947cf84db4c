package slack

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/core"
)

// whereIDs tells where the id of a person is found.
const whereIDs = "A person's id is in Slack under their profile, the three dots, Copy member ID."

// approvers looks up whoever may approve here.
func (e *examination) approvers(ctx context.Context) {
	here := 0
	for _, id := range e.Approvers {
		if !strings.HasPrefix(id, Name+":") {
			continue
		}
		here++
		if user, ok := userID(id); ok {
			e.person(ctx, id, user)
		} else if group, ok := groupID(id); ok {
			e.group(ctx, id, group)
		} else {
			e.approver(id, Fail, "is the id of no person (U…) and of no user group (S…)", whereIDs)
		}
	}
	switch {
	case len(e.Approvers) == 0:
		e.add("approvers", Warn, "Nobody is named who may approve, so every change that is asked for on Slack is refused.",
			"Set GATEHOUSE_APPROVERS, such as slack:U0123ABCD. "+whereIDs)
	case here == 0:
		e.add("approvers", Warn, "Nobody on Slack is among those who may approve, so cards can't be decided here.",
			"Add people to GATEHOUSE_APPROVERS, such as slack:U0123ABCD. "+whereIDs)
	}
}

func (e *examination) approver(id string, state State, what, mend string) {
	e.add("approver "+oneLine(id), state, fmt.Sprintf("%s, named in GATEHOUSE_APPROVERS, %s.", oneLine(id), what), mend)
}

func (e *examination) person(ctx context.Context, id, user string) {
	u, err := e.slack.api.GetUserInfoContext(ctx, user)
	switch {
	case isRefusal(err, []string{"user_not_found", "user_not_visible"}):
		e.approver(id, Fail, "is nobody in this workspace", "Name somebody else. "+whereIDs)
	case core.CategoryOf(faultOf(err)) == core.Unsupported:
		e.approver(id, Warn, "could not be looked up: the token lacks the scope users:read", "Add the scope, as said above.")
	case e.unasked("approver "+oneLine(id), err):
	case u.Deleted:
		e.approver(id, Fail, "has been deactivated", "Name somebody else. "+whereIDs)
	case u.IsBot:
		e.approver(id, Fail, "is a bot, and bots press no buttons", "Name a person. "+whereIDs)
	default:
		e.approver(id, OK, "is "+oneLine(calledBy(u)), "")
	}
}

func (e *examination) group(ctx context.Context, id, group string) {
	members, err := e.slack.api.GetUserGroupMembersContext(ctx, group)
	where := "See People, User groups in Slack; a group's id is in the address of its page."
	switch {
	case isRefusal(err, []string{"no_such_subteam", "subteam_not_found"}):
		e.approver(id, Fail, "is no user group of this workspace", where)
	case core.CategoryOf(faultOf(err)) == core.Unsupported:
		e.approver(id, Fail, "could not be looked up, and can't be when it decides: the token lacks the scope usergroups:read", "Add the scope, as said above.")
	case e.unasked("approver "+oneLine(id), err):
	case len(members) == 0:
		e.approver(id, Fail, "has nobody in it", where)
	default:
		e.approver(id, OK, "has "+count(len(members), "member", "members"), "")
	}
}
