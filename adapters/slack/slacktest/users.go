package slacktest

import (
	"maps"
	"slices"
)

var userMethods = map[string]method{
	"users.info":            {scopes: []string{"users:read"}, do: usersInfo},
	"usergroups.list":       {scopes: []string{"usergroups:read"}, do: groupsList},
	"usergroups.users.list": {scopes: []string{"usergroups:read"}, do: groupMembers},
}

func (s *Server) wireUser(u *User) object {
	return object{
		"id": u.ID, "team_id": u.TeamID, "name": u.Name, "deleted": u.Deleted, "real_name": u.RealName, "tz": u.TZ,
		"tz_label":  u.TZ,
		"tz_offset": u.TZOffset, "is_admin": false, "is_owner": false, "is_bot": u.IsBot, "is_app_user": false,
		"updated":     1700000000,
		"is_stranger": u.TeamID != s.o.TeamID,
		"profile": object{
			"real_name": u.RealName, "display_name": u.Name, "real_name_normalized": u.RealName,
			"display_name_normalized": u.Name,
			"team":                    u.TeamID, "bot_id": u.BotID, "api_app_id": u.AppID,
			"image_48": "https://secure.gravatar.com/avatar/x.jpg",
		},
	}
}

func usersInfo(q *request) (object, *failure) {
	u := q.s.users[q.args["user"]]
	if u == nil {
		return nil, fail("user_not_found")
	}
	return object{"user": q.s.wireUser(u)}, nil
}

func groupsList(q *request) (object, *failure) {
	list := []object{}
	for _, id := range slices.Sorted(maps.Keys(q.s.groups)) {
		g := q.s.groups[id]
		entry := object{
			"id": g.ID, "team_id": q.s.o.TeamID, "is_usergroup": true, "name": g.Handle, "handle": g.Handle,
			"user_count": len(g.Members), "date_delete": 0,
		}
		if q.args.flag("include_users") {
			entry["users"] = g.Members
		}
		list = append(list, entry)
	}
	return object{"usergroups": list}, nil
}

func groupMembers(q *request) (object, *failure) {
	g := q.s.groups[q.args["usergroup"]]
	if g == nil {
		return nil, fail("no_such_subteam")
	}
	return object{"users": append([]string{}, g.Members...)}, nil
}

var authMethods = map[string]method{
	"auth.test": {do: authTest},
	"bots.info": {scopes: []string{"users:read"}, do: botsInfo},
}

func authTest(q *request) (object, *failure) {
	s := q.s
	return object{
		"url": s.workspaceURL(), "team": s.o.TeamDomain, "user": s.o.BotName, "team_id": s.o.TeamID,
		"user_id": s.o.BotUserID,
		"bot_id":  s.o.BotID, "is_enterprise_install": false,
	}, nil
}

func botsInfo(q *request) (object, *failure) {
	for _, u := range q.s.users {
		if u.IsBot && u.BotID == q.args["bot"] {
			return object{"bot": object{
				"id": u.BotID, "deleted": u.Deleted, "name": u.Name, "updated": 1700000000, "app_id": u.AppID,
				"user_id": u.ID,
				"icons":   object{"image_36": "https://a.slack-edge.com/80588/img/plugins/app/bot_36.png"},
			}}, nil
		}
	}
	return nil, fail("bot_not_found")
}

func (s *Server) workspaceURL() string { return "https://" + s.o.TeamDomain + ".slack.com/" }
