package slacktest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

var chatMethods = map[string]method{
	"chat.postMessage":   {scopes: []string{"chat:write"}, do: postMessage},
	"chat.postEphemeral": {scopes: []string{"chat:write"}, do: postEphemeral},
	"chat.update":        {scopes: []string{"chat:write"}, do: updateMessage},
	"chat.delete":        {scopes: []string{"chat:write"}, do: deleteMessage},
	"chat.getPermalink":  {do: getPermalink},
}

// content is the content of a message in a call: the fields that posts, updates and ephemerals share.
type content struct {
	text        string
	blocks      []Block // nil: not given
	noBlocks    bool    // given, and empty
	attachments any
	metadata    *Metadata
	hasText     bool
	unfurls     bool
	hasMeta     bool
}

func (s *Server) readContent(args Args) (content, *failure) {
	var in content
	in.text, in.hasText = args["text"], args["text"] != ""
	// Slack's defaults for apps
	in.unfurls = args.flag("unfurl_links") || args["unfurl_media"] != "false" && args["unfurl_media"] != "0"
	if utf8.RuneCountInString(in.text) > blockkit.MaxText {
		return in, fail("msg_too_long")
	}
	if raw, given := args["metadata"]; given && raw != "" {
		var meta Metadata
		if json.Unmarshal([]byte(raw), &meta) != nil {
			return in, fail("invalid_metadata_format")
		}
		in.hasMeta = true
		if meta.EventType != "" {
			in.metadata = &meta
		} else if len(meta.EventPayload) > 0 {
			return in, fail("invalid_metadata_schema")
		}
	}
	if raw := args["attachments"]; raw != "" && raw != "null" {
		if json.Unmarshal([]byte(raw), &in.attachments) != nil {
			return in, fail("invalid_attachments")
		}
	}
	blocks, failed := s.readBlocks(args["blocks"])
	if failed != nil {
		return in, failed
	}
	in.blocks, in.noBlocks = blocks, args["blocks"] != "" && len(blocks) == 0
	return in, nil
}

// readBlocks decodes and checks the blocks of a message, and fills in their ids and defaults.
func (s *Server) readBlocks(raw string) ([]Block, *failure) {
	if raw == "" {
		return nil, nil
	}
	var blocks []Block
	if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
		return nil, fail("invalid_blocks_format")
	}
	var k blockkit.Checker
	k.Blocks("/blocks", blocks, blockkit.MaxMessageBlocks)
	switch {
	case len(k.Wrong) > 0:
		return nil, failWith("invalid_blocks", k.Wrong)
	case k.TooLong():
		return nil, fail("msg_blocks_too_long")
	}
	return blockkit.Fill(blocks, s.ids.next), nil
}

func (in content) empty() bool { return !in.hasText && len(in.blocks) == 0 && in.attachments == nil }

// message returns the content as a new message of the bot.
func (s *Server) message(in content) Message {
	m := Message{
		Text: in.text, Blocks: in.blocks, Attachments: in.attachments, Metadata: in.metadata,
		User: s.o.BotUserID, BotID: s.o.BotID, AppID: s.o.AppID, Unfurls: in.unfurls,
	}
	if len(m.Blocks) == 0 {
		m.Blocks, m.derivedBlocks = blockkit.RichText(m.Text, s.ids.next), true
	}
	return m
}

// postable finds a channel that the bot may write to.
func (s *Server) postable(id string) (*channel, *failure) {
	c := s.channels[id]
	if c == nil && s.users[id] != nil && !s.users[id].IsBot {
		c = s.openDM(id)
	}
	switch {
	case c == nil, c.Kind != Public && !c.has(s.o.BotUserID):
		return nil, fail("channel_not_found")
	case c.Archived:
		return nil, fail("is_archived")
	case !c.has(s.o.BotUserID):
		return nil, fail("not_in_channel")
	}
	return c, nil
}

func postMessage(q *request) (object, *failure) {
	s := q.s
	c, in, failed := q.newMessage(func(*channel) *failure { return nil })
	if failed != nil {
		return nil, failed
	}
	r := s.post(c, in, q.args["thread_ts"], q.args.flag("reply_broadcast"))
	return object{"channel": c.ID, "ts": r.TS, "message": s.wireOwn(r.Message)}, nil
}

// post adds a message of the bot. The app receives it as an event, as in Slack.
func (s *Server) post(c *channel, in content, thread string, broadcast bool) *record {
	m := s.message(in)
	m.TS = s.newTS()
	if thread != "" {
		m.ThreadTS = c.rootOf(thread) // without the parent it is a message outside threads
	}
	m.Broadcast = broadcast && m.ThreadTS != ""
	r := s.add(c, m)
	fakeserver.Hide(&s.Reads, &r.Visibility)
	delete(s.statuses, statusKey(c.ID, r.ThreadTS))
	s.emitMessage(c, r.Message, actionOptions{})
	return r
}

// hasEmptyThread reports whether a thread is given and empty. Slack treats that as an invalid thread, not as none.
func (a Args) hasEmptyThread() bool {
	thread, given := a["thread_ts"]
	return given && thread == ""
}

// wireOwn returns a message of the bot as in the answer to its own call.
func (s *Server) wireOwn(m Message) object {
	out := s.wire(m)
	if m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	return out
}

// newMessage returns the channel and the content of a new message, or the reason why the channel refuses it.
func (q *request) newMessage(allowed func(*channel) *failure) (*channel, content, *failure) {
	c, failed := q.s.postable(q.args["channel"])
	if failed == nil {
		failed = allowed(c)
	}
	if failed != nil {
		return nil, content{}, failed
	}
	in, failed := q.s.readContent(q.args)
	switch {
	case failed != nil:
	case in.empty():
		failed = fail("no_text")
	case q.args.hasEmptyThread():
		failed = fail("invalid_thread_ts")
	}
	return c, in, failed
}

func postEphemeral(q *request) (object, *failure) {
	s, user := q.s, q.args["user"]
	c, in, failed := q.newMessage(func(c *channel) *failure {
		switch {
		case s.users[user] == nil:
			return fail("user_not_found")
		case !c.has(user):
			return fail("user_not_in_channel")
		}
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	return object{"message_ts": s.addEphemeral(c, in, user, q.args["thread_ts"]).TS}, nil
}

// addEphemeral shows a message to one person only.
func (s *Server) addEphemeral(c *channel, in content, user, thread string) *record {
	m := s.message(in)
	m.TS, m.ThreadTS, m.Ephemeral, m.Channel, m.PostedAt = s.newTS(), thread, user, c.ID, s.o.Now()
	r := &record{Message: m}
	c.ephemerals = append(c.ephemerals, r)
	s.changed()
	return r
}

// ownMessage finds a message of the bot to change. foreign is the code for that of somebody else.
func (q *request) ownMessage(foreign string) (*channel, *record, *failure) {
	s := q.s
	c := s.channels[q.args["channel"]]
	if c == nil || (c.Kind != Public && !c.has(s.o.BotUserID)) {
		return nil, nil, fail("channel_not_found")
	}
	r := c.byTS[q.args["ts"]]
	switch {
	case r == nil || r.Subtype == "tombstone":
		return nil, nil, fail("message_not_found")
	case r.BotID != s.o.BotID:
		return nil, nil, fail(foreign)
	case c.Archived:
		return nil, nil, fail("is_archived")
	}
	return c, r, nil
}

func deleteMessage(q *request) (object, *failure) {
	c, r, failed := q.ownMessage("cant_delete_message")
	if failed != nil {
		return nil, failed
	}
	q.s.remove(c, r, actionOptions{})
	return object{"channel": c.ID, "ts": r.TS}, nil
}

func updateMessage(q *request) (object, *failure) {
	s := q.s
	c, r, failed := q.ownMessage("cant_update_message")
	if failed != nil {
		return nil, failed
	}
	in, failed := s.readContent(q.args)
	if failed != nil {
		return nil, failed
	}
	if in.empty() && !in.noBlocks {
		return nil, fail("no_text")
	}
	s.edit(c, r, in)
	return object{"channel": c.ID, "ts": r.TS, "text": r.Text, "message": s.wireOwn(r.Message)}, nil
}

// edit changes a message of the bot. Fields that are not in the call stay unchanged.
func (s *Server) edit(c *channel, r *record, in content) {
	before := r.Message
	if in.hasText {
		r.Text = in.text
	}
	switch {
	case len(in.blocks) > 0:
		r.Blocks, r.derivedBlocks = in.blocks, false
	case in.noBlocks, r.derivedBlocks:
		r.Blocks, r.derivedBlocks = blockkit.RichText(r.Text, s.ids.next), true
	}
	if in.attachments != nil {
		r.Attachments = in.attachments
	}
	if in.hasMeta {
		r.Metadata = in.metadata
	}
	r.EditedTS, r.EditedBy, r.Edits = s.newTS(), s.o.BotUserID, r.Edits+1
	s.changed()
	s.emitChanged(c, r.Message, before, actionOptions{})
}

// remove deletes a message. A parent with replies leaves a tombstone.
func (s *Server) remove(c *channel, r *record, h actionOptions) []*Delivery {
	before := r.Message
	if len(c.repliesTo(r.TS)) == 0 {
		c.drop(r)
		s.changed()
		return s.emitDeleted(c, before, h)
	}
	r.Message = Message{
		Channel: c.ID, TS: r.TS, ThreadTS: r.ThreadTS, Subtype: "tombstone", User: "USLACKBOT",
		Text: "This message was deleted.", PostedAt: r.PostedAt,
	}
	s.changed()
	return s.emitChanged(c, r.Message, before, h)
}

func getPermalink(q *request) (object, *failure) {
	c := q.s.channels[q.args["channel"]]
	if c == nil {
		return nil, fail("channel_not_found")
	}
	r := c.byTS[q.args["message_ts"]]
	if r == nil {
		return nil, fail("message_not_found")
	}
	return object{"channel": c.ID, "permalink": q.s.permalink(r.Message)}, nil
}

func (s *Server) permalink(m Message) string {
	link := s.workspaceURL() + "archives/" + m.Channel + "/p" + strings.Replace(m.TS, ".", "", 1)
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + m.Channel
	}
	return link
}
