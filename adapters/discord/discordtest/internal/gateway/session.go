package gateway

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/snowflake"
	"gatehouse/adapters/internal/fakeserver"
)

// session is a session of the gateway, with a connection or waiting for a resume.
type session struct {
	id       string
	shard    [2]int
	intents  int
	lifetime time.Duration
	ready    bool
	seq      int64
	events   []sent
	conn     *Connection
	lostAt   time.Time // when its connection ended
	dead     bool
}

// alive reports whether the session has a connection or can be resumed.
func (k *session) alive(now time.Time) bool {
	return !k.dead && (k.conn != nil || now.Sub(k.lostAt) < k.lifetime)
}

// HasGuild reports whether a guild's events are sent to a shard; those of DMs are sent to the first.
func HasGuild(shard [2]int, guild string) bool {
	return int((snowflake.Number(guild)>>22)%uint64(shard[1])) == shard[0]
}

// Identify is a received identify.
type Identify struct {
	At       time.Time
	Shard    [2]int
	Intents  int
	Compress bool
	Session  string // of an accepted one
	Refused  string // why it was not accepted: "op 9", "4004", ...
	Conn     int    // the ID of the connection
}

// Resume is a received resume.
type Resume struct {
	At       time.Time
	Session  string
	Seq      int64
	Replayed int    // events sent again
	Refused  string // why it was not accepted
	Proper   bool   // received at the address that READY named
	Conn     int
}

// Identifies returns the identifies so far.
func (g *Gateway) Identifies() []Identify {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Identify{}, g.identifies...)
}

// Resumes returns the resumes so far.
func (g *Gateway) Resumes() []Resume {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Resume{}, g.resumes...)
}

// Sessions counts the sessions that have a connection.
func (g *Gateway) Sessions() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, k := range g.order {
		if k.conn != nil && !k.dead {
			n++
		}
	}
	return n
}

// ForgetSessions makes all sessions so far impossible to resume; those with a connection keep it until it ends.
func (g *Gateway) ForgetSessions() {
	g.change(func() {
		for _, k := range g.order {
			k.lifetime = 0
		}
	})
}

// ReplayMore makes resumes replay this many events that the client has already received.
func (g *Gateway) ReplayMore(n int) { g.change(func() { g.replayMore = n }) }

// identify begins a session or refuses to. The caller holds the lock.
func (c *Connection) identify(data identifyData) {
	g := c.g
	now := g.o.Now()
	seen := Identify{At: now, Shard: [2]int{0, 1}, Intents: data.Intents, Compress: data.Compress, Conn: c.ID}
	if data.Shard != nil {
		seen.Shard = *data.Shard
	}
	defer func() {
		g.identifies = append(g.identifies, seen)
		g.host.Changed()
	}()
	refuse := func(code int, text string) {
		seen.Refused = fmt.Sprint(code)
		c.closeWith(code, text)
	}
	if !g.o.GoodToken(plainToken(data.Token)) {
		refuse(4004, "Authentication failed.")
		return
	}
	if !g.countIdentify(now) {
		refuse(4004, "Authentication failed.")
		return
	}
	if seen.Refused = c.refuses(opIdentify); seen.Refused != "" {
		return
	}
	switch {
	case seen.Shard[1] < 1 || seen.Shard[0] < 0 || seen.Shard[0] >= seen.Shard[1]:
		refuse(4010, "Invalid shard.")
		return
	case seen.Shard[1] < g.o.RequireShards:
		refuse(4011, "Sharding required.")
		return
	case data.Intents&^knownIntents != 0 || data.Intents < 0:
		refuse(4013, "Invalid intent(s).")
		return
	case data.Intents&g.o.Denied()&privilegedIntents != 0:
		refuse(4014, "Disallowed intent(s).")
		return
	}
	key := seen.Shard[0] % g.o.MaxConcurrency
	if last, is := g.lastIdentify[key]; is && g.o.IdentifyEvery > 0 && now.Sub(last) < g.o.IdentifyEvery {
		seen.Refused = "op 9"
		c.enqueue(opFrame(opInvalidSession, false))
		return
	}
	g.lastIdentify[key] = now
	k := &session{
		id: strings.ToLower(rand.Text()), shard: seen.Shard, intents: data.Intents, lifetime: g.o.SessionLifetime,
	}
	seen.Session = k.id
	g.forgetDead(now)
	g.sessions[k.id] = k
	g.order = append(g.order, k)
	c.compress = data.Compress
	c.attach(k)
	k.send("READY", fakeserver.JSON(g.o.Ready(k.id, k.shard)))
	k.ready = true
	if k.intents&IntentGuilds != 0 {
		for _, guild := range g.o.Guilds(k.shard) {
			k.send("GUILD_CREATE", fakeserver.JSON(guild))
		}
	}
}

// forgetDead discards the events of sessions that can no longer be resumed.
func (g *Gateway) forgetDead(now time.Time) {
	kept := g.order[:0:0]
	for _, k := range g.order {
		if k.alive(now) {
			kept = append(kept, k)
			continue
		}
		k.dead, k.events = true, nil
	}
	g.order = kept
}

// resume continues a session or refuses to. The caller holds the lock.
func (c *Connection) resume(data resumeData) {
	g := c.g
	now := g.o.Now()
	seen := Resume{At: now, Session: data.SessionID, Seq: data.Seq, Proper: c.onResume, Conn: c.ID}
	defer func() {
		g.resumes = append(g.resumes, seen)
		g.host.Changed()
	}()
	if seen.Refused = c.refuses(opResume); seen.Refused != "" {
		return
	}
	k := g.sessions[data.SessionID]
	switch {
	case !g.o.GoodToken(plainToken(data.Token)):
		seen.Refused = "4004"
		c.closeWith(4004, "Authentication failed.")
		return
	case k == nil || !k.alive(now):
		seen.Refused = "op 9"
		c.enqueue(opFrame(opInvalidSession, false))
		return
	case data.Seq > k.seq:
		seen.Refused = "4007"
		c.closeWith(4007, "Invalid seq.")
		return
	case len(k.events) > 0 && data.Seq+1 < k.events[0].seq:
		seen.Refused = "op 9"
		k.dead = true
		c.enqueue(opFrame(opInvalidSession, false))
		return
	}
	if old := k.conn; old != nil { // the new connection takes over
		old.session, k.conn = nil, nil
		old.closeWith(4000, "Session taken over.")
	}
	c.attach(k)
	for _, e := range k.events {
		if e.seq > data.Seq-int64(g.replayMore) {
			c.enqueue(e.frame)
			seen.Replayed++
		}
	}
	k.send("RESUMED", []byte(`{"_trace":["discordtest"]}`))
}

// attach connects a session.
func (c *Connection) attach(k *session) {
	c.session, c.of, c.known = k, k.id, true
	c.shard = k.shard
	k.conn = c
	k.lostAt = time.Time{}
}
