package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// Sessions is gatehouse sessions.
type Sessions struct {
	List   sessionsListCmd   `cmd:"" help:"List sessions, latest change first."`
	Show   sessionsShowCmd   `cmd:"" help:"Show a session and its last messages."`
	Reset  sessionsResetCmd  `cmd:"" help:"Start a new session in a conversation, as the control word new does."`
	Export sessionsExportCmd `cmd:"" help:"Print a whole session as JSON, without masking."`
	Delete sessionsDeleteCmd `cmd:"" help:"Delete a session, its messages and its paused turns, and erase its texts everywhere else."`
}

type sessionsListCmd struct {
	cli.JSONFlag
	Limit int `default:"50" help:"The maximum number of sessions; 0 for all."`
}

// Run prints the list.
func (c sessionsListCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	all, err := store.ListSessions(ctx, core.SessionFilter{Limit: c.Limit})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(cli.List(all, viewSession))
	}
	return a.Table("No sessions found.", []string{"SESSION", "MESSAGES", "CREATED", "UPDATED"},
		cli.List(all, func(s core.SessionSummary) []string {
			return []string{string(s.ID), fmt.Sprint(s.Messages), cli.Stamp(s.CreatedAt), cli.Stamp(s.UpdatedAt)}
		}))
}

type sessionsShowCmd struct {
	cli.JSONFlag
	ID   string `arg:"" help:"A session id, or a conversation id for its latest session."`
	Tail int    `default:"20" help:"The number of messages."`
}

// Run prints one session.
func (c sessionsShowCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	rec, err := findSession(ctx, store, c.ID)
	if err != nil {
		return err
	}
	n, tail, err := lastMessages(ctx, rec, c.Tail)
	if err != nil {
		return err
	}
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{Session: rec.ID})
	if err != nil {
		return err
	}
	tail = cli.List(tail, masker(all, a.Secret))
	open := slices.DeleteFunc(all, func(p core.Approval) bool { return p.State != core.Open })
	view := viewSession(
		core.SessionSummary{
			ID: rec.ID, SchemaVersion: rec.SchemaVersion, Messages: n, CreatedAt: rec.CreatedAt,
			UpdatedAt: rec.UpdatedAt,
		})
	if c.JSON {
		return a.PrintJSON(struct {
			sessionView
			Open []approvalView `json:"open_approvals"`
			Tail []core.Message `json:"tail"`
		}{view, cli.List(open, viewApproval), tail})
	}
	a.Fields("session", string(rec.ID), "messages", fmt.Sprint(n), "created", cli.Stamp(rec.CreatedAt),
		"updated", cli.Stamp(rec.UpdatedAt))
	for _, o := range open {
		a.Fields("waiting for", o.Call.Mask(o.Call.Summary)+" ("+string(o.ID)+")")
	}
	printMessages(a, tail)
	return nil
}

// printMessages prints messages that are masked already.
func printMessages(a *cli.App, msgs []core.Message) {
	for _, m := range msgs {
		text := m.Content.String()
		for _, call := range m.ToolCalls {
			text += "\n→ " + call.Name + " " + string(call.Arguments)
		}
		line := fmt.Sprintf("%-*s %s", cli.FieldWidth-1, string(m.Role)+">", cli.Indent(strings.TrimPrefix(text, "\n")))
		fmt.Fprintln(a.Out, strings.TrimRight(line, " "))
	}
}

// lastMessages returns the number of messages and the last n.
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
func findSession(ctx context.Context, store *storage.Store, id string) (*core.SessionRecord, error) {
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
	return nil, core.Errorf(core.NotFound, "There is no session %q. List sessions with gatehouse sessions list.", id)
}

type sessionsExportCmd struct {
	ID   string `arg:"" help:"A session id, or a conversation id for its latest session."`
	JSON bool   `default:"true" hidden:""`
}

// Run prints the session.
func (c sessionsExportCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	rec, err := findSession(ctx, store, c.ID)
	if err != nil {
		return err
	}
	_, all, err := lastMessages(ctx, rec, math.MaxInt32)
	if err != nil {
		return err
	}
	for i, m := range all {
		if all[i], err = m.WithImages(ctx, store.LoadBlob); err != nil {
			return err
		}
	}
	return a.PrintJSON(struct {
		sessionView
		Version int64                      `json:"version"`
		State   map[string]json.RawMessage `json:"state"`
		All     []core.Message             `json:"messages"` // hides the number in sessionView
	}{viewSession(
		core.SessionSummary{
			ID: rec.ID, SchemaVersion: rec.SchemaVersion, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt,
		}), rec.Version, rec.State, all})
}

type sessionsDeleteCmd struct {
	ID string `arg:"" help:"A session id."`
}

// Run deletes the session. It may be repeated, to erase what still had to be answered or sent the last time.
func (c sessionsDeleteCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	id := core.SessionID(c.ID) // only by its exact id: a conversation's latest session may have changed
	rec, err := store.LoadSession(ctx, id, core.Writer{})
	if err != nil {
		return err
	}
	if rec == nil { // deleted before, or never there
		events, err := store.Events(ctx, core.EventFilter{Session: id, Limit: 1})
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return core.Errorf(core.NotFound, "There is no session %q. List sessions with gatehouse sessions list.",
				c.ID)
		}
	}
	if err := store.DeleteSession(ctx, id); err != nil {
		return cli.Bad(err)
	}
	a.PrintLine("Deleted the session %s.", id)
	return c.kept(ctx, a, store, id.Conversation())
}

// kept says which texts of the conversation are kept because they are still to be answered or sent, and what to do
// then.
func (c sessionsDeleteCmd) kept(
	ctx context.Context, a *cli.App, store *storage.Store, conversation core.ConversationID,
) error {
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowWaiting}, conversation, 0)
	if err != nil {
		return err
	}
	posts = slices.DeleteFunc(posts, func(r core.OutboxRow) bool { return r.Text == "" })
	events, err := store.Events(ctx, core.EventFilter{Conversation: conversation, Waiting: true})
	if err != nil {
		return err
	}
	events = slices.DeleteFunc(events, func(e core.EventRecord) bool { return len(e.Payload) == 0 })
	var waiting []string
	if n := len(events); n > 0 {
		waiting = append(waiting, count(n, "event")+" to be processed")
	}
	if n := len(posts); n > 0 {
		waiting = append(waiting, count(n, "post")+" to be sent")
	}
	if len(waiting) == 0 {
		return nil
	}
	a.PrintLine("What still waits in its conversation keeps its text: %s.", strings.Join(waiting, ", "))
	a.PrintLine("To erase those texts, too, run gatehouse sessions delete %s again later, until it says nothing of "+
		"this kind. It then also deletes what was said in the session meanwhile.", cli.Cell(string(c.ID)))
	return nil
}

// count is a number of things, with the noun in the plural if needed.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

type sessionsResetCmd struct {
	cli.JSONFlag
	ID string `arg:"" help:"A session or a conversation."`
}

// localAdmin is the person who runs the command line.
var localAdmin = core.Actor{ID: core.LocalAdmin, Name: core.LocalAdmin}

// Run accepts a reset event. It is processed in order with the conversation's messages, like a reset that comes from
// the platform.
func (c sessionsResetCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	conversation, to, err := findConversation(ctx, store, c.ID)
	if err != nil {
		return err
	}
	r, err := store.Accept(ctx, core.Event{
		Platform: to.Platform, ID: "cli/" + cli.NewID(), Conversation: conversation, Body: core.ResetEvent{},
		Actor: localAdmin, Address: to,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"conversation": conversation, "seq": r.Seq})
	}
	a.PrintLine("The conversation %s will start a new session with turn %d, as soon as a running gatehouse processes "+
		"it.", conversation, r.Seq)
	return nil
}

// findConversation returns the conversation of a session or conversation id, and the address of its last event.
func findConversation(ctx context.Context, store *storage.Store, id string) (core.ConversationID, core.Address, error) {
	for _, conversation := range []core.ConversationID{core.ConversationID(id), core.SessionID(id).Conversation()} {
		last, err := store.Events(ctx, core.EventFilter{Conversation: conversation, Limit: 1})
		if err != nil {
			return "", core.Address{}, err
		}
		if len(last) > 0 {
			return conversation, last[0].Address, nil
		}
	}
	rec, err := findSession(ctx, store, id) // its events may have been pruned
	if err != nil {
		return "", core.Address{}, err
	}
	conversation := rec.ID.Conversation()
	platform, channel, _ := strings.Cut(string(conversation), ":")
	return conversation, core.Address{Platform: platform, Channel: channel}, nil
}
