package discordtest

import (
	"context"

	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// Messages returns all messages of a channel or a thread in order.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot(s.mustChannel(channel).messages)
}

// Message returns the current state of a message.
func (s *Server) Message(channel, id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.mustChannel(channel).byID[id]; r != nil {
		return r.Message, true
	}
	return Message{}, false
}

// FromBot returns the messages of a channel that the app posted, without system messages.
func (s *Server) FromBot(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.postedByBot(channel)
}

func (s *Server) postedByBot(channel string) []Message {
	c := s.channels[channel]
	if c == nil {
		return nil
	}
	return fakeserver.Collect(c.messages, func(r *record) (Message, bool) {
		return r.Message,
			r.Author == s.o.BotUserID && r.Type != wire.TypeThreadStarter && r.Type != wire.TypeThreadCreated
	})
}

// CountFromBot counts the messages that the app has posted in all channels so far.
func (s *Server) CountFromBot() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.postCount
}

// Ephemerals returns the messages that only one user sees in a channel.
func (s *Server) Ephemerals(channel, user string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fakeserver.Collect(s.mustChannel(channel).ephemerals, func(r *record) (Message, bool) {
		return r.Message, r.Ephemeral == user
	})
}

// Channel returns the current state of a channel or a thread.
func (s *Server) Channel(id string) (Channel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channels[id]; c != nil {
		return c.Channel, true
	}
	return Channel{}, false
}

// snapshot returns the current messages of records.
func snapshot(records []*record) []Message {
	return fakeserver.Collect(records, func(r *record) (Message, bool) { return r.Message, true })
}

// WaitFor waits until a condition holds. It is checked again after each change. An error contains a dump.
func (s *Server) WaitFor(ctx context.Context, holds func(*Server) bool) error {
	return s.host.WaitFor(ctx, func() bool { return holds(s) })
}

// WaitForText waits until the bot has posted a message with the text in a channel or a thread, and returns it. The
// thread need not exist yet.
func (s *Server) WaitForText(ctx context.Context, channel, text string) (Message, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Message, bool) {
		return fakeserver.FirstWith(s.FromBot(channel), text)
	})
}

// WaitForThread waits until a thread was made from a message.
func (s *Server) WaitForThread(ctx context.Context, message string) (Channel, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Channel, bool) { return s.Channel(message) })
}

// WaitForModal waits until a modal is open on a user's screen.
func (s *Server) WaitForModal(ctx context.Context, user string) (Modal, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Modal, bool) { return s.Modal(user) })
}

// WaitForEphemeral waits until a user sees an ephemeral message with the text.
func (s *Server) WaitForEphemeral(ctx context.Context, channel, user, text string) (Message, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Message, bool) {
		return fakeserver.FirstWith(s.Ephemerals(channel, user), text)
	})
}

// WaitForSessions waits until n sessions have a connection.
func (s *Server) WaitForSessions(ctx context.Context, n int) error {
	return s.WaitFor(ctx, func(*Server) bool { return s.Sessions() == n })
}
