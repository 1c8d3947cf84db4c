package admin

import (
	"context"
	"slices"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

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
