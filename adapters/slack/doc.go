// Package slack is the platform Slack: one workspace, over Socket Mode, over HTTP, or both. README.md says how to set it up.
//
// Inbound. http.go and socket.go receive a payload; events.go, interactions.go and commands.go make an event of it and hand it to accept;
// after the commit it is acknowledged. Before the commit only what is needed is decoded (payloads.go). The payload is stored as it came;
// its text and files are read when its turn begins (parse.go). Event ids, which a second delivery must share:
//
//	message/TEAM/CHANNEL/TS              a message; app_mention and message of one post are one event
//	amend/TEAM/CHANNEL/TS/REVISION       a change or deletion of one
//	vote/APPROVAL/PERSON/CLICK           a decision on a card; CLICK is an action's time or a modal's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event: one event, however often it is clicked
//	command/TRIGGER                      a slash command
//
// A conversation is slack:TEAM:CHANNEL for direct and group direct messages, and slack:TEAM:CHANNEL:THREAD in channels, and for direct
// messages too where the app has the assistant view. In channels the bot reads its mentions and, unless SLACK_FOLLOW_UP says otherwise,
// threads where it has a conversation; nothing else is stored.
//
// Outbound. post.go asks the rate limit, draws the post (blocks.go, card.go, markdown.go) and sends one Slack message for each part. The
// message carries the post's key in its metadata; a part whose answer was lost is looked for by that key, twice, before it is sent again
// (find.go). Where the history can't be read it stays unknown. Buttons carry sealed values, so that they work after any restart and can't
// be made up. Whatever people or a model wrote is drawn where Slack parses nothing, or escaped.
//
// What may come twice: every event, every click. A crash between a post and its answer leaves the part in doubt, see core/outbox.
//
// slack-go v0.34 is used for the Web API, its errors, blocks, names of events and Socket Mode frames. Three things are our own: the structs
// of inbound payloads and the Socket Mode loop, since slack-go's refuse or drop events that it can't decode completely (payloads.go,
// internal/socketmode); and the check of signatures, since slack-go's reads the machine's clock (signature.go).
package slack
