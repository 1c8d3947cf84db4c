package web

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/core/greeting"
)

// defaultSession is the session of the chat for whoever has none yet.
const defaultSession = "web"

// maxSession is the longest name of a session that the page takes, in bytes.
const maxSession = 128

// chatPage is what the chat's script needs to know, and what an empty conversation shows.
type chatPage struct {
	Session, Who, Login string
	Token               string // of forms
	Title               string // of the conversation; "" = it is new
	Fresh               string // a session that nobody has used
	Upload              int    // bytes of the largest file
	Approvals           string // what approvals are for
	greeting.Greeting
}

// chat shows one conversation: that of the address, or the one that its reader used last.
func (v *request) chat() error {
	query, ctx := v.r.URL.Query(), v.r.Context()
	session := strings.TrimSpace(cmp.Or(query.Get("session"), query.Get("session_id"))) // as at the stream of events
	title, err := "", error(nil)
	switch {
	case session == "":
		session, title, err = v.lastUsed(ctx)
	case len(session) > maxSession || !utf8.ValidString(session) || strings.ContainsFunc(session, func(c rune) bool {
		return !unicode.IsPrint(c)
	}):
		return refuse(http.StatusBadRequest, "No such session",
			"The name of a session has at most 128 bytes, and nothing in it that can't be seen.")
	default:
		title, err = v.titleOf(ctx, session)
	}
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "chat", cmp.Or(title, "New conversation"), chatPage{
		Session: cmp.Or(session, defaultSession), Who: v.who.Name, Login: v.Gate.LoginOf(v.r),
		Token: v.Gate.FormToken(v.who, v.r), Title: title, Fresh: rand.Text(), Upload: inbound.MaxUpload,
		Approvals: greeting.Approvals, Greeting: v.Greeting,
	})
}
