package discordtest

import (
	"maps"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// StartThread is the route that opens a thread from a message.
const StartThread = "POST /channels/{channel}/messages/{message}/threads"

var threadRoutes = map[string]route{StartThread: {do: onMessage(startThread)}}

func startThread(q *request, c *channel, r *record) (answer, *form.Failure) {
	s := q.s
	if c.Kind != Text && c.Kind != Announcement {
		return answer{}, form.WrongChannelType
	}
	if f := s.need(c, CreatePublicThreads); f != nil {
		return answer{}, f
	}
	name, minutes := wire.String(q.fields, "name"), wire.Int(q.fields, "auto_archive_duration")
	if s.channels[r.ID] != nil {
		return answer{}, form.ThreadExists
	}
	if hasOne(name, s.blockedIn(c)) {
		return answer{}, form.TitleBlocked
	}
	return created(s.wireChannel(s.threadFrom(c, r, name, minutes, s.o.BotUserID, actionOptions{})))
}

// threadFrom opens a thread from a message. It has the message's id and begins with a system message that refers to it.
func (s *Server) threadFrom(c *channel, r *record, name string, minutes int, owner string, h actionOptions) *channel {
	t := s.openChannel(
		Channel{
			ID: r.ID, Guild: c.Guild, Kind: PublicThread, Name: name, Parent: c.ID, Owner: owner, AutoArchive: minutes,
		})
	r.Thread, r.Flags = t.ID, r.Flags|wire.FlagHasThread
	s.emitThread("THREAD_CREATE", t, object{"newly_created": true})
	s.emitMessage("MESSAGE_UPDATE", r.Message, actionOptions{})
	starter := s.add(t, Message{Author: owner, Type: wire.TypeThreadStarter, ReplyTo: r.ID})
	s.emitMessage("MESSAGE_CREATE", starter.Message, h)
	s.changed()
	return t
}

// emitThread sends the event of a thread.
func (s *Server) emitThread(name string, c *channel, more object) {
	if !c.isThread() {
		return
	}
	o := s.wireChannel(c)
	maps.Copy(o, more)
	s.emit(c, gateway.Event{Name: name, Guild: c.Guild, Intent: gateway.IntentGuilds, Full: o})
}

// OpensThread opens a thread from a message, as a person does; its id is the message's. WithoutEvent is about the
// message of Discord's that the thread begins with.
func (p *Person) OpensThread(channel, message, name string, options ...ActionOption) string {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.mustMessage(channel, message)
	if s.channels[r.ID] != nil {
		s.fatal("message %s has a thread", message)
	}
	return s.threadFrom(c, r, name, 0, p.ID, actionOptions{}.with(options)).ID
}

// OpensPost makes a post in a forum, as a person does: a thread whose first message has the thread's id. It returns
// that id.
func (p *Person) OpensPost(forum, name, text string, options ...ActionOption) string {
	id := p.opensPost(forum, name)
	p.Posts(id, text, append(options, withID(id))...)
	return id
}

func (p *Person) opensPost(forum, name string) string {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(forum)
	if c.Kind != Forum {
		s.fatal("%s is no forum", forum)
	}
	post := Channel{ID: s.newID(), Guild: c.Guild, Kind: PublicThread, Name: name, Parent: c.ID, Owner: p.ID}
	t := s.openChannel(post)
	s.emitThread("THREAD_CREATE", t, object{"newly_created": true})
	return t.ID
}
