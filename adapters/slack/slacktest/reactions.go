package slacktest

import "slices"

// reactionsOn finds a message to react to.
func reactionsOn(q *request) (*record, *failure) {
	c := q.s.channels[q.args["channel"]]
	if c == nil {
		return nil, fail("channel_not_found")
	}
	r := c.byTS[q.args["timestamp"]]
	if r == nil {
		return nil, fail("message_not_found")
	}
	if c.Archived {
		return nil, fail("is_archived")
	}
	if !c.has(q.s.o.BotUserID) {
		return nil, fail("not_in_channel")
	}
	return r, nil
}

var reactionMethods = map[string]method{
	"reactions.add":    {scopes: []string{"reactions:write"}, do: addReaction},
	"reactions.remove": {scopes: []string{"reactions:write"}, do: removeReaction},
}

func addReaction(q *request) (object, *failure) {
	if _, failed := reactionsOn(q); failed == nil && q.args["name"] == "" {
		return nil, fail("invalid_name")
	}
	return changeReaction(q, (*record).react, "already_reacted")
}

func removeReaction(q *request) (object, *failure) {
	return changeReaction(q, (*record).unreact, "no_reaction")
}

// changeReaction changes a reaction of the bot, and fails with a code where nothing changed.
func changeReaction(q *request, change func(r *record, name, user string) bool, code string) (object, *failure) {
	r, failed := reactionsOn(q)
	if failed != nil {
		return nil, failed
	}
	if !change(r, q.args["name"], q.s.o.BotUserID) {
		return nil, fail(code)
	}
	q.s.changed()
	return nil, nil
}

// react sets an emoji for a user, unless it is set.
func (r *record) react(name, user string) bool {
	all := slices.Clone(r.Reactions) // snapshots share the old slice
	i := slices.IndexFunc(all, func(one Reaction) bool { return one.Name == name })
	if i < 0 {
		r.Reactions = append(all, Reaction{Name: name, Users: []string{user}, Count: 1})
		return true
	}
	if slices.Contains(all[i].Users, user) {
		return false
	}
	users := append(slices.Clone(all[i].Users), user)
	all[i] = Reaction{Name: name, Users: users, Count: len(users)}
	r.Reactions = all
	return true
}

// unreact takes an emoji of a user away, if it is set.
func (r *record) unreact(name, user string) bool {
	i := slices.IndexFunc(r.Reactions, func(one Reaction) bool {
		return one.Name == name && slices.Contains(one.Users, user)
	})
	if i < 0 {
		return false
	}
	all := slices.Clone(r.Reactions)
	users := slices.DeleteFunc(slices.Clone(all[i].Users), func(other string) bool { return other == user })
	if len(users) == 0 {
		r.Reactions = slices.Delete(all, i, i+1)
		return true
	}
	all[i] = Reaction{Name: name, Users: users, Count: len(users)}
	r.Reactions = all
	return true
}
