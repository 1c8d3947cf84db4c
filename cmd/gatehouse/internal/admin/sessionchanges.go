package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

type sessionsResetCmd struct {
	cli.JSONFlag
	cli.YesFlag
	ID string `arg:"" help:"${sessions_id}"`
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
	question := fmt.Sprintf("Start a new session in %s? Its paused turns and open approvals are cancelled.",
		conversation)
	if err := a.Ask(ctx, c.YesFlag, question); err != nil {
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

type sessionsDeleteCmd struct {
	cli.JSONFlag
	cli.YesFlag
	ID string `arg:"" help:"${sessions_delete_id}"`
}

// deletionView is the JSON output of a deletion: how much of the conversation keeps its text, because it is still to be
// processed or sent.
type deletionView struct {
	Session core.SessionID `json:"session"`
	Events  int            `json:"events_kept"`
	Posts   int            `json:"posts_kept"`
}

// Run deletes the session. It may be repeated, to erase what still had to be answered or sent the last time.
func (c sessionsDeleteCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	id, messages, err := c.which(ctx, store)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Delete %s of the session %s? This can't be undone.", count(messages, "message"), id)
	if err := a.Ask(ctx, c.YesFlag, question); err != nil {
		return err
	}
	if err := store.DeleteSession(ctx, id); err != nil {
		return cli.Bad(err)
	}
	v, err := keptOf(ctx, store, id)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(v)
	}
	a.PrintLine("Deleted the session %s.", id)
	v.print(a)
	return nil
}

// which returns the session and how many messages it has: by its id, or the beginning or end of one alone. A
// conversation's id is none, since its latest session may have changed. A session that was deleted before has no
// messages.
func (c sessionsDeleteCmd) which(ctx context.Context, store *storage.Store) (core.SessionID, int, error) {
	all, err := store.ListSessions(ctx, core.SessionFilter{})
	if err != nil {
		return "", 0, err
	}
	id := core.SessionID(c.ID)
	at := func(s core.SessionSummary) bool { return s.ID == id }
	ofConversation := func(s core.SessionSummary) bool { return string(s.ID.Conversation()) == c.ID }
	if !slices.ContainsFunc(all, at) && !slices.ContainsFunc(all, ofConversation) {
		one, err := partOfSession(c.ID, all)
		if err != nil {
			return "", 0, err
		}
		id = cmp.Or(one, id)
	}
	if i := slices.IndexFunc(all, at); i >= 0 {
		return id, all[i].Messages, nil
	}
	events, err := store.Events(ctx, core.EventFilter{Session: id, Limit: 1})
	if err == nil && len(events) == 0 {
		err = unknownSession(c.ID)
	}
	return id, 0, err
}

// keptOf counts the texts of a deleted session's conversation that are kept because they are still to be answered or
// sent.
func keptOf(ctx context.Context, store *storage.Store, id core.SessionID) (v deletionView, err error) {
	v.Session = id
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowWaiting}, id.Conversation(), 0)
	if err != nil {
		return v, err
	}
	events, err := store.Events(ctx, core.EventFilter{Conversation: id.Conversation(), Waiting: true})
	if err != nil {
		return v, err
	}
	v.Posts = len(slices.DeleteFunc(posts, func(r core.OutboxRow) bool { return r.Text == "" }))
	v.Events = len(slices.DeleteFunc(events, func(e core.EventRecord) bool { return len(e.Payload) == 0 }))
	return v, nil
}

// print says what is kept, and what to do then.
func (v deletionView) print(a *cli.App) {
	var waiting []string
	if v.Events > 0 {
		waiting = append(waiting, count(v.Events, "event")+" to be processed")
	}
	if v.Posts > 0 {
		waiting = append(waiting, count(v.Posts, "post")+" to be sent")
	}
	if len(waiting) == 0 {
		return
	}
	a.PrintLine("What still waits in its conversation keeps its text: %s.", strings.Join(waiting, ", "))
	a.PrintLine("To erase those texts, too, run gatehouse sessions delete %s again later, until it says nothing of "+
		"this kind. It then also deletes what was said in the session meanwhile.", cli.Cell(string(v.Session)))
}
