// Package slack is the platform Slack: one workspace, over Socket Mode, over HTTP, or both.
//
// In. Each envelope is decoded by a small tolerant decoder of ours that reads what must be known before the commit: whose it is,
// which conversation, what kind. Then it is handed to accept, and only after the commit it is acknowledged. The raw envelope is what
// is stored; its text and files are read when its turn begins. Event ids, which a second delivery must share:
//
//	message/TEAM/CHANNEL/TS         a message; app_mention and message of one post are one event
//	amend/TEAM/CHANNEL/TS/REVISION  a change or deletion of one
//	vote/APPROVAL/PERSON/PRESS      a decision on a card; a press is an action's time or a modal's id
//	press/again/EVENT, press/new/EVENT   the button below the reply to a failed event: one event, however often it is pressed
//	command/TRIGGER                 a slash command
//
// A conversation (conversation) is slack:TEAM:CHANNEL for direct messages and group direct messages, slack:TEAM:CHANNEL:THREAD in channels,
// and for direct messages too where the app has the assistant view. In channels the bot listens to its mentions and, unless
// SLACK_FOLLOW_UP says otherwise, to the threads where it has a conversation; nothing else is stored.
//
// Out. One part of a post is one Slack message that carries the post's key in its metadata. A send whose answer was lost is looked
// for by that key, twice, before it is made again; where the history can't be read it stays unknown. Buttons carry sealed values,
// so that they work after any restart and can't be made up. Everything that people or a model wrote is drawn where Slack parses
// nothing, or escaped.
//
// What may come twice: every event, every press. A crash between a post and its answer leaves the part in doubt, see core/outbox.
//
// Decision, 2026-11: Socket Mode is our own loop over a websocket, not slack-go's: that one decodes events before they could be
// stored and can refuse a whole event, and it drops the old connection before it has the new one.
package slack
