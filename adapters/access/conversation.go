package access

import (
	"cmp"
	"net/url"
	"strings"

	"gatehouse/core"
)

// unnamed is the session of a request that names none.
const unnamed = "default"

// Conversation returns the conversation of a person's session, which is also its mailbox. The names are escaped, so
// that different names are different conversations, and no name of a Shell reaches a conversation of another person or
// platform.
func (p Person) Conversation(session, thread string) core.ConversationID {
	id := p.prefix() + url.PathEscape(cmp.Or(session, unnamed))
	if thread != "" {
		id += "/" + url.PathEscape(thread)
	}
	return core.ConversationID(id)
}

// Session returns the session of one of the person's conversations; ok is false for one of another person, and for one
// inside a session, which no page shows.
func (p Person) Session(id core.ConversationID) (session string, ok bool) {
	name, ok := strings.CutPrefix(string(id), p.prefix())
	if !ok || strings.Contains(name, "/") {
		return "", false
	}
	session, err := url.PathUnescape(name)
	return session, err == nil
}

func (p Person) prefix() string { return Platform + ":oh/" + url.PathEscape(p.Name) + "/" }
