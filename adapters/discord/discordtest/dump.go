package discordtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// Dump returns everything on the platform as text for golden files. Ids made by the fake are replaced by numbers in
// order.
func (s *Server) Dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	for _, id := range s.channelIDs() {
		s.dumpChannel(&out, s.channels[id])
	}
	for _, user := range slices.Sorted(maps.Keys(s.modals)) {
		m := s.modals[user]
		fmt.Fprintf(&out, "modal of %s: %s\n", s.nameOf(user), m.Title)
		for _, in := range m.Inputs {
			fmt.Fprintf(&out, "  %s: %s\n", in.Label, in.Value)
		}
	}
	return s.normalized(out.String())
}

// DumpChannel returns the part of Dump about one channel or thread.
func (s *Server) DumpChannel(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	s.dumpChannel(&out, s.mustChannel(channel))
	return s.normalized(out.String())
}

// channelIDs returns all channels, each followed by its threads.
func (s *Server) channelIDs() []string {
	ids := slices.Collect(maps.Keys(s.channels))
	slices.SortFunc(ids, func(a, b string) int {
		root := func(id string) string {
			if c := s.channels[id]; c.isThread() && s.channels[c.Parent] != nil {
				return c.Parent
			}
			return id
		}
		if ra, rb := root(a), root(b); ra != rb {
			return strings.Compare(ra, rb)
		}
		if s.channels[a].isThread() != s.channels[b].isThread() {
			if s.channels[b].isThread() {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return ids
}

var kindNames = map[Kind]string{
	Text: "channel", DM: "dm", Announcement: "announcements", PublicThread: "thread", PrivateThread: "private thread",
	Forum: "forum",
}

func (s *Server) dumpChannel(out *strings.Builder, c *channel) {
	name := c.Name
	if c.Kind == DM {
		name = "with " + s.nameOf(c.user)
	}
	margin := "  "
	if c.isThread() {
		fmt.Fprint(out, "  ")
		margin = "    "
	}
	fmt.Fprintf(out, "%s %s %s\n", kindNames[c.Kind], c.ID, name)
	for _, r := range c.messages {
		if r.Type != wire.TypeThreadStarter {
			s.dumpMessage(out, r.Message, margin)
		}
	}
	for _, r := range c.ephemerals {
		s.dumpMessage(out, r.Message, margin+"only "+s.nameOf(r.Ephemeral)+" sees: ")
	}
}

func (s *Server) dumpMessage(out *strings.Builder, m Message, margin string) {
	marks := ""
	if m.ReplyTo != "" {
		marks += " (to " + m.ReplyTo + ")"
	}
	if m.Edits > 0 {
		marks += " (edited)"
	}
	fakeserver.DumpMessage(out, margin, m.ID+" "+s.nameOf(m.Author), m.Shown(), marks)
}

func (s *Server) nameOf(user string) string {
	if u := s.users[user]; u != nil {
		return u.Name
	}
	return user
}

// Golden returns a message as the app sent it, as JSON for golden files, with stable ids.
func (s *Server) Golden(m Message) string {
	fields := object{"content": m.Content}
	if len(m.Embeds) > 0 {
		fields["embeds"] = m.Embeds
	}
	if len(m.Components) > 0 {
		fields["components"] = m.Components
	}
	if m.Allowed != nil {
		fields["allowed_mentions"] = m.Allowed
	}
	if m.Flags != 0 {
		fields["flags"] = m.Flags
	}
	if m.ReplyTo != "" {
		fields["reply_to"] = m.ReplyTo
	}
	if m.Ephemeral != "" {
		fields["only_seen_by"] = m.Ephemeral
	}
	for _, a := range m.Attachments {
		files, _ := fields["files"].([]string)
		fields["files"] = append(files, a.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.normalized(fakeserver.Indented(fields)) + "\n"
}

var anyID = regexp.MustCompile(`\b\d{15,20}\b`)

// normalized replaces the ids made by the fake with numbers. The caller holds the lock.
func (s *Server) normalized(text string) string {
	text = fakeserver.Numbers{}.Replace(text, anyID, func(id string) string {
		if !s.ids.Made(id) {
			return ""
		}
		return "id"
	})
	return strings.ReplaceAll(text, s.base, "http://discord.test")
}
