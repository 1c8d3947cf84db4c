package web

import (
	"net/http"
	"slices"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// How many rows the pages for admins have.
const (
	maxSessions = 100
	maxRows     = 100
)

type sessionRow struct {
	ID       core.SessionID
	Messages int
	Created  markup.Moment
	Updated  markup.Moment
}

type sessionsPage struct {
	Rows []sessionRow
	Full bool // there may be more
}

func (v *visit) sessions() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	all, err := v.Views.ListSessions(v.r.Context(), core.SessionFilter{Limit: maxSessions})
	if err != nil {
		return err
	}
	page := sessionsPage{Full: len(all) == maxSessions}
	for _, s := range all {
		page.Rows = append(page.Rows, sessionRow{s.ID, s.Messages, v.moment(s.CreatedAt), v.moment(s.UpdatedAt)})
	}
	v.show(http.StatusOK, "sessions", "Sessions", page)
	return nil
}

type queueRow struct {
	Key     core.QueueKey
	Waiting int
	Oldest  markup.Moment
	Owner   string
	ReadyAt markup.Moment
}

// deadRow is a turn that was given up. Its cause holds no text of a message.
type deadRow struct {
	Seq          int64
	Conversation core.ConversationID
	Category     core.Category
	Cause        string
	Ended        markup.Moment
}

// heldRow is a post whose last attempt failed.
type heldRow struct {
	Seq          int64
	Conversation core.ConversationID
	Cause        string
	Next         markup.Moment
}

type queuePage struct {
	core.QueueView
	Rows      []queueRow
	DeadTurns []deadRow
	Held      []heldRow
}

func (v *visit) queue() error {
	if err := v.forAdmins(); err != nil {
		return err
	}
	ctx := v.r.Context()
	q, err := v.Views.Queue(ctx)
	if err != nil {
		return err
	}
	dead, err := v.Views.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}, Limit: maxRows})
	if err != nil {
		return err
	}
	posts, err := v.Views.ListPosts(ctx, []core.RowState{core.RowWaiting}, "", 0)
	if err != nil {
		return err
	}
	posts = slices.DeleteFunc(posts, func(p core.OutboxRow) bool { return p.Cause == "" }) // no attempt failed yet
	page := queuePage{QueueView: q}
	for _, e := range q.Entries {
		page.Rows = append(page.Rows, queueRow{e.Key, e.Waiting, v.moment(e.Oldest), e.Owner, v.moment(e.ReadyAt)})
	}
	for _, e := range dead {
		page.DeadTurns = append(page.DeadTurns, deadRow{e.Seq, e.Conversation, e.End.Category, mask.Text(e.End.Cause), v.moment(e.EndedAt)})
	}
	for _, p := range posts[:min(len(posts), maxRows)] {
		page.Held = append(page.Held, heldRow{p.Seq, p.Conversation, mask.Text(p.Cause), v.moment(p.NextAt)})
	}
	v.show(http.StatusOK, "queue", "Queue", page)
	return nil
}
