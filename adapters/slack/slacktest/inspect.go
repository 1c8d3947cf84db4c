package slacktest

import (
	"context"
	"slices"

	"gatehouse/adapters/internal/fakeserver"
)

// Messages returns all messages of a channel in order, including those in threads.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return snapshot(s.mustChannel(channel).messages)
}

// Thread returns the messages of a thread in order, the parent first.
func (s *Server) Thread(channel, ts string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	root := c.rootOf(ts)
	found := snapshot(c.repliesTo(root))
	if parent := c.byTS[root]; parent != nil {
		found = append([]Message{parent.Message}, found...)
	}
	return found
}

// Message returns a message in its current state.
func (s *Server) Message(channel, ts string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.mustChannel(channel).byTS[ts]; r != nil {
		return r.Message, true
	}
	return Message{}, false
}

// FromBot returns the messages of a channel that the app posted, including those in threads.
func (s *Server) FromBot(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fakeserver.Collect(s.mustChannel(channel).messages, func(r *record) (Message, bool) {
		return r.Message, r.BotID == s.o.BotID
	})
}

// CountFromBot counts the messages that the app posted in all channels, without copying them.
func (s *Server) CountFromBot() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.channels {
		for _, r := range c.messages {
			if r.BotID == s.o.BotID {
				n++
			}
		}
	}
	return n
}

// Ephemerals returns the messages that only one user sees in a channel.
func (s *Server) Ephemerals(channel, user string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fakeserver.Collect(s.mustChannel(channel).ephemerals, func(r *record) (Message, bool) {
		return r.Message, r.Ephemeral == user
	})
}

// snapshot returns the current messages of records.
func snapshot(records []*record) []Message {
	return fakeserver.Collect(records, func(r *record) (Message, bool) { return r.Message, true })
}

// WaitFor waits until the condition holds. It is checked again after each change. The text of an error contains the
// current state.
func (s *Server) WaitFor(ctx context.Context, holds func(*Server) bool) error {
	return s.host.WaitFor(ctx, func() bool { return holds(s) })
}

// WaitForText waits until the bot has posted a message that contains the text in the thread, and returns it. Without a
// thread it searches the whole channel.
func (s *Server) WaitForText(ctx context.Context, channel, thread, text string) (Message, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Message, bool) {
		said := s.FromBot(channel)
		return fakeserver.FirstWith(slices.DeleteFunc(said, func(m Message) bool {
			return thread != "" && m.ThreadTS != thread && m.TS != thread
		}), text)
	})
}

// WaitForModal waits until a modal is open on a user's screen.
func (s *Server) WaitForModal(ctx context.Context, user string) (View, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (View, bool) { return s.Modal(user) })
}

// WaitForEphemeral waits until a user sees an ephemeral message that contains the text, and returns it.
func (s *Server) WaitForEphemeral(ctx context.Context, channel, user, text string) (Message, error) {
	return fakeserver.WaitFor(ctx, s.host, func() (Message, bool) {
		return fakeserver.FirstWith(s.Ephemerals(channel, user), text)
	})
}

// WaitForSockets waits until the given number of sockets is open.
func (s *Server) WaitForSockets(ctx context.Context, n int) error {
	return s.WaitFor(ctx, func(*Server) bool { return s.OpenSockets() == n })
}
