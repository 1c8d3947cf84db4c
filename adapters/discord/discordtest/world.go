package discordtest

import (
	"slices"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/snowflake"
)

// User is a person, a bot or a webhook.
type User struct {
	ID          string
	Name        string
	DisplayName string // the same as Name if empty
	IsBot       bool
	IsWebhook   bool // it is a webhook, which posts in any channel and is no member of a guild
}

// Guild is what users call a server. The bot is in it, with a role of its own, unless WithoutBot is set.
type Guild struct {
	ID         string
	Name       string
	Members    []string // without the bot
	Roles      []Role   // without @everyone and the bot's own
	WithoutBot bool     // the bot is not in it
	Owner      string   // a member, who may do everything; "": a user who is not on the fake
	// BotPermissions are those of the bot's own role; 0 means DefaultPermissions.
	BotPermissions int64
	// Everyone are the permissions of @everyone; 0 means DefaultPermissions.
	Everyone int64
}

// Role is a role of a guild. @everyone has the guild's id.
type Role struct {
	ID          string
	Name        string
	Permissions int64
	Members     []string
	Managed     bool // it belongs to a bot
	Mentionable bool
}

// Kind is Discord's number of a channel type.
type Kind int

// The kinds of channels.
const (
	Text          Kind = 0
	DM            Kind = 1
	Announcement  Kind = 5
	PublicThread  Kind = 11
	PrivateThread Kind = 12
	Forum         Kind = 15
)

// Channel is a channel of a guild, a thread or a DM.
type Channel struct {
	ID          string
	Guild       string // "" for a DM
	Kind        Kind
	Name        string
	Topic       string
	Parent      string // of a thread
	Owner       string // who made the thread
	Archived    bool   // of a thread
	Locked      bool   // of a thread
	Overwrites  []Overwrite
	AutoArchive int // minutes until a thread archives itself; it never does here
}

// guild is a guild with its members.
type guild struct {
	Guild
	members map[string]*member
	joined  time.Time
	botRole string
	blocked []string // words that automatic moderation refuses
}

// member is a user in a guild.
type member struct {
	user          string
	nick          string
	joined        time.Time
	timedOutUntil time.Time // zero: never
}

// channel is a channel with its messages.
type channel struct {
	Channel
	messages   []*record // in order of id
	byID       map[string]*record
	ephemerals []*record
	user       string // of a DM, beside the bot
	made       time.Time
}

func (c *channel) isThread() bool { return c.Kind == PublicThread || c.Kind == PrivateThread }

// AddUser adds or replaces a user, and returns them as a Person.
func (s *Server) AddUser(u User) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number(u.ID) == 0 {
		s.fatal("the id of a user is a number, not %q", u.ID)
	}
	s.users[u.ID] = &u
	s.changed()
	return &Person{s: s, ID: u.ID}
}

// AddGuild adds or replaces a guild; a connected app receives GUILD_CREATE.
func (s *Server) AddGuild(g Guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number(g.ID) == 0 {
		s.fatal("the id of a guild is a number, not %q", g.ID)
	}
	if g.BotPermissions == 0 {
		g.BotPermissions = DefaultPermissions
	}
	if g.Everyone == 0 {
		g.Everyone = DefaultPermissions
	}
	now := s.o.Now()
	have := s.guilds[g.ID]
	if have == nil {
		have = &guild{members: map[string]*member{}, joined: now, botRole: s.newID()}
		s.guilds[g.ID] = have
	}
	given := g.Roles
	g.Roles = []Role{{ID: g.ID, Name: "@everyone", Permissions: g.Everyone}}
	if !g.WithoutBot {
		g.Roles = append(g.Roles,
			Role{
				ID: have.botRole, Name: s.o.BotName, Permissions: g.BotPermissions, Managed: true,
				Members: []string{s.o.BotUserID},
			})
		g.Members = append([]string{s.o.BotUserID}, g.Members...)
	}
	g.Roles = append(g.Roles, given...)
	have.Guild = g
	have.members = map[string]*member{}
	for _, user := range g.Members {
		s.mustUser(user)
		have.members[user] = &member{user: user, joined: now}
	}
	if !g.WithoutBot {
		s.emit(nil,
			gateway.Event{
				Name: "GUILD_CREATE", Guild: g.ID, Intent: gateway.IntentGuilds, Full: s.wireGuildCreate(have),
			})
	}
	s.changed()
}

// AddRole adds or replaces a role of a guild, with its members.
func (s *Server) AddRole(guild string, r Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.mustGuild(guild)
	g.Roles = slices.DeleteFunc(slices.Clone(g.Roles), func(old Role) bool { return old.ID == r.ID })
	g.Roles = append(g.Roles, r)
	s.changed()
}

// Joins makes a user a member of a guild.
func (p *Person) Joins(id string) {
	p.changeGuild(id, func(g *guild) {
		if g.members[p.ID] == nil {
			g.members[p.ID] = &member{user: p.ID, joined: p.s.o.Now()}
		}
	})
}

// Leaves removes a user and their roles from a guild.
func (p *Person) Leaves(id string) {
	p.changeGuild(id, func(g *guild) {
		delete(g.members, p.ID)
		for i := range g.Roles {
			g.Roles[i].Members = slices.DeleteFunc(slices.Clone(g.Roles[i].Members), func(user string) bool {
				return user == p.ID
			})
		}
	})
}

func (p *Person) changeGuild(id string, change func(*guild)) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	change(p.s.mustGuild(id))
	p.s.changed()
}

// TimesOut times a member out: until then they can't post in the guild.
func (s *Server) TimesOut(guild, user string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.mustGuild(guild).members[user]
	if m == nil {
		s.fatal("%s can't be timed out: not in the guild %s", user, guild)
	}
	m.timedOutUntil = until
	s.changed()
}

// AddChannel adds a channel, or changes one and keeps its messages.
func (s *Server) AddChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number(c.ID) == 0 {
		s.fatal("the id of a channel is a number, not %q", c.ID)
	}
	if c.Kind != DM {
		s.mustGuild(c.Guild)
	}
	if old := s.channels[c.ID]; old != nil {
		old.Channel = c
	} else {
		s.openChannel(c)
	}
	s.changed()
}

func (s *Server) openChannel(c Channel) *channel {
	made := &channel{Channel: c, byID: map[string]*record{}, made: s.o.Now()}
	s.channels[c.ID] = made
	return made
}

// RemoveChannel deletes a channel with its threads and messages.
func (s *Server) RemoveChannel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChannel(id)
	for other, c := range s.channels {
		if other == id || c.Parent == id {
			delete(s.channels, other)
		}
	}
	s.changed()
}

// ArchiveThread archives a thread, locked or not.
func (s *Server) ArchiveThread(id string, locked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(id)
	c.Archived, c.Locked = true, locked
	s.emitThread("THREAD_UPDATE", c, nil)
	s.changed()
}

// DMWith returns the channel of direct messages between the bot and a user, and opens it if needed.
func (s *Server) DMWith(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openDM(user).ID
}

func (s *Server) openDM(user string) *channel {
	s.mustUser(user)
	if id := s.dms[user]; id != "" {
		return s.channels[id]
	}
	c := s.openChannel(Channel{ID: s.newID(), Kind: DM})
	c.user = user
	s.dms[user] = c.ID
	s.changed()
	return c
}

// RoleOfBot returns the id of the bot's own role in a guild.
func (s *Server) RoleOfBot(guild string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustGuild(guild).botRole
}

// must returns the object that a test names, and fails the test if there is none.
func must[T any](s *Server, all map[string]*T, what, id string) *T {
	found := all[id]
	if found == nil {
		s.fatal("there is no %s %q", what, id)
	}
	return found
}

func (s *Server) mustChannel(id string) *channel { return must(s, s.channels, "channel", id) }
func (s *Server) mustGuild(id string) *guild     { return must(s, s.guilds, "guild", id) }
func (s *Server) mustUser(id string) *User       { return must(s, s.users, "user", id) }

// mustMessage returns a message that a test names, ephemeral or not.
func (s *Server) mustMessage(in, id string) (*channel, *record) {
	c := s.mustChannel(in)
	r := c.find(id)
	if r == nil {
		s.fatal("there is no message %s in %s", id, in)
	}
	return c, r
}

// find returns a message of the channel, ephemeral or not, or nil.
func (c *channel) find(id string) *record {
	if r := c.byID[id]; r != nil {
		return r
	}
	if i := slices.IndexFunc(c.ephemerals, func(r *record) bool { return r.ID == id }); i >= 0 {
		return c.ephemerals[i]
	}
	return nil
}

// rolesOf returns the ids of a member's roles, without @everyone.
func (g *guild) rolesOf(user string) []string {
	found := []string{}
	for _, r := range g.Roles {
		if r.ID != g.ID && slices.Contains(r.Members, user) {
			found = append(found, r.ID)
		}
	}
	return found
}

// number reads an id; an invalid one counts as 0.
func number(id string) uint64 { return snowflake.Number(id) }

func (s *Server) newID() string { return s.ids.Next(s.o.Now()) }

// SnowflakeTime returns when an id was made; the zero time for an invalid id.
func SnowflakeTime(id string) time.Time { return snowflake.Time(id) }
