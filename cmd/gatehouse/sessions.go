package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
)

type sessionsCmd struct {
	List   sessionsListCmd   `cmd:"" help:"List conversations, latest change first."`
	Show   sessionsShowCmd   `cmd:"" help:"Show a conversation and its last messages."`
	Reset  sessionsResetCmd  `cmd:"" help:"Start a conversation afresh, as if somebody had said new there."`
	Export sessionsExportCmd `cmd:"" help:"Print a conversation as JSON: all of it, nothing masked."`
	Delete sessionsDeleteCmd `cmd:"" help:"Remove a conversation, its messages and its paused turns."`
}

type sessionsListCmd struct {
	asJSON
	Limit int `default:"50" help:"How many; 0 for all."`
}

// Run lists.
func (c sessionsListCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		all, err := store.ListSessions(ctx, core.SessionFilter{Limit: c.Limit})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(list(all, viewSession))
		}
		return a.table("There are no sessions.", []string{"SESSION", "MESSAGES", "CREATED", "UPDATED"}, list(all, func(s core.SessionSummary) []string {
			return []string{string(s.ID), fmt.Sprint(s.Messages), stamp(s.CreatedAt), stamp(s.UpdatedAt)}
		}))
	})
}

type sessionsShowCmd struct {
	asJSON
	ID   string `arg:"" help:"A session, or a conversation for its latest."`
	Tail int    `default:"20" help:"How many messages."`
}

// Run shows.
func (c sessionsShowCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		rec, err := findSession(ctx, store, c.ID)
		if err != nil {
			return err
		}
		n, tail, err := lastMessages(ctx, rec, c.Tail)
		if err != nil {
			return err
		}
		tail = list(tail, masked)
		open, err := store.ListApprovals(ctx, core.ApprovalFilter{Session: rec.ID, States: []core.ApprovalState{core.Open}})
		if err != nil {
			return err
		}
		view := viewSession(core.SessionSummary{ID: rec.ID, SchemaVersion: rec.SchemaVersion, Messages: n, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt})
		if c.JSON {
			return a.json(struct {
				sessionView
				Open []approvalView `json:"open_approvals"`
				Tail []core.Message `json:"tail"`
			}{view, list(open, viewApproval), tail})
		}
		a.fields("session", string(rec.ID), "messages", fmt.Sprint(n), "created", stamp(rec.CreatedAt), "updated", stamp(rec.UpdatedAt))
		for _, o := range open {
			a.fields("waits for", core.MaskText(o.Call.Summary)+" ("+string(o.ID)+")")
		}
		a.messages(tail)
		return nil
	})
}

// messages prints what was said, masked already, one message a paragraph.
func (a *app) messages(msgs []core.Message) {
	for _, m := range msgs {
		text := m.Content.String()
		for _, call := range m.ToolCalls {
			text += "\n→ " + call.Name + " " + string(call.Arguments)
		}
		line := fmt.Sprintf("%-12s %s", string(m.Role)+">", indent(strings.TrimPrefix(text, "\n"), 13))
		fmt.Fprintln(a.std.Out, strings.TrimRight(line, " "))
	}
}

// lastMessages gives how many there are and the last n.
func lastMessages(ctx context.Context, rec *core.SessionRecord, n int) (int, []core.Message, error) {
	if rec.Messages == nil {
		return 0, []core.Message{}, nil
	}
	tail, err := rec.Messages.Tail(ctx, n)
	if tail == nil {
		tail = []core.Message{}
	}
	return rec.Messages.Len(), tail, err
}

// findSession loads a session by its id or, for a conversation, the latest one that has a record.
func findSession(ctx context.Context, store core.Store, id string) (*core.SessionRecord, error) {
	rec, err := store.LoadSession(ctx, core.SessionID(id), core.Writer{})
	if rec != nil || err != nil {
		return rec, err
	}
	all, err := store.ListSessions(ctx, core.SessionFilter{})
	if err != nil {
		return nil, err
	}
	for _, s := range all { // the latest change first
		if s.ID.Conversation() == core.ConversationID(id) && string(s.ID) != id {
			if rec, err = store.LoadSession(ctx, s.ID, core.Writer{}); rec != nil || err != nil {
				return rec, err
			}
		}
	}
	return nil, core.Errorf(core.NotFound, "There is no session %q; gatehouse sessions list shows those there are.", id)
}

type sessionsExportCmd struct {
	ID   string `arg:"" help:"A session, or a conversation for its latest."`
	JSON bool   `default:"true" hidden:""`
}

// Run exports.
func (c sessionsExportCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		rec, err := findSession(ctx, store, c.ID)
		if err != nil {
			return err
		}
		n, _, err := lastMessages(ctx, rec, 0)
		if err != nil {
			return err
		}
		_, all, err := lastMessages(ctx, rec, n)
		if err != nil {
			return err
		}
		return a.json(struct {
			sessionView
			Version int64                      `json:"version"`
			State   map[string]json.RawMessage `json:"state"`
			All     []core.Message             `json:"messages"` // instead of their number
		}{viewSession(core.SessionSummary{ID: rec.ID, SchemaVersion: rec.SchemaVersion, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt}), rec.Version, rec.State, all})
	})
}

type sessionsDeleteCmd struct {
	ID string `arg:"" help:"A session."`
}

// Run deletes.
func (c sessionsDeleteCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		id := core.SessionID(c.ID) // by its own id alone: a conversation's latest may be another by now
		rec, err := store.LoadSession(ctx, id, core.Writer{})
		if err != nil {
			return err
		}
		if rec == nil {
			return core.Errorf(core.NotFound, "There is no session %q; gatehouse sessions list shows those there are.", c.ID)
		}
		if err := store.DeleteSession(ctx, id); err != nil {
			return bad(err)
		}
		a.say("The session %s is deleted.", id)
		return nil
	})
}
