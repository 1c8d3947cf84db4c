package doctor

import (
	"context"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/webapi"
)

// Where to find ids.
const (
	wherePeople = "A person's id is in Slack under their profile, the three dots, Copy member ID."
	whereGroups = "See People, User groups in Slack; a group's id is in the address of its page."
)

// checkApprovers looks up the people and groups that may approve.
func (r *run) checkApprovers(ctx context.Context) {
	r.Approvers(ctx, r.Checkup.Approvers, "slack:U0123ABCD", wherePeople, func(ctx context.Context, id string) {
		user, isUser := webapi.UserID(id)
		group, isGroup := webapi.GroupID(id)
		switch {
		case isUser:
			r.checkPerson(ctx, id, user)
		case isGroup:
			r.checkGroup(ctx, id, group)
		default:
			r.Approver(id, outbound.Fail,
				"is neither the id of a person (U…) nor that of a user group (S…)", wherePeople)
		}
	})
}

func (r *run) checkPerson(ctx context.Context, id, user string) {
	u, err := r.api.GetUserInfoContext(ctx, user)
	switch {
	case webapi.IsRefusal(err, "user_not_found", "user_not_visible"):
		r.Approver(id, outbound.Fail, "is not a member of this workspace", "Choose another person. "+wherePeople)
	case lacksScope(err):
		r.Approver(id, outbound.Warn, "could not be looked up: the token lacks the scope users:read",
			"Add the scope; see the check of the scope above.")
	case r.unanswered("approver "+safetext.Name(id), err):
	case u.Deleted:
		r.Approver(id, outbound.Fail, "has been deactivated", "Choose another person. "+wherePeople)
	case u.TeamID != "" && u.TeamID != r.team && (r.org == "" || u.Enterprise.EnterpriseID != r.org):
		r.Approver(id, outbound.Fail, "is a person of another workspace, whose presses are refused",
			"Choose a person of this workspace. "+wherePeople)
	case u.IsBot:
		r.Approver(id, outbound.Fail, "is a bot, and bots can't press buttons", "Choose a person. "+wherePeople)
	default:
		r.Approver(id, outbound.OK, "is "+safetext.Name(webapi.DisplayName(u)), "")
	}
}

func (r *run) checkGroup(ctx context.Context, id, group string) {
	members, err := r.api.GetUserGroupMembersContext(ctx, group)
	switch {
	case webapi.IsRefusal(err, "no_such_subteam", "subteam_not_found"):
		r.Approver(id, outbound.Fail, "is no user group of this workspace", whereGroups)
	case lacksScope(err):
		r.Approver(id, outbound.Fail,
			"could not be looked up, so its members can't decide: the token lacks the scope usergroups:read",
			"Add the scope; see the check of the scope above.")
	case r.unanswered("approver "+safetext.Name(id), err):
	case len(members) == 0:
		r.Approver(id, outbound.Fail, "has no members", whereGroups)
	default:
		r.Approver(id, outbound.OK, "has "+outbound.Count(len(members), "member", "members"), "")
	}
}
