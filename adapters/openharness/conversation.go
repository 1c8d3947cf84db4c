package openharness

import (
	"cmp"
	"net/url"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// defaultSession is the session of a request that names none.
const defaultSession = "default"

// conversationOf returns the conversation of a principal's session. The names are escaped, so that different names are
// different conversations, and no name of a Shell reaches a conversation of another principal or platform.
func conversationOf(who access.Person, session, thread string) core.ConversationID {
	id := Name + ":oh/" + url.PathEscape(who.Name) + "/" + url.PathEscape(cmp.Or(session, defaultSession))
	if thread != "" {
		id += "/" + url.PathEscape(thread)
	}
	return core.ConversationID(id)
}

// addressOf is where a conversation is answered: in its mailbox.
func addressOf(c core.ConversationID) core.Address {
	return core.Address{Platform: Name, Channel: string(c)}
}
