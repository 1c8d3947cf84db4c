package slacktest

import (
	"cmp"
	"maps"
	"slices"

	"gatehouse/adapters/internal/fakeserver"
)

// User is a person or a bot in the workspace.
type User struct {
	ID       string
	Name     string
	RealName string // the same as Name if empty
	TZ       string // "Europe/London" if empty
	TZOffset int    // in seconds
	IsBot    bool
	BotID    string // of a bot
	AppID    string // of a bot
	Workflow bool   // of a bot: it is a workflow, whose messages have no user
	Deleted  bool
	TeamID   string // another one for a guest from outside
}

// Kind is the kind of a conversation, as named in events.
type Kind string

// The kinds of conversations.
const (
	Public  Kind = "channel"
	Private Kind = "group"
	DM      Kind = "im"
	GroupDM Kind = "mpim"
)

// Channel is a conversation of any kind.
type Channel struct {
	ID        string
	Name      string
	Kind      Kind // Public if empty
	Members   []string
	Archived  bool
	ExtShared bool // shared with another workspace
}

// Group is a user group.
type Group struct {
	ID      string
	Handle  string
	Members []string
}

// channel is a conversation with its messages.
type channel struct {
	Channel
	messages   []*record // in order of ts
	byTS       map[string]*record
	threads    map[string][]*record // the replies by their parent's ts
	ephemerals []*record
	user       string // the other side of a DM
}

// record is a message, and whether reads show it yet.
type record struct {
	Message
	fakeserver.Visibility
}

func newChannel(c Channel, user string) *channel {
	return &channel{Channel: c, byTS: map[string]*record{}, threads: map[string][]*record{}, user: user}
}

// AddUser adds or changes a user, and returns them as a person who can act.
func (s *Server) AddUser(u User) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.TeamID, u.RealName, u.TZ = cmp.Or(u.TeamID, s.o.TeamID), cmp.Or(u.RealName, u.Name), cmp.Or(u.TZ, "Europe/London")
	if u.IsBot {
		u.BotID, u.AppID = cmp.Or(u.BotID, s.ids.next("B")), cmp.Or(u.AppID, s.ids.next("A"))
	}
	s.users[u.ID] = &u
	s.changed()
	return &Person{s: s, ID: u.ID}
}

// AddChannel adds a conversation, or changes one and keeps its messages.
func (s *Server) AddChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Kind = cmp.Or(c.Kind, Public)
	c.Members = slices.Clone(c.Members)
	if old := s.channels[c.ID]; old != nil {
		old.Channel = c
	} else {
		s.channels[c.ID] = newChannel(c, "")
	}
	s.changed()
}

// AddGroup adds a user group, or changes its members.
func (s *Server) AddGroup(g Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.Members = slices.Clone(g.Members)
	s.groups[g.ID] = &g
	s.changed()
}

// DMWith returns the id of the direct messages between the bot and a user, and opens them if necessary.
func (s *Server) DMWith(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openDM(user).ID
}

func (s *Server) openDM(user string) *channel {
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		if c := s.channels[id]; c.Kind == DM && c.user == user {
			return c
		}
	}
	c := newChannel(Channel{ID: s.ids.next("D"), Kind: DM, Members: []string{user, s.o.BotUserID}}, user)
	s.channels[c.ID] = c
	s.changed()
	return c
}

// Invite makes a user, or the bot, a member of a channel.
func (s *Server) Invite(channel, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	if !slices.Contains(c.Members, user) {
		c.Members = append(slices.Clone(c.Members), user)
		s.changed()
	}
}

// Remove removes a user, or the bot, from a channel.
func (s *Server) Remove(channel, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	c.Members = slices.DeleteFunc(slices.Clone(c.Members), func(member string) bool { return member == user })
	s.changed()
}

// Archive closes a channel for new messages.
func (s *Server) Archive(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChannel(channel).Archived = true
	s.changed()
}

// mustChannel returns a channel, and fails the test if there is none.
func (s *Server) mustChannel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		s.fatal("there is no channel %q", id)
	}
	return c
}

// fatal reports a mistake in the use of the fake. Fatalf ends the goroutine or panics; the callers release the lock by
// defer.
func (s *Server) fatal(format string, args ...any) {
	s.o.Fatalf(format, args...)
	panic("slacktest: Fatalf returned")
}

func (c *channel) has(user string) bool { return slices.Contains(c.Members, user) }
