// Package slack is the platform Slack: one workspace, over Socket Mode, over HTTP, or both. README.md describes the
// setup.
//
// Ann writes "@gatehouse add a note" in the channel C1. Slack sends an app_mention and a message; both become the event
// message/T1/C1/1764000000.000100 of the conversation slack:T1:C1:1764000000.000100, and one of them is stored. The
// reply is posted into the thread; its metadata holds the post's key.
//
// Inbound. http.go receives a payload over either transport. events.go, interactions.go and commands.go convert it to
// an event and pass it to accept. The payload is acknowledged after the commit. If that fails, Slack sends an event
// again; whoever pressed a button or sent a command, which Slack sends only once, is told to repeat it. Before the
// commit only what is needed is decoded (payloads.go). The payload of a message is stored as received, without the
// secrets in it; its text and files are read when its turn begins (parse.go, internal/heard). What a press or a form
// means is judged before the commit, by adapters/internal/desk, and only its meaning is stored. Event ids, the same if
// Slack delivers twice:
//
//	message/TEAM/CHANNEL/TS              a message; app_mention and message of one post are one event
//	amend/TEAM/CHANNEL/TS/REVISION       a change or deletion of a message
//	vote/APPROVAL/PERSON/CLICK           a decision on a card; CLICK is an action's time or a modal's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event: one event for all its clicks
//	command/TRIGGER                      a slash command; TRIGGER is a digest, since the trigger itself is a secret
//
// A conversation is slack:TEAM:CHANNEL for direct and group direct messages, and slack:TEAM:CHANNEL:THREAD in channels.
// If the app has the assistant view, threads that begin there are conversations too (thread.go). In channels the bot
// reads its mentions and, unless SLACK_FOLLOW_UP says otherwise, threads in which it has a conversation, but for
// messages that begin with somebody else's mention; in group direct messages its mentions, unless SLACK_GROUP_DM says
// otherwise. Apart from these, only what a turn reads of the thread above its message is stored (thread.go).
// internal/heard says what counts as a mention, bots.go which bots may ask. People of other workspaces are strangers
// (strangers.go).
//
// Outbound. post.go asks the rate limit, draws the post (internal/draw) and sends one Slack message for each part. The
// message carries the post's key in its metadata. If the answer to a part is lost, the part is looked up by that key,
// twice, before it is sent again (find.go). If the history can't be read, the part stays in doubt. Buttons carry sealed
// values, which stay valid across restarts and can't be forged.
//
// What may come twice: every event, every click. A crash between a post and its answer leaves the part in doubt, see
// core/outbox.
//
// slack-go v0.34 is used for the Web API, its errors, blocks, names of events and Socket Mode frames. Four things are
// our own. The types of rich text: slack-go writes a list's offset, which Slack's own types lack (internal/draw). The
// structs of inbound payloads and the Socket Mode loop: slack-go's refuse or drop events that they can't decode
// completely (payloads.go, internal/socketmode). The check of signatures: slack-go's reads the machine's clock
// (http.go).
package slack

import _ "embed" // the page

//go:embed README.md
var page string

// Page is README.md, which gatehouse help prints.
func (c *Config) Page() string { return page }
