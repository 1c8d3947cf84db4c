package slacktest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
)

var conversationMethods = map[string]method{
	"conversations.info":    {do: conversationInfo},
	"users.conversations":   {do: userConversations},
	"conversations.members": {do: conversationMembers},
	"conversations.open":    {do: conversationOpen},
	"conversations.history": {do: history},
	"conversations.replies": {do: replies},
}

// scopePrefix returns the first word of the scopes for a kind of conversation.
func (k Kind) scopePrefix() string {
	return map[Kind]string{Public: "channels", Private: "groups", DM: "im", GroupDM: "mpim"}[k]
}

// visibleChannel finds a channel that the bot can see, and checks the scope that its kind asks for.
func (q *request) visibleChannel(right string) (*channel, *failure) {
	c := q.s.channels[q.args["channel"]]
	if c == nil {
		return nil, fail("channel_not_found")
	}
	if failed := q.s.need(c.Kind.scopePrefix() + ":" + right); failed != nil {
		return nil, failed
	}
	if c.Kind != Public && !c.has(q.s.o.BotUserID) {
		return nil, fail("channel_not_found")
	}
	return c, nil
}

func (s *Server) wireChannel(c *channel) object {
	member := c.has(s.o.BotUserID)
	out := object{
		"id": c.ID, "created": 1700000000, "is_archived": c.Archived, "is_channel": c.Kind == Public,
		"is_group": c.Kind == Private,
		"is_im":    c.Kind == DM, "is_mpim": c.Kind == GroupDM, "is_private": c.Kind != Public,
		"is_ext_shared": c.ExtShared,
		"is_shared":     c.ExtShared, "is_org_shared": false, "context_team_id": s.o.TeamID, "updated": 1700000000000,
	}
	if c.Kind == DM {
		out["user"], out["is_open"], out["is_user_deleted"] = c.user, true, false
		return out
	}
	out["name"], out["name_normalized"], out["is_member"], out["is_general"] = c.Name, c.Name, member, false
	out["creator"], out["num_members"], out["unlinked"] = "U0ADMIN", len(c.Members), 0
	out["topic"] = object{"value": "", "creator": "", "last_set": 0}
	out["purpose"] = object{"value": "", "creator": "", "last_set": 0}
	return out
}

func conversationInfo(q *request) (object, *failure) {
	c, failed := q.visibleChannel("read")
	if failed != nil {
		return nil, failed
	}
	return object{"channel": q.s.wireChannel(c)}, nil
}

// userConversations returns the conversations that the bot is in.
func userConversations(q *request) (object, *failure) {
	kinds := map[string]Kind{"public_channel": Public, "private_channel": Private, "im": DM, "mpim": GroupDM}
	asked := q.args["types"]
	if asked == "" {
		asked = "public_channel"
	}
	list := []object{}
	for name := range strings.SplitSeq(asked, ",") {
		kind, known := kinds[strings.TrimSpace(name)]
		if !known {
			return nil, fail("invalid_types")
		}
		if failed := q.s.need(kind.scopePrefix() + ":read"); failed != nil {
			return nil, failed
		}
		for _, id := range slices.Sorted(maps.Keys(q.s.channels)) {
			c := q.s.channels[id]
			if c.Kind == kind && c.has(q.s.o.BotUserID) && (!c.Archived || !q.args.flag("exclude_archived")) {
				list = append(list, q.s.wireChannel(c))
			}
		}
	}
	page, next, failed := paged(q.args, list, 100)
	if failed != nil {
		return nil, failed
	}
	return object{"channels": page, "response_metadata": object{"next_cursor": next}}, nil
}

func conversationMembers(q *request) (object, *failure) {
	c, failed := q.visibleChannel("read")
	if failed != nil {
		return nil, failed
	}
	page, next, failed := paged(q.args, c.Members, 100)
	if failed != nil {
		return nil, failed
	}
	return object{"members": page, "response_metadata": object{"next_cursor": next}}, nil
}

// conversationOpen opens the direct messages with one person.
func conversationOpen(q *request) (object, *failure) {
	s, id := q.s, q.args["users"]
	u := s.users[id]
	switch {
	case id == "":
		return nil, fail("users_list_not_supplied")
	case u == nil:
		return nil, fail("user_not_found")
	case u.Deleted:
		return nil, fail("user_disabled")
	case u.IsBot:
		return nil, fail("cannot_dm_bot")
	}
	if failed := s.need("im:write"); failed != nil {
		return nil, failed
	}
	return object{"channel": object{"id": s.openDM(id).ID}}, nil
}

// history returns the messages of a channel outside its threads, the newest first.
func history(q *request) (object, *failure) {
	c, failed := q.visibleChannel("history")
	if failed != nil {
		return nil, failed
	}
	if !c.has(q.s.o.BotUserID) {
		return nil, fail("not_in_channel")
	}
	var found []object
	for _, r := range slices.Backward(c.messages) {
		if (r.ThreadTS == "" || r.ThreadTS == r.TS || r.Broadcast) && q.within(r.TS) && r.Shows() {
			found = append(found, q.s.wireRead(c, r.Message, q.args.flag("include_all_metadata")))
		}
	}
	return q.pageOf(found, 100)
}

// replies returns the messages of a thread: its parent, whatever the time range, and then the oldest first.
func replies(q *request) (object, *failure) {
	c, failed := q.visibleChannel("history")
	if failed != nil {
		return nil, failed
	}
	if !c.has(q.s.o.BotUserID) {
		return nil, fail("not_in_channel")
	}
	root := c.rootOf(q.args["ts"])
	if c.byTS[root] == nil {
		return nil, fail("thread_not_found")
	}
	var found []object
	for _, r := range append([]*record{c.byTS[root]}, c.repliesTo(root)...) {
		if (r.TS == root || q.within(r.TS)) && r.Shows() {
			found = append(found, q.s.wireRead(c, r.Message, q.args.flag("include_all_metadata")))
		}
	}
	return q.pageOf(found, 1000)
}

// within reports whether a timestamp is between the arguments oldest and latest.
func (q *request) within(ts string) bool {
	at, inclusive := tsMicros(ts), q.args.flag("inclusive")
	if oldest := q.args["oldest"]; oldest != "" && oldest != "0" {
		if from := tsMicros(oldest); at < from || (at == from && !inclusive) {
			return false
		}
	}
	if latest := q.args["latest"]; latest != "" {
		if to := tsMicros(latest); at > to || (at == to && !inclusive) {
			return false
		}
	}
	return true
}

// fewMessages is how many messages an app that is distributed outside the marketplace gets at a time, whatever it asks
// for.
const fewMessages = 15

// pageOf returns a page of messages; usual is how many are on it if the call does not say.
func (q *request) pageOf(messages []object, usual int) (object, *failure) {
	args := q.args
	limit, err := strconv.Atoi(args["limit"])
	if q.s.lastRead != nil && (err != nil || limit <= 0 || limit > fewMessages) {
		args = maps.Clone(args)
		args["limit"] = strconv.Itoa(fewMessages)
	}
	page, next, failed := paged(args, messages, usual)
	if failed != nil {
		return nil, failed
	}
	return object{
		"messages": page, "has_more": next != "", "pin_count": 0, "response_metadata": object{"next_cursor": next},
	}, nil
}

// paged returns the page of a list that the arguments limit and cursor ask for.
func paged[T any](args Args, all []T, usual int) (page []T, next string, failed *failure) {
	limit := usual
	if raw := args["limit"]; raw != "" && raw != "0" {
		n, err := strconv.Atoi(raw)
		if err != nil || n < 0 || n > 1000 {
			return nil, "", fail("invalid_limit")
		}
		limit = n
	}
	from := 0
	if raw := args["cursor"]; raw != "" {
		text, err := base64.StdEncoding.DecodeString(raw)
		from, _ = strconv.Atoi(strings.TrimPrefix(string(text), "next:"))
		if err != nil || from <= 0 || from > len(all) {
			return nil, "", fail("invalid_cursor")
		}
	}
	to := min(from+limit, len(all))
	if to < len(all) {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(to)))
	}
	return append([]T{}, all[from:to]...), next, nil
}
