package slacktest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gatehouse/adapters/internal/fakeserver"
)

// Dump returns everything in the workspace as text for golden files. Timestamps and generated ids are numbered by their
// order.
func (s *Server) Dump() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		s.dumpChannel(&out, s.channels[id])
	}
	for _, id := range slices.Sorted(maps.Keys(s.views)) {
		if v := s.views[id]; v.open {
			fmt.Fprintf(&out, "modal of %s\n%s\n", s.nameOf(v.user), indent(v.snapshot().Shown()))
		}
	}
	return s.normalized(out.String())
}

// DumpChannel returns the part of Dump about one channel.
func (s *Server) DumpChannel(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	s.dumpChannel(&out, s.mustChannel(channel))
	return s.normalized(out.String())
}

func (s *Server) dumpChannel(out *strings.Builder, c *channel) {
	fmt.Fprintf(out, "%s %s %s\n", c.Kind, c.ID, c.Name)
	for _, r := range c.messages {
		if r.ThreadTS != "" && r.ThreadTS != r.TS {
			continue
		}
		s.dumpMessage(out, r.Message, "  ")
		for _, reply := range c.repliesTo(r.TS) {
			s.dumpMessage(out, reply.Message, "    ")
		}
		if status := s.statusNow(c.ID, r.TS); status != "" {
			fmt.Fprintf(out, "    (%s)\n", status)
		}
	}
	for _, r := range c.ephemerals {
		s.dumpMessage(out, r.Message, "  only "+s.nameOf(r.Ephemeral)+" sees: ")
	}
}

func (s *Server) dumpMessage(out *strings.Builder, m Message, margin string) {
	from := s.nameOf(m.User)
	if m.User == "" {
		from = m.Username
	}
	marks := ""
	if m.Edits > 0 {
		marks += " (edited)"
	}
	for _, reaction := range m.Reactions {
		marks += fmt.Sprintf(" :%s: %d", reaction.Name, reaction.Count)
	}
	for _, f := range m.Files {
		marks += " {" + f.Name + "}"
	}
	fakeserver.DumpMessage(out, margin, m.TS+" "+from, m.Shown(), marks)
}

func (s *Server) nameOf(user string) string {
	if u := s.users[user]; u != nil {
		return u.Name
	}
	return user
}

// Golden returns a message as JSON for golden files: its text, blocks, attachments and metadata as the app sent them,
// with stable ids.
func (s *Server) Golden(m Message) string {
	fields := object{"text": m.Text}
	if !m.derivedBlocks {
		fields["blocks"] = m.Blocks
	}
	if m.Attachments != nil {
		fields["attachments"] = m.Attachments
	}
	if m.Metadata != nil {
		fields["metadata"] = m.Metadata
	}
	if m.Ephemeral != "" {
		fields["only_seen_by"] = m.Ephemeral
	}
	return s.normalized(fakeserver.Indented(fields)) + "\n"
}

var timestamp = regexp.MustCompile(`\b\d{10}\.\d{6}\b`)

// normalized replaces timestamps and generated ids with numbers.
func (s *Server) normalized(text string) string {
	seen := fakeserver.Numbers{}
	text = seen.Replace(text, timestamp, func(string) string { return "ts" })
	own := regexp.MustCompile(`\b[A-Za-z][a-z]?` + s.ids.server + `[0-9A-F]{4,}\b`)
	text = seen.Replace(text, own, func(id string) string { return id[:1] })
	return strings.ReplaceAll(text, s.base, "http://slack.test")
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
