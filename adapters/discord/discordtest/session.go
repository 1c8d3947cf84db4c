package discordtest

import (
	"fmt"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// session is a session of the gateway, with a connection or waiting for a resume.
type session struct {
	id      string
	shard   [2]int
	intents int
	life    time.Duration
	ready   bool
	seq     int64
	events  []sent
	conn    *Connection
	lostAt  time.Time // when its connection ended
	dead    bool
}

// alive says whether the session has a connection or could be resumed.
func (k *session) alive(now time.Time) bool {
	return !k.dead && (k.conn != nil || now.Sub(k.lostAt) < k.life)
}

// hasGuild says whether a guild's events come to this shard; those of DMs come to the first.
func (k *session) hasGuild(guild string) bool {
	return int((number(guild)>>22)%uint64(k.shard[1])) == k.shard[0]
}

// Identify is an identify that came in.
type Identify struct {
	At       time.Time
	Shard    [2]int
	Intents  int
	Compress bool
	Session  string // of an accepted one
	Refused  string // why it was not accepted: "op 9", "4004", ...
	Conn     int    // the ID of the connection
}

// Resume is a resume that came in.
type Resume struct {
	At       time.Time
	Session  string
	Seq      int64
	Replayed int    // events sent again
	Refused  string // why it was not accepted
	Proper   bool   // it came to the address that READY named
	Conn     int
}

// Identifies are the identifies so far.
func (s *Server) Identifies() []Identify {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Identify{}, s.identifies...)
}

// Resumes are the resumes so far.
func (s *Server) Resumes() []Resume {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Resume{}, s.resumes...)
}

// Sessions counts the sessions that have a connection.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, k := range s.order {
		if k.conn != nil && !k.dead {
			n++
		}
	}
	return n
}

// ForgetSessions lets no session so far be resumed; those with a connection keep it until it ends.
func (s *Server) ForgetSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.order {
		k.life = 0
	}
}

// ReplayMore makes resumes send so many events again that the client says it has.
func (s *Server) ReplayMore(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replayMore = n
}

// identify begins a session, or refuses. The caller holds the lock.
func (c *Connection) identify(data identifyData) {
	s := c.s
	now := s.o.Now()
	seen := Identify{At: now, Shard: [2]int{0, 1}, Intents: data.Intents, Compress: data.Compress, Conn: c.ID}
	if data.Shard != nil {
		seen.Shard = *data.Shard
	}
	defer func() {
		s.identifies = append(s.identifies, seen)
		s.changed()
	}()
	refuse := func(code int, text string) {
		seen.Refused = fmt.Sprint(code)
		c.closeWith(code, text)
	}
	if !s.goodToken("Bot " + plainToken(data.Token)) {
		refuse(4004, "Authentication failed.")
		return
	}
	if !s.countIdentify(now) {
		refuse(4004, "Authentication failed.")
		return
	}
	switch {
	case seen.Shard[1] < 1 || seen.Shard[0] < 0 || seen.Shard[0] >= seen.Shard[1]:
		refuse(4010, "Invalid shard.")
		return
	case seen.Shard[1] < s.o.RequireShards:
		refuse(4011, "Sharding required.")
		return
	case data.Intents&^knownIntents != 0 || data.Intents < 0:
		refuse(4013, "Invalid intent(s).")
		return
	case data.Intents&s.denied&privilegedIntents != 0:
		refuse(4014, "Disallowed intent(s).")
		return
	}
	key := seen.Shard[0] % s.o.MaxConcurrency
	if last, is := s.lastIdentify[key]; is && s.o.IdentifyEvery > 0 && now.Sub(last) < s.o.IdentifyEvery {
		seen.Refused = "op 9"
		c.enqueue(opFrame(opInvalidSession, false))
		return
	}
	s.lastIdentify[key] = now
	k := &session{id: secret(), shard: seen.Shard, intents: data.Intents, life: s.o.SessionLife}
	seen.Session = k.id
	s.forgetDead(now)
	s.sessions[k.id] = k
	s.order = append(s.order, k)
	c.compress = data.Compress
	c.attach(k)
	k.send("READY", fakeserver.JSON(s.readyData(k)))
	k.ready = true
	if k.intents&IntentGuilds != 0 {
		for _, g := range s.guildsOfBot() {
			if k.hasGuild(g.ID) {
				k.send("GUILD_CREATE", fakeserver.JSON(s.wireGuildCreate(g)))
			}
		}
	}
}

// forgetDead lets go of what sessions keep that nobody can resume.
func (s *Server) forgetDead(now time.Time) {
	kept := s.order[:0:0]
	for _, k := range s.order {
		if k.alive(now) {
			kept = append(kept, k)
			continue
		}
		k.dead, k.events = true, nil
	}
	s.order = kept
}

// countIdentify counts an identify of the day. One too many resets the token, and every session ends.
func (s *Server) countIdentify(now time.Time) bool {
	if s.dayBegan.IsZero() || now.Sub(s.dayBegan) >= 24*time.Hour {
		s.dayBegan, s.dayCount = now, 0
	}
	s.dayCount++
	if s.dayCount <= s.o.IdentifyBudget {
		return true
	}
	s.revoked = true
	s.disasters = append(s.disasters, fmt.Sprintf("the token was reset after %d identifies within a day", s.o.IdentifyBudget))
	for _, k := range s.order {
		k.dead = true
		if k.conn != nil {
			k.conn.closeWith(4004, "Authentication failed.")
		}
	}
	return false
}

func (s *Server) readyData(k *session) object {
	guilds := []object{}
	for _, g := range s.guildsOfBot() {
		if k.hasGuild(g.ID) {
			guilds = append(guilds, object{"id": g.ID, "unavailable": true})
		}
	}
	u := s.wireUser(s.o.BotUserID)
	u["verified"], u["mfa_enabled"], u["email"], u["flags"] = true, true, nil, 0
	return object{
		"v": 10, "user": u, "guilds": guilds, "session_id": k.id, "resume_gateway_url": s.resumeURL(), "shard": k.shard, "session_type": "normal",
		"application": object{"id": s.o.ApplicationID, "flags": s.appFlags()}, "private_channels": []object{}, "relationships": []object{}, "presences": []object{},
		"user_settings": object{}, "geo_ordered_rtc_regions": []string{}, "_trace": []string{"discordtest"},
	}
}

// resume goes on with a session, or refuses.
func (c *Connection) resume(data resumeData) {
	s := c.s
	now := s.o.Now()
	seen := Resume{At: now, Session: data.SessionID, Seq: data.Seq, Proper: c.onResume, Conn: c.ID}
	defer func() {
		s.resumes = append(s.resumes, seen)
		s.changed()
	}()
	k := s.sessions[data.SessionID]
	switch {
	case !s.goodToken("Bot " + plainToken(data.Token)):
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
		if e.seq > data.Seq-int64(s.replayMore) {
			c.enqueue(e.frame)
			seen.Replayed++
		}
	}
	k.send("RESUMED", []byte(`{"_trace":["discordtest"]}`))
}

// attach gives a session its connection.
func (c *Connection) attach(k *session) {
	c.session, c.of, c.known = k, k.id, true
	c.shard = k.shard
	k.conn = c
	k.lostAt = time.Time{}
}
