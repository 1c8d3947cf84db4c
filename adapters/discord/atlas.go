package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"gatehouse/core"
)

// atlas knows what must be known of a message's place before it can be stored: whether its channel is a thread, and which role is the
// bot's own. The gateway tells it; where it did not (a resumed session tells nothing anew), Discord is asked.
type atlas struct {
	discord *Discord

	mu     sync.Mutex
	places map[string]spot
	guilds map[string]roles
}

// spot is a channel or a thread.
type spot struct {
	Guild  string
	Parent string // of a thread
	Thread bool
	Voice  bool // no thread can be opened in it
	Name   string
}

// roles are a server's.
type roles struct {
	bots  map[string]string // the role that is a bot's own, by the bot
	names map[string]string
}

// maxPlaces is how many channels are remembered before all are forgotten; they are asked for again.
const maxPlaces = 100_000

func newAtlas(d *Discord) *atlas {
	return &atlas{discord: d, places: map[string]spot{}, guilds: map[string]roles{}}
}

// channel is what is read of a channel or thread.
type channel struct {
	ID     string `json:"id"`
	Guild  string `json:"guild_id"`
	Parent string `json:"parent_id"`
	Type   int    `json:"type"`
	Name   string `json:"name"`
}

// The types of channels. Where people speak there is a chat too.
const (
	typeText          = 0
	typeVoice         = 2
	typeNews          = 5
	typeNewsThread    = 10
	typePublicThread  = 11
	typePrivateThread = 12
	typeStage         = 13
	typeForum         = 15
	typeMedia         = 16
)

func (c channel) spot(guild string) spot {
	if c.Guild != "" {
		guild = c.Guild
	}
	s := spot{Guild: guild, Name: c.Name, Thread: c.Type >= typeNewsThread && c.Type <= typePrivateThread, Voice: c.Type == typeVoice || c.Type == typeStage}
	if s.Thread {
		s.Parent = c.Parent
	}
	return s
}

// role is what is read of one.
type role struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Tags struct {
		Bot string `json:"bot_id"`
	} `json:"tags"`
}

// learn takes what the gateway tells of servers, channels, threads and roles.
func (a *atlas) learn(kind string, data []byte) error {
	switch kind {
	case "GUILD_CREATE":
		var g struct {
			ID       string    `json:"id"`
			Channels []channel `json:"channels"`
			Threads  []channel `json:"threads"`
			Roles    []role    `json:"roles"`
		}
		if err := json.Unmarshal(data, &g); err != nil {
			return err
		}
		a.chart(g.ID, append(g.Channels, g.Threads...))
		if g.Roles != nil {
			a.ranks(g.ID, g.Roles)
		}
	case "THREAD_LIST_SYNC":
		var l struct {
			Guild   string    `json:"guild_id"`
			Threads []channel `json:"threads"`
		}
		if err := json.Unmarshal(data, &l); err != nil {
			return err
		}
		a.chart(l.Guild, l.Threads)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c channel
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		a.chart(c.Guild, []channel{c})
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		var r struct {
			Guild string `json:"guild_id"`
		}
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.guilds, r.Guild)
	}
	return nil
}

func (a *atlas) chart(guild string, channels []channel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.places)+len(channels) > maxPlaces {
		clear(a.places)
	}
	for _, c := range channels {
		if isID(c.ID) {
			a.places[c.ID] = c.spot(guild)
		}
	}
}

func (a *atlas) ranks(guild string, all []role) {
	r := roles{bots: map[string]string{}, names: make(map[string]string, len(all))}
	for _, one := range all {
		r.names[one.ID] = one.Name
		if one.Tags.Bot != "" {
			r.bots[one.Tags.Bot] = one.ID
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.guilds[guild] = r
}

// knows reports whether Discord need not be asked of a message's place.
func (a *atlas) knows(at whereabouts) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, place := a.places[at.Channel]
	_, roles := a.guilds[at.Guild]
	return place && (roles || len(at.Roles) == 0)
}

// place tells what a channel is. One that the bot may not see is taken for a channel. Error: provider_unavailable, ask again.
func (a *atlas) place(ctx context.Context, id string) (spot, error) {
	a.mu.Lock()
	s, ok := a.places[id]
	a.mu.Unlock()
	if ok {
		return s, nil
	}
	var c channel
	err := a.discord.call(ctx, http.MethodGet, "/channels/"+id, nil, &c)
	switch {
	case err == nil:
		c.ID = id
	case isGone(err):
		return spot{}, nil
	default:
		return spot{}, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked what the channel %s is.", id)
	}
	a.chart(c.Guild, []channel{c})
	return c.spot(""), nil
}

// rolesOf gives the roles of a server. Error: provider_unavailable, ask again.
func (a *atlas) rolesOf(ctx context.Context, guild string) (roles, error) {
	a.mu.Lock()
	r, ok := a.guilds[guild]
	a.mu.Unlock()
	if ok {
		return r, nil
	}
	var all []role
	err := a.discord.call(ctx, http.MethodGet, "/guilds/"+guild+"/roles", nil, &all)
	switch {
	case err == nil:
	case isGone(err):
		return roles{}, nil
	default:
		return roles{}, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked for the roles of the server %s.", guild)
	}
	a.ranks(guild, all)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.guilds[guild], nil
}

// homeOf gives the server that is known to have a role, or "".
func (a *atlas) homeOf(role string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for guild, r := range a.guilds {
		if _, ok := r.names[role]; ok {
			return guild
		}
	}
	return ""
}

// name gives what a channel ('#') or role ('&') is called, as far as the gateway told; "" where it did not.
func (a *atlas) name(guild string, kind byte, id string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if kind == '#' {
		return a.places[id].Name
	}
	return a.guilds[guild].names[id]
}

// isGone reports that Discord itself knows no such thing, or that the bot may not see it.
func isGone(err error) bool {
	var r *refusal
	return errors.As(err, &r) && !r.Foreign && (r.Status == http.StatusNotFound || r.Status == http.StatusForbidden)
}
