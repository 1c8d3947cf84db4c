package web

import (
	"cmp"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// defaultSession is the session of the chat, unless the address names another.
const defaultSession = "web"

// maxSession is the longest name of a session that the page takes, in bytes.
const maxSession = 128

// chatPage is what the chat's script needs to know.
type chatPage struct{ Session, Who, Login string }

func (v *request) chat() error {
	query := v.r.URL.Query()
	session := strings.TrimSpace(cmp.Or(query.Get("session"), query.Get("session_id"))) // as at the stream of events
	switch {
	case session == "":
		session = defaultSession
	case len(session) > maxSession || !utf8.ValidString(session) || strings.ContainsFunc(session, func(c rune) bool {
		return !unicode.IsPrint(c)
	}):
		return refuse(http.StatusBadRequest, "No such session",
			"The name of a session has at most 128 bytes, and nothing in it that can't be seen.")
	}
	title := "Chat"
	if session != defaultSession {
		title = session + " – Chat"
	}
	return v.show(http.StatusOK, "chat", title, chatPage{session, v.who.Name, v.Gate.LoginOf(v.r)})
}
