package slacktest

var authMethods = map[string]method{
	"api.test":  {open: true, do: func(q *request) (object, *failure) { return object{"args": q.args}, nil }},
	"auth.test": {do: authTest},
	"team.info": {scopes: []string{"team:read"}, do: teamInfo},
	"bots.info": {scopes: []string{"users:read"}, do: botsInfo},
}

func authTest(q *request) (object, *failure) {
	s := q.s
	return object{
		"url": s.workspaceURL(), "team": s.o.TeamDomain, "user": s.o.BotName, "team_id": s.o.TeamID, "user_id": s.o.BotUserID,
		"bot_id": s.o.BotID, "is_enterprise_install": false,
	}, nil
}

func teamInfo(q *request) (object, *failure) {
	s := q.s
	return object{"team": object{"id": s.o.TeamID, "name": s.o.TeamDomain, "domain": s.o.TeamDomain, "email_domain": ""}}, nil
}

func botsInfo(q *request) (object, *failure) {
	for _, u := range q.s.users {
		if u.IsBot && u.BotID == q.args["bot"] {
			return object{"bot": object{
				"id": u.BotID, "deleted": u.Deleted, "name": u.Name, "updated": 1700000000, "app_id": u.AppID, "user_id": u.ID,
				"icons": object{"image_36": "https://a.slack-edge.com/80588/img/plugins/app/bot_36.png"},
			}}, nil
		}
	}
	return nil, fail("bot_not_found")
}

func (s *Server) workspaceURL() string { return "https://" + s.o.TeamDomain + ".slack.com/" }
