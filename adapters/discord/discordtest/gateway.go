package discordtest

import (
	"net/http"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/internal/fakeserver"
)

// Dial is the route name of opening a gateway connection, in the log of calls and in faults.
const Dial = "(dial)"

// Connection is one connection to the gateway, open or not.
type Connection = gateway.Connection

// Refusal is how the gateway answers an identify or a resume instead of taking it.
type Refusal = gateway.Refusal

// The privileged intents.
const (
	IntentMembers        = gateway.IntentMembers
	IntentPresences      = gateway.IntentPresences
	IntentMessageContent = gateway.IntentMessageContent
)

// newGateway makes the gateway of this fake.
func (s *Server) newGateway() *gateway.Gateway {
	return gateway.New(gateway.Config{
		Host: s.host, Lock: &s.mu, Now: s.o.Now, LimitNow: s.o.LimitNow, HeartbeatInterval: s.o.HeartbeatInterval,
		SessionLifetime: s.o.SessionLifetime,
		IdentifyEvery:   s.o.IdentifyEvery, IdentifyBudget: s.o.IdentifyBudget, MaxConcurrency: s.o.MaxConcurrency,
		RequireShards: s.o.RequireShards,
		GoodToken:     func(token string) bool { return s.goodToken("Bot " + token) },
		Denied:        func() int { return s.denied },
		Reset: func(why string) {
			s.revoked = true
			s.penalties = append(s.penalties, why)
		},
		Ready: s.readyData,
		Guilds: func(shard [2]int) (found []any) {
			for _, g := range s.guildsOfBot() {
				if gateway.HasGuild(shard, g.ID) {
					found = append(found, s.wireGuildCreate(g))
				}
			}
			return found
		},
	})
}

func (s *Server) readyData(session string, shard [2]int) any {
	guilds := []object{}
	for _, g := range s.guildsOfBot() {
		if gateway.HasGuild(shard, g.ID) {
			guilds = append(guilds, object{"id": g.ID, "unavailable": true})
		}
	}
	u := s.wireUser(s.o.BotUserID)
	u["verified"], u["mfa_enabled"], u["email"], u["flags"] = true, true, nil, 0
	return object{
		"v": 10, "user": u, "guilds": guilds, "session_id": session, "resume_gateway_url": s.resumeURL(),
		"shard": shard, "session_type": "normal",
		"application": object{"id": s.o.ApplicationID, "flags": s.appFlags()}, "private_channels": []object{},
		"relationships": []object{}, "presences": []object{},
		"user_settings": object{}, "geo_ordered_rtc_regions": []string{}, "_trace": []string{"discordtest"},
	}
}

// serveGateway opens a gateway connection, at the general address or at the one for resumes.
func (s *Server) serveGateway(onResume bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call := fakeserver.Begin(&s.Record, s.callOf(Dial, r))
		if call.Before(w, r) {
			return
		}
		if gateway.Refuses(s.Gateway) {
			call.Finish(http.StatusServiceUnavailable, nil)
			http.Error(w, "no gateway", http.StatusServiceUnavailable)
			return
		}
		call.Finish(http.StatusSwitchingProtocols, nil)
		gateway.Serve(s.Gateway, w, r, onResume)
	}
}

// emit sends an event to the sessions, if the bot can see where it happened; c is nil for an event of no channel. The
// caller holds the lock.
func (s *Server) emit(c *channel, e gateway.Event) {
	if g := s.guilds[e.Guild]; g != nil && g.WithoutBot {
		return
	}
	if c == nil || s.botSees(c) {
		gateway.Emit(s.Gateway, e)
	}
}

// intentFor returns the intent that an event of a channel needs.
func intentFor(c *channel, guild, direct int) int {
	if c.Guild == "" {
		return direct
	}
	return guild
}
