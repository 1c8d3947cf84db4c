package discordtest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Routes of guilds.
const (
	GetGuild         = "GET /guilds/{guild}"
	GetGuildRoles    = "GET /guilds/{guild}/roles"
	GetGuildChannels = "GET /guilds/{guild}/channels"
	GetMember        = "GET /guilds/{guild}/members/{user}"
)

var guildRoutes = map[string]route{
	GetGuild:      {do: inGuild(func(q *request, g *guild) (answer, *form.Failure) { return ok(q.s.wireGuild(g)) })},
	GetGuildRoles: {do: inGuild(func(_ *request, g *guild) (answer, *form.Failure) { return ok(wireRoles(g)) })},
	GetGuildChannels: {do: inGuild(func(q *request, g *guild) (answer, *form.Failure) {
		seen := q.s.wireChannels(g, false)
		return ok(slices.DeleteFunc(seen, func(o object) bool {
			return !q.s.botSees(q.s.channels[wire.String(o, "id")])
		}))
	})},
	GetMember: {do: inGuild(func(q *request, g *guild) (answer, *form.Failure) {
		id := q.path["user"]
		if id == "@me" {
			id = q.s.o.BotUserID
		}
		if g.members[id] == nil {
			if q.s.users[id] == nil {
				return answer{}, form.UnknownUser
			}
			return answer{}, form.UnknownMember
		}
		return ok(q.s.wireMember(g, id, true))
	})},
}

// inGuild finds the guild of a call.
func inGuild(do func(*request, *guild) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		g := q.s.guilds[q.path["guild"]]
		switch {
		case g == nil:
			return answer{}, form.UnknownGuild
		case g.WithoutBot:
			return answer{}, form.MissingAccess
		}
		return do(q, g)
	}
}

func (s *Server) guildsOfBot() []*guild {
	var found []*guild
	for _, id := range slices.Sorted(maps.Keys(s.guilds)) {
		if g := s.guilds[id]; !g.WithoutBot {
			found = append(found, g)
		}
	}
	return found
}

func permissionString(p int64) string { return strconv.FormatInt(p, 10) }

func (s *Server) guildPermissions(g *guild) int64 {
	return s.permissions(&channel{Channel: Channel{Guild: g.ID}}, s.o.BotUserID)
}

func wireRoles(g *guild) []object {
	found := []object{}
	for i, r := range g.Roles {
		o := object{
			"id": r.ID, "name": r.Name, "permissions": permissionString(r.Permissions), "position": i, "color": 0,
			"colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil}, "hoist": false,
			"managed":     r.Managed,
			"mentionable": r.Mentionable, "icon": nil, "unicode_emoji": nil, "flags": 0,
		}
		if r.ID == g.botRole {
			o["tags"] = object{"bot_id": r.Members[0]}
		}
		found = append(found, o)
	}
	return found
}

func (s *Server) wireGuild(g *guild) object {
	o := object{
		"id": g.ID, "name": g.Name, "icon": nil, "owner_id": cmp.Or(g.Owner, "1"), "roles": wireRoles(g),
		"emojis": []object{}, "features": []string{}, "preferred_locale": "en-US",
		"region": "deprecated", "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0,
		"explicit_content_filter": 0, "mfa_level": 0,
		"system_channel_flags": 0, "premium_tier": 0, "nsfw_level": 0, "stickers": []object{}, "max_members": 500000,
		"max_stage_video_channel_users": 50, "max_video_channel_users": 25, "premium_subscription_count": 0,
		"premium_progress_bar_enabled": false, "nsfw": false, "widget_enabled": false,
	}
	for _, key := range []string{
		"description", "home_header", "splash", "discovery_splash", "banner", "application_id", "afk_channel_id",
		"system_channel_id", "widget_channel_id",
		"max_presences", "vanity_url_code", "rules_channel_id", "safety_alerts_channel_id", "public_updates_channel_id",
		"incidents_data",
	} {
		o[key] = nil
	}
	return o
}

// wireGuildCreate encodes a guild with its channels and the bot's own member, as the gateway sends it.
func (s *Server) wireGuildCreate(g *guild) object {
	o := s.wireGuild(g)
	o["joined_at"], o["large"], o["unavailable"], o["member_count"] = wire.Timestamp(g.joined), false, false,
		len(g.members)
	o["channels"], o["threads"] = s.wireChannels(g, false), s.wireChannels(g, true)
	o["members"] = []object{s.wireMember(g, s.o.BotUserID, true)}
	for _, key := range []string{
		"voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds",
	} {
		o[key] = []object{}
	}
	return o
}

// wireChannels encodes the channels of a guild, or its threads that are not archived.
func (s *Server) wireChannels(g *guild, threads bool) []object {
	found := []object{}
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		if c := s.channels[id]; c.Guild == g.ID && c.isThread() == threads && !c.Archived {
			found = append(found, s.wireChannel(c))
		}
	}
	return found
}
