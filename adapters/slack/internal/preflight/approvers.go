package preflight

import (
	"context"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
)

// Where to find ids.
const (
	wherePeople = "A person's id is in Slack under their profile, the three dots, Copy member ID."
	whereGroups = "See People, User groups in Slack; a group's id is in the address of its page."
)

// checkApprovers looks up the people and groups that may approve.
func (r *run) checkApprovers(ctx context.Context) {
	r.Approvers(ctx, r.ApproverIDs, "slack:U0123ABCD", wherePeople, func(ctx context.Context, id string) {
		user, isUser := webapi.UserID(id)
		group, isGroup := webapi.GroupID(id)
		switch {
		case isUser:
			r.checkPerson(ctx, id, user)
		case isGroup:
			r.checkGroup(ctx, id, group)
		default:
			r.Approver(id, chat.Fail, "is the id of no person (U…) and of no user group (S…)", wherePeople)
		}
	})
}

func (r *run) checkPerson(ctx context.Context, id, user string) {
	u, err := r.api.GetUserInfoContext(ctx, user)
	switch {
	case webapi.IsRefusal(err, "user_not_found", "user_not_visible"):
		r.Approver(id, chat.Fail, "is nobody in this workspace", "Name somebody else. "+wherePeople)
	case lacksScope(err):
		r.Approver(id, chat.Warn, "could not be looked up: the token lacks the scope users:read", "Add the scope, as said above.")
	case r.unanswered("approver "+chat.Name(id), err):
	case u.Deleted:
		r.Approver(id, chat.Fail, "has been deactivated", "Name somebody else. "+wherePeople)
	case u.IsBot:
		r.Approver(id, chat.Fail, "is a bot, and bots press no buttons", "Name a person. "+wherePeople)
	default:
		r.Approver(id, chat.OK, "is "+chat.Name(webapi.DisplayName(u)), "")
	}
}

func (r *run) checkGroup(ctx context.Context, id, group string) {
	members, err := r.api.GetUserGroupMembersContext(ctx, group)
	switch {
	case webapi.IsRefusal(err, "no_such_subteam", "subteam_not_found"):
		r.Approver(id, chat.Fail, "is no user group of this workspace", whereGroups)
	case lacksScope(err):
		r.Approver(id, chat.Fail, "could not be looked up, and can't be when it decides: the token lacks the scope usergroups:read", "Add the scope, as said above.")
	case r.unanswered("approver "+chat.Name(id), err):
	case len(members) == 0:
		r.Approver(id, chat.Fail, "has nobody in it", whereGroups)
	default:
		r.Approver(id, chat.OK, "has "+chat.Count(len(members), "member", "members"), "")
	}
}
