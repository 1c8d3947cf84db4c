package discordtest

import (
	"slices"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/form"
)

// Block makes a guild's automatic moderation refuse what the bot writes with one of these words in it, in any case: its
// messages, its edits and the names of its threads. As on Discord it does not apply in direct messages, to what only
// one person sees, nor to a bot that may manage the guild. People count as exempt. No words: everything is allowed
// again.
func (s *Server) Block(guild string, words ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustGuild(guild).blocked = slices.Clone(words)
}

// BlockLinks makes Discord's own filter refuse messages of the bot with one of these links in them, wherever they are.
func (s *Server) BlockLinks(links ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.harmful = slices.Clone(links)
}

// moderated returns the failure of a call that would make a message of the bot say this.
func (s *Server) moderated(c *channel, m Message) *form.Failure {
	said := m.Shown()
	switch {
	case m.Ephemeral != "":
	case hasOne(said, s.harmful):
		return form.HarmfulLink
	case hasOne(said, s.blockedIn(c)):
		return form.MessageBlocked
	}
	return nil
}

// blockedIn returns the words that the bot may not write in a channel.
func (s *Server) blockedIn(c *channel) []string {
	g := s.guilds[c.Guild]
	if g == nil || s.permissions(c, s.o.BotUserID)&ManageGuild != 0 {
		return nil
	}
	return g.blocked
}

func hasOne(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, strings.ToLower(word)) })
}
