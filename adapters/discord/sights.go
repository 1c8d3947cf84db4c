package discord

import (
	"context"
	"net/http"
	"sync"
	"time"

	"gatehouse/core"
)

// Numbers of what is remembered of who sees what.
const (
	sightLasts  = 30 * time.Second // as long as what is remembered of roles
	directLasts = time.Hour        // which channel leads to a person; it stays the same
	sightsKept  = 5000             // of each, before all are forgotten
)

// sights remember for a while what tells who sees a channel: a card asks it for each approver, and as often as it is tried.
type sights struct {
	servers recalled[server]
	members recalled[memberOf]
	grounds recalled[ground]
	directs recalled[string]
}

// server is what is read of a server.
type server struct {
	Owner string `json:"owner_id"`
	Ranks []rank `json:"roles"`
}

// memberOf is what is read of a member of a server.
type memberOf struct {
	Roles []string `json:"roles"`
}

// recalled are answers of Discord, refusals among them, by what was asked.
type recalled[T any] struct {
	mu   sync.Mutex
	kept map[string]answered[T]
}

type answered[T any] struct {
	value T
	err   error
	until time.Time
}

// of gives an answer that is not too old, or asks. That Discord can't tell now is not remembered.
func (r *recalled[T]) of(now time.Time, lasts time.Duration, what string, ask func() (T, error)) (T, error) {
	r.mu.Lock()
	known, ok := r.kept[what]
	r.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.value, known.err
	}
	value, err := ask()
	switch core.CategoryOf(err) {
	case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
		return value, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) >= sightsKept || r.kept == nil {
		r.kept = map[string]answered[T]{}
	}
	r.kept[what] = answered[T]{value, err, now.Add(lasts)}
	return value, err
}

// seesIn reports whether a person sees a channel of a server. Its owner, and who administrates it, see all of them.
func (d *Discord) seesIn(ctx context.Context, guild, channel, user string) (bool, error) {
	now := d.Now()
	member, err := d.sights.members.of(now, sightLasts, guild+"/"+user, func() (m memberOf, err error) {
		err = d.call(ctx, http.MethodGet, "/guilds/"+guild+"/members/"+user, nil, &m)
		return m, err
	})
	if isRefusal(err, codeUnknownMember, codeUnknownUser) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	in, err := d.sights.servers.of(now, sightLasts, guild, func() (s server, err error) {
		err = d.call(ctx, http.MethodGet, "/guilds/"+guild, nil, &s)
		return s, err
	})
	if err != nil || user == in.Owner {
		return true, err
	}
	if powersIn(guild, user, member.Roles, in.Ranks, nil).may(bitAdministrator) {
		return true, nil
	}
	at, err := d.sights.grounds.of(now, sightLasts, channel, func() (ground, error) { return d.ground(ctx, channel) })
	return powersIn(guild, user, member.Roles, in.Ranks, at.Exceptions).may(bitView), err
}

// directTo gives the channel of the bot's direct messages with a person.
func (d *Discord) directTo(ctx context.Context, user string) (string, error) {
	return d.sights.directs.of(d.Now(), directLasts, user, func() (string, error) {
		var made sent // only the id
		if err := d.call(ctx, http.MethodPost, "/users/@me/channels", map[string]any{"recipient_id": user}, &made); err != nil {
			return "", err
		}
		if !isSnowflake(made.ID) {
			return "", core.Errorf(core.DeliveryLater, "Discord does not say which channel leads to a person.")
		}
		return made.ID, nil
	})
}
