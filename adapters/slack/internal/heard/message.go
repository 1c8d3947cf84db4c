// Package heard reads what people and bots say in Slack: a message's text, blocks, attachments and files.
//
// A person forwards a message with an image and writes "why?" above it. Read returns the text "why?", the quotation
// {What: "forwarded message", Name: "bob", Text: "disk full"} and the file F123 of U2BOB. Slack says most of a text
// twice, in mrkdwn and in blocks: blocks.go adds only what the text lacks, such as a table. attachment.go tells a
// forwarded message from the preview of a link and from a bot's own words, file.go says which files can be read, and
// mention.go whether the bot is addressed. Nothing is looked up here: names and files are, by the platform, once the
// message's turn begins. A member of unknown form is left out, and the rest of the message is read.
package heard

import (
	"cmp"
	"encoding/json"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Message is the part of a message that is read. Fields that are not needed before the commit stay undecoded, so
// that no message is lost because of their form.
type Message struct {
	User     string          `json:"user"`
	BotID    string          `json:"bot_id"`
	Subtype  string          `json:"subtype"`
	Text     string          `json:"text"`
	TS       string          `json:"ts"`
	ThreadTS string          `json:"thread_ts"`
	Username any             `json:"username"` // of a bot's message, if it has one
	Profile  json.RawMessage `json:"bot_profile"`
	Person   json.RawMessage `json:"user_profile"` // of a person of another workspace
	Edited   json.RawMessage `json:"edited"`

	// What carries words beside the text, see Read.
	Blocks      json.RawMessage `json:"blocks"`
	Attachments json.RawMessage `json:"attachments"`
	Files       json.RawMessage `json:"files"`

	// The workspace, or on Enterprise Grid the organisation, of the person who wrote it; "" if Slack does not say.
	UserTeam   string `json:"user_team"`
	SourceTeam string `json:"source_team"`
	Team       string `json:"team"`
}

// BotName is the name that a bot's message shows, "" if it does not say.
func (m Message) BotName() string {
	var profile struct {
		Name string `json:"name"`
	}
	_ = inbound.Decode(m.Profile, &profile) // of any form
	name, _ := m.Username.(string)
	return safetext.Name(cmp.Or(profile.Name, name))
}

// PersonName is the name of a person of another workspace, which Slack sends with their message; "" of anybody else.
func (m Message) PersonName() string {
	var person struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
	}
	_ = inbound.Decode(m.Person, &person) // of any form
	return safetext.Name(cmp.Or(person.DisplayName, person.RealName))
}

// Author is who wrote a message, without their name.
func (m Message) Author() core.Speaker { return speaker("", cmp.Or(m.User, m.BotID)) }
