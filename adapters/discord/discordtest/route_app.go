package discordtest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Routes, as calls and faults name them.
const (
	GetGateway     = "GET /gateway"
	GetGatewayBot  = "GET /gateway/bot"
	GetMe          = "GET /users/@me"
	GetUser        = "GET /users/{user}"
	GetMyGuilds    = "GET /users/@me/guilds"
	OpenDM         = "POST /users/@me/channels"
	GetApplication = "GET /applications/@me"
)

var appRoutes = map[string]route{
	GetGateway:     {open: true, do: gatewayURL},
	GetGatewayBot:  {do: gatewayBot},
	GetMe:          {do: me},
	GetUser:        {do: user},
	GetMyGuilds:    {do: myGuilds},
	OpenDM:         {do: openDM},
	GetApplication: {do: application},
}

func (s *Server) gatewayURL() string { return strings.Replace(s.base, "http", "ws", 1) }
func (s *Server) resumeURL() string  { return strings.Replace(s.resumeBase, "http", "ws", 1) }

func gatewayURL(q *request) (answer, *form.Failure) { return ok(object{"url": q.s.gatewayURL()}) }

func gatewayBot(q *request) (answer, *form.Failure) {
	limit := gateway.Left(q.s.Gateway)
	return ok(object{"url": q.s.gatewayURL(), "shards": q.s.o.Shards, "session_start_limit": object{
		"total": limit.Total, "remaining": limit.Remaining, "reset_after": limit.ResetAfter.Milliseconds(),
		"max_concurrency": limit.MaxConcurrency,
	}})
}

func me(q *request) (answer, *form.Failure) {
	o := q.s.wireUser(q.s.o.BotUserID)
	o["verified"], o["mfa_enabled"], o["email"], o["flags"], o["locale"] = true, true, nil, 0, "en-US"
	return ok(o)
}

func user(q *request) (answer, *form.Failure) {
	if q.s.users[q.path["user"]] == nil {
		return answer{}, form.UnknownUser
	}
	return ok(q.s.wireUser(q.path["user"]))
}

func myGuilds(q *request) (answer, *form.Failure) {
	const most = 200
	limit, after := most, number(q.query.Get("after"))
	if n, err := strconv.Atoi(q.query.Get("limit")); err == nil && 0 < n && n < most {
		limit = n
	}
	all := q.s.guildsOfBot()
	slices.SortFunc(all, func(a, b *guild) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	found := []object{}
	for _, g := range all {
		if number(g.ID) <= after || len(found) == limit {
			continue
		}
		found = append(found, object{
			"id": g.ID, "name": g.Name, "icon": nil, "banner": nil, "owner": g.Owner == q.s.o.BotUserID,
			"features": []string{}, "permissions": permissionString(q.s.guildPermissions(g)),
		})
	}
	return ok(found)
}

func openDM(q *request) (answer, *form.Failure) {
	id := wire.String(q.fields, "recipient_id")
	if u := q.s.users[id]; u == nil || id == q.s.o.BotUserID {
		return answer{}, form.BadField("recipient_id", "INVALID_USER", "Invalid Recipient(s)")
	} else if u.IsBot {
		return answer{}, form.CannotMessageUser
	}
	return ok(q.s.wireChannel(q.s.openDM(id)))
}

// appFlags returns which privileged intents the app is granted: bits 12 and 13 for presence, 14 and 15 for members, 18
// and 19 for message content, the second each for an app that is not verified.
func (s *Server) appFlags() int {
	flags := 0
	for intent, bit := range map[int]int{
		gateway.IntentPresences: 13, gateway.IntentMembers: 15, gateway.IntentMessageContent: 19,
	} {
		if s.denied&intent == 0 {
			flags |= 1 << bit
		}
	}
	return flags
}

func application(q *request) (answer, *form.Failure) {
	s := q.s
	return ok(object{
		"id": s.o.ApplicationID, "name": s.o.BotName, "icon": nil, "description": "", "bot_public": true,
		"bot_require_code_grant": false,
		"verify_key":             s.PublicKey(), "flags": s.appFlags(),
		"interactions_endpoint_url": wire.StringOrNil(s.interactURL), "approximate_guild_count": len(s.guildsOfBot()),
		"bot": s.wireUser(s.o.BotUserID), "owner": s.wireUser("1"), "team": nil, "summary": "", "tags": []string{},
		"rpc_origins": []string{},
		"type":        nil, "flags_new": strconv.Itoa(s.appFlags()), "redirect_uris": []string{},
		"role_connections_verification_url": nil, "approximate_user_install_count": 0,
		"approximate_user_authorization_count": 0, "explicit_content_filter": 0, "eligible_oauth2_scopes": []string{},
	})
}

// SetDenied changes which privileged intents the app is denied from now on.
func (s *Server) SetDenied(intents int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = intents
}
