package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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
	Delete sessionsDeleteCmd `cmd:"" help:"${sessions_delete}"`
}

// sessionView is the JSON output of a session.
type sessionView struct {
	Session       core.SessionID      `json:"session"`
	Conversation  core.ConversationID `json:"conversation"`
	SchemaVersion string              `json:"schema_version"`
	Messages      int                 `json:"messages"`
	CreatedAt     time.Time           `json:"created_at"`
	UpdatedAt     time.Time           `json:"updated_at"`
}

var sessionTable = table[sessionView]{
	none:   "No sessions found.",
	header: []string{"SESSION", "MESSAGES", "CREATED", "UPDATED"},
	row: func(s sessionView) []string {
		return []string{string(s.Session), fmt.Sprint(s.Messages), cli.Stamp(s.CreatedAt), cli.Stamp(s.UpdatedAt)}
	},
}

func viewSession(s core.SessionSummary) sessionView {
	return sessionView{s.ID, s.ID.Conversation(), s.SchemaVersion, s.Messages, s.CreatedAt.UTC(), s.UpdatedAt.UTC()}
}

// viewRecord views a session that was loaded, with the number of its messages.
func viewRecord(rec *core.SessionRecord, messages int) sessionView {
	return viewSession(core.SessionSummary{
		ID: rec.ID, SchemaVersion: rec.SchemaVersion, Messages: messages, CreatedAt: rec.CreatedAt,
		UpdatedAt: rec.UpdatedAt,
	})
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
	return sessionTable.print(a, c.JSONFlag, cli.List(all, viewSession))
}

type sessionsShowCmd struct {
	cli.JSONFlag
	ID   string `arg:"" help:"${sessions_id}"`
	Tail int    `default:"20" help:"The number of messages."`
}

// Run prints one session.
func (c sessionsShowCmd) Run(ctx context.Context, a *cli.App, agent Agent, store *storage.Store) error {
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
	tail = cli.List(tail, masker(all, agent.Tools()))
	open := slices.DeleteFunc(all, func(p core.Approval) bool { return p.State != core.Open })
	view := viewRecord(rec, n)
	if c.JSON {
		return a.PrintJSON(struct {
			sessionView
			Open []approvalView `json:"open_approvals"`
			Tail []core.Message `json:"tail"`
		}{view, cli.List(open, viewApproval), tail})
	}
	a.Fields(
		"session", string(rec.ID),
		"messages", fmt.Sprint(n),
		"created", cli.Stamp(rec.CreatedAt),
		"updated", cli.Stamp(rec.UpdatedAt),
	)
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

type sessionsExportCmd struct {
	ID   string `arg:"" help:"${sessions_id}"`
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
	}{viewRecord(rec, 0), rec.Version, rec.State, all})
}
