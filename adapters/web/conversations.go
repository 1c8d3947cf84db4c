package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

const (
	listPage  = 50  // conversations of one answer
	maxTitle  = 100 // characters
	maxSearch = 100 // bytes
)

// conversation is one of the list, as the stream's event conversations has it, too.
type conversation struct {
	Session string    `json:"session"`
	Title   string    `json:"title"`
	Last    int64     `json:"last"`
	At      time.Time `json:"at"`
	Waits   bool      `json:"waits"`
}

// conversations answers a script: a part of the reader's list, or what became of a change of one of it. Its errors are
// JSON, too; whoever is not known is answered as on every page.
func (v *request) conversations() error {
	answer, err, status := any(struct{}{}), error(nil), http.StatusOK
	if v.r.Method == http.MethodPost {
		err = v.changeConversation()
	} else {
		answer, err = v.listed()
	}
	if err != nil {
		p := v.problemOf(err)
		v.retryAfter(p)
		status, answer = p.Status, map[string]string{"error": p.Text}
	}
	v.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	v.w.WriteHeader(status)
	return json.NewEncoder(v.w).Encode(answer)
}

// listed is a part of the list: q is in the titles, and before is where the part before it ended.
func (v *request) listed() (any, error) {
	query, err := access.Query(v.r, "q", "before", access.PageField)
	if err != nil {
		return nil, err
	}
	f := core.ConversationFilter{Person: v.who.Actor.ID, Search: strings.TrimSpace(query.Get("q")), Limit: listPage + 1}
	if len(f.Search) > maxSearch {
		return nil, refuse(http.StatusBadRequest, "Too long", "A search has at most 100 bytes.")
	}
	if text := query.Get("before"); text != "" {
		nanoseconds, session, ok := strings.Cut(text, ".")
		at, err := strconv.ParseInt(nanoseconds, 10, 64)
		if !ok || err != nil {
			return nil, refuse(http.StatusBadRequest, "No such place", "The list has no such place.")
		}
		f.Before = &core.Conversation{ID: v.who.Conversation(session, ""), ChangedAt: time.Unix(0, at)}
	}
	found, err := v.Conversations.ListConversations(v.r.Context(), f)
	if err != nil {
		return nil, err
	}
	all, next := []conversation{}, ""
	for _, c := range found[:min(len(found), listPage)] {
		session, _ := v.who.Session(c.ID)
		all = append(all, conversation{session, c.Title, c.Last, c.SaidAt, c.Waits})
	}
	if len(found) > listPage {
		next = strconv.FormatInt(found[listPage-1].ChangedAt.UnixNano(), 10) + "." + all[listPage-1].Session
	}
	return map[string]any{"conversations": all, "next": next}, nil
}

// changeConversation renames or deletes one of the reader's.
func (v *request) changeConversation() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	ctx, form, who := v.r.Context(), v.r.PostForm, v.who.Actor.ID
	id := v.who.Conversation(form.Get("session"), "")
	switch form.Get("do") {
	case "rename":
		title := safetext.OneLine(safetext.Clean(form.Get("title")))
		switch {
		case title == "":
			return refuse(http.StatusBadRequest, "No title", "Write a title: it can't be empty.")
		case utf8.RuneCountInString(title) > maxTitle:
			return refuse(http.StatusBadRequest, "Too long", "A title has at most 100 characters. Make it shorter.")
		}
		return v.Conversations.RenameConversation(ctx, who, id, title)
	case "delete":
		return v.Conversations.DeleteConversation(ctx, who, id)
	}
	return refuse(http.StatusBadRequest, "Not possible here", "A conversation can be renamed or deleted here.")
}

// lastUsed is the session of the reader's conversation in which something was said last; "" if there is none that a
// page shows. A rename is nothing that was said.
func (v *request) lastUsed(ctx context.Context) (session, title string, err error) {
	all, err := v.Conversations.ListConversations(ctx, core.ConversationFilter{Person: v.who.Actor.ID, Limit: listPage})
	if err != nil || len(all) == 0 {
		return "", "", err
	}
	last := slices.MaxFunc(all, func(a, b core.Conversation) int { return a.SaidAt.Compare(b.SaidAt) })
	session, _ = v.who.Session(last.ID)
	return session, last.Title, nil
}

// titleOf is what a session's conversation is called; "" if nothing has been said there.
func (v *request) titleOf(ctx context.Context, session string) (string, error) {
	all, err := v.Conversations.ListConversations(ctx, core.ConversationFilter{
		Person: v.who.Actor.ID, ID: v.who.Conversation(session, ""), Limit: 1,
	})
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[0].Title, nil
}
