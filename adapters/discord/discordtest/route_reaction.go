package discordtest

import (
	"slices"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/gateway"
)

// Routes of reactions.
const (
	AddReaction       = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
	RemoveReaction    = "DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}"
	ListReactions     = "GET /channels/{channel}/messages/{message}/reactions/{emoji}"
	RemoveReactionAll = "DELETE /channels/{channel}/messages/{message}/reactions"
)

var reactionRoutes = map[string]route{
	AddReaction: {do: onMessage(func(q *request, c *channel, r *record) (answer, *form.Failure) {
		s, emoji := q.s, q.path["emoji"]
		if f := s.need(c, ReadMessageHistory); f != nil {
			return answer{}, f
		}
		there := slices.ContainsFunc(r.Reactions, func(other Reaction) bool { return other.Emoji == emoji })
		if !there {
			if f := s.need(c, AddReactions); f != nil {
				return answer{}, f
			}
		}
		if !isEmoji(emoji) {
			return answer{}, form.UnknownEmoji
		}
		if c.Archived {
			return answer{}, form.ThreadArchived
		}
		s.setReaction(c, r, emoji, s.o.BotUserID, true)
		return nothing()
	})},
	RemoveReaction: {do: onMessage(func(q *request, c *channel, r *record) (answer, *form.Failure) {
		user := q.path["user"]
		if user == "@me" {
			user = q.s.o.BotUserID
		} else if f := q.s.need(c, ManageMessages); f != nil {
			return answer{}, f
		}
		if c.Archived {
			return answer{}, form.ThreadArchived
		}
		q.s.setReaction(c, r, q.path["emoji"], user, false)
		return nothing()
	})},
	RemoveReactionAll: {do: onMessage(func(q *request, c *channel, r *record) (answer, *form.Failure) {
		if f := q.s.need(c, ManageMessages); f != nil {
			return answer{}, f
		}
		r.Reactions = nil
		q.s.changed()
		return nothing()
	})},
	ListReactions: {do: onMessage(func(q *request, _ *channel, r *record) (answer, *form.Failure) {
		found := []object{}
		for _, reaction := range r.Reactions {
			if reaction.Emoji == q.path["emoji"] {
				for _, user := range reaction.Users {
					found = append(found, q.s.wireUser(user))
				}
			}
		}
		return ok(found)
	})},
}

// isEmoji reports whether a word may be an emoji: plain letters without an id are not.
func isEmoji(word string) bool {
	for _, r := range word {
		if r > 127 || r == ':' {
			return true
		}
	}
	return false
}

func (s *Server) setReaction(c *channel, r *record, emoji, user string, on bool) {
	name := "MESSAGE_REACTION_ADD"
	done := false
	if on {
		done = r.react(emoji, user)
	} else {
		name = "MESSAGE_REACTION_REMOVE"
		done = r.unreact(emoji, user)
	}
	if !done {
		return
	}
	s.changed()
	o := object{
		"user_id": user, "channel_id": c.ID, "message_id": r.ID, "emoji": object{"id": nil, "name": emoji},
		"burst": false, "type": 0, "message_author_id": r.Author,
	}
	if g := s.guilds[c.Guild]; g != nil {
		o["guild_id"] = g.ID
		if on {
			o["member"] = s.wireMember(g, user, true)
		}
	}
	s.emit(c,
		gateway.Event{
			Name: name, Guild: c.Guild,
			Intent: intentFor(c, gateway.IntentGuildReactions, gateway.IntentDirectReactions), Full: o,
		})
}

// Reacts adds a reaction to a message.
func (p *Person) Reacts(channel, message, emoji string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	c, r := p.s.mustMessage(channel, message)
	p.s.setReaction(c, r, emoji, p.ID, true)
}

// Unreacts removes the user's reaction from a message.
func (p *Person) Unreacts(channel, message, emoji string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	c, r := p.s.mustMessage(channel, message)
	p.s.setReaction(c, r, emoji, p.ID, false)
}
