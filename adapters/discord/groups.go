package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// Numbers of what is remembered of roles.
const (
	rankLasts  = 30 * time.Second // a person who loses a role decides no longer than that
	rankKept   = 5000
	homeLasts  = 10 * time.Minute // which server a role belongs to
	guildsPage = 200              // servers of one call: Discord's limit
	guildPages = 20
)

// ranks knows who has which role, for a while.
type ranks struct {
	discord *Discord

	mu      sync.Mutex
	members map[string]remembrance // by server and person
	homes   map[string]string      // the server of a role
	looked  time.Time              // when all servers' roles were last read
}

type remembrance struct {
	roles []string
	until time.Time
}

func newRanks(d *Discord) *ranks {
	return &ranks{discord: d, members: map[string]remembrance{}, homes: map[string]string{}}
}

// NameOf gives no name: the names that Discord knows people by come with their events.
func (d *Discord) NameOf(context.Context, core.Actor) string { return "" }

// Groups gives which of the wanted roles (discord:role:…) a person has. A role that no server of the bot's has, or that the bot may
// not ask for, has nobody; where Discord can't be asked now the error is retryable.
func (d *Discord) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	person, ok := strings.CutPrefix(who.ID, Name+":")
	if !ok || !isID(person) {
		return nil, nil
	}
	var in []string
	for _, id := range wanted {
		role, ok := roleID(id)
		if !ok {
			continue
		}
		guild, err := d.ranks.home(ctx, role)
		if err != nil {
			return nil, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked now who has the role %s.", role)
		}
		if guild == "" {
			d.once("a role of approvers is in none of the bot's servers; nobody counts as having it", "role", role)
			continue
		}
		has, err := d.ranks.of(ctx, guild, person)
		if err != nil {
			return nil, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked now who has the role %s.", role)
		}
		if slices.Contains(has, role) {
			in = append(in, id)
		}
	}
	return in, nil
}

// roleID reads discord:role:789.
func roleID(approver string) (string, bool) {
	id, ok := strings.CutPrefix(approver, Name+":role:")
	return id, ok && isID(id)
}

// of gives the roles that a person has in a server: none where they are not in it.
func (r *ranks) of(ctx context.Context, guild, person string) ([]string, error) {
	now := r.discord.Now()
	r.mu.Lock()
	known, ok := r.members[guild+"/"+person]
	r.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.roles, nil
	}
	var m struct {
		Roles []string `json:"roles"`
	}
	err := r.discord.call(ctx, http.MethodGet, "/guilds/"+guild+"/members/"+person, nil, &m)
	if err != nil && !isGone(err) {
		return nil, err
	}
	r.learn(guild, person, m.Roles)
	return m.Roles, nil
}

// learn remembers which roles a person has, as Discord told with what they did just now.
func (r *ranks) learn(guild, person string, roles []string) {
	until := r.discord.Now().Add(rankLasts)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.members) >= rankKept {
		clear(r.members)
	}
	r.members[guild+"/"+person] = remembrance{roles, until}
	for _, role := range roles {
		if len(r.homes) < rankKept {
			r.homes[role] = guild
		}
	}
}

// home gives the server of a role, "" where none of the bot's has it.
func (r *ranks) home(ctx context.Context, role string) (string, error) {
	if guild := r.discord.atlas.homeOf(role); guild != "" {
		return guild, nil
	}
	now := r.discord.Now()
	r.mu.Lock()
	guild, fresh := r.homes[role], now.Before(r.looked.Add(homeLasts))
	r.mu.Unlock()
	if guild != "" || fresh {
		return guild, nil
	}
	guilds, err := r.guilds(ctx)
	if err != nil {
		return "", err
	}
	homes := map[string]string{}
	for _, g := range guilds {
		known, err := r.discord.atlas.rolesOf(ctx, g)
		if err != nil {
			return "", err
		}
		for id := range known.names {
			homes[id] = g
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.homes, r.looked = homes, now
	return homes[role], nil
}

// guilds gives the servers that the bot is in.
func (r *ranks) guilds(ctx context.Context) ([]string, error) {
	var all []string
	after := "0"
	for range guildPages {
		var page []struct {
			ID string `json:"id"`
		}
		if err := r.discord.call(ctx, http.MethodGet, "/users/@me/guilds?limit=200&after="+after, nil, &page); err != nil {
			return nil, err
		}
		for _, g := range page {
			if isID(g.ID) {
				all, after = append(all, g.ID), g.ID
			}
		}
		if len(page) < guildsPage {
			break
		}
	}
	return all, nil
}
