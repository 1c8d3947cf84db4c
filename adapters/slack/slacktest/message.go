package slacktest

import (
	"fmt"
	"slices"
	"time"

	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

// Message is a snapshot of a message.
type Message struct {
	Channel  string
	TS       string
	ThreadTS string // its thread; on a parent its own TS once it has replies
	Subtype  string // "file_share", "bot_message", "tombstone", ...

	User     string // the sender; the bot user for the app's own
	BotID    string
	AppID    string
	Username string // of a bot_message

	Text        string // the text field as it was sent
	Blocks      []Block
	Attachments any
	Metadata    *Metadata
	Files       []File
	Reactions   []Reaction

	EditedTS string // of the last edit
	EditedBy string
	Edits    int

	Unfurls   bool   // the app let links or media in it unfurl
	Ephemeral string // the only one who sees it
	Broadcast bool   // a reply that is also shown in the channel
	PostedAt  time.Time

	clientMsgID   string
	workflow      bool // a workflow wrote it
	derivedBlocks bool // the blocks were made by Slack from the text
}

// The types of blocks, and of the parts of a message that have an effect beyond being read.
type (
	Block = blockkit.Block
	Reach = blockkit.Reach
)

// Shown returns what a reader sees of the message, as plain text: its blocks, or its text if it has none. Buttons are
// in brackets. Markup and entities such as &lt; stay as they were sent, so that a test can distinguish a mention from
// an escaped one.
func (m Message) Shown() string {
	if len(m.Blocks) == 0 || m.derivedBlocks {
		return m.Text
	}
	return blockkit.Render(m.Blocks)
}

// Reaches returns the mentions, broadcasts and labelled links in all fields of the message that are parsed as markup:
// the text, mrkdwn objects, markdown blocks, rich text and attachments. Plain text objects can't contain any. Bare URLs
// are left out, see Message.Unfurls.
func (m Message) Reaches() []Reach {
	found := blockkit.ReachesInText("text", m.Text)
	if !m.derivedBlocks {
		for i, b := range m.Blocks {
			found = append(found, blockkit.Reaches(fmt.Sprintf("blocks/%d", i), b)...)
		}
	}
	if m.Attachments != nil {
		found = append(found, blockkit.Reaches("attachments", m.Attachments)...)
	}
	return found
}

// Metadata is the metadata that an app attaches to its message.
type Metadata struct {
	EventType    string         `json:"event_type"`
	EventPayload map[string]any `json:"event_payload"`
}

// Reaction is an emoji under a message and who set it.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
	Count int      `json:"count"`
}

// wire returns the message as JSON for events and answers.
func (s *Server) wire(m Message) object {
	out := object{"type": "message", "ts": m.TS, "text": m.Text}
	set := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	set("subtype", m.Subtype)
	set("user", m.User)
	set("bot_id", m.BotID)
	set("app_id", m.AppID)
	set("username", m.Username)
	set("client_msg_id", m.clientMsgID)
	set("thread_ts", m.ThreadTS)
	if m.Subtype != "bot_message" {
		out["team"] = s.teamOf(m.User)
	}
	if m.BotID != "" && (m.Subtype != "bot_message" || m.workflow) {
		out["bot_profile"] = s.botProfile(m)
	}
	if len(m.Blocks) > 0 {
		out["blocks"] = m.Blocks
	}
	if m.Attachments != nil {
		out["attachments"] = m.Attachments
	}
	if m.EditedTS != "" {
		out["edited"] = object{"user": m.EditedBy, "ts": m.EditedTS}
	}
	if len(m.Reactions) > 0 {
		out["reactions"] = m.Reactions
	}
	if len(m.Files) > 0 {
		out["upload"] = m.Subtype == "file_share"
		out["files"] = s.wireFiles(m.Files)
	}
	return out
}

// wireRead returns the message as in history and replies, where a parent lists its replies.
func (s *Server) wireRead(c *channel, m Message, withMetadata bool) object {
	out := s.wire(m)
	if withMetadata && m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		if parent := c.byTS[m.ThreadTS]; parent != nil {
			out["parent_user_id"] = parent.User
		}
	}
	if replies := c.repliesTo(m.TS); len(replies) > 0 {
		users := []string{}
		for _, r := range replies {
			if !slices.Contains(users, r.User) {
				users = append(users, r.User)
			}
		}
		out["reply_count"], out["reply_users"], out["reply_users_count"] = len(replies), users, len(users)
		out["latest_reply"] = replies[len(replies)-1].TS
		out["is_locked"], out["subscribed"] = false, false
	}
	return out
}

func (s *Server) botProfile(m Message) object {
	name, app := m.Username, m.AppID
	if u := s.users[m.User]; u != nil {
		name, app = u.Name, u.AppID
	}
	return object{
		"id": m.BotID, "app_id": app, "name": name, "deleted": false, "updated": 1700000000, "team_id": s.o.TeamID,
		"is_workflow_bot": m.workflow,
		"icons":           object{"image_36": "https://a.slack-edge.com/80588/img/plugins/app/bot_36.png"},
	}
}

func (s *Server) teamOf(user string) string {
	if u := s.users[user]; u != nil && u.TeamID != "" {
		return u.TeamID
	}
	return s.o.TeamID
}

// add adds a message to its channel and thread. The caller holds the lock.
func (s *Server) add(c *channel, m Message) *record {
	m.Channel, m.PostedAt = c.ID, s.o.Now()
	r := &record{Message: m}
	c.messages = append(c.messages, r)
	c.byTS[m.TS] = r
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		c.byTS[m.ThreadTS].ThreadTS = m.ThreadTS
		c.threads[m.ThreadTS] = append(c.threads[m.ThreadTS], r)
	}
	s.changed()
	return r
}

// rootOf returns the parent that a thread_ts refers to: the message itself, or the parent of the reply; "" if there is
// no such message.
func (c *channel) rootOf(ts string) string {
	r := c.byTS[ts]
	if r == nil {
		return ""
	}
	if r.ThreadTS != "" {
		return r.ThreadTS
	}
	return ts
}

// repliesTo are the replies of a thread in order, without the parent.
func (c *channel) repliesTo(ts string) []*record { return c.threads[ts] }

// drop takes a message away. The caller holds the lock.
func (c *channel) drop(r *record) {
	gone := func(other *record) bool { return other == r }
	c.messages = slices.DeleteFunc(c.messages, gone)
	delete(c.byTS, r.TS)
	if r.ThreadTS != "" && r.ThreadTS != r.TS {
		c.threads[r.ThreadTS] = slices.DeleteFunc(c.threads[r.ThreadTS], gone)
	}
}
