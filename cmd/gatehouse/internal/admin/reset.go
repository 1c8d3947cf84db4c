package admin

import (
	"context"
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
var localAdmin = core.Actor{ID: "local-admin", Name: "local-admin"}

// Run accepts a reset event. It is processed in order with the conversation's messages, like a reset that comes from the platform.
func (c sessionsResetCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	conversation, to, err := findConversation(ctx, store, c.ID)
	if err != nil {
		return err
	}
	r, err := store.Accept(ctx, core.Event{
		Platform: to.Platform, ID: "cli/" + cli.NewID(), Conversation: conversation, Body: core.ResetEvent{}, Actor: localAdmin, Address: to,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"conversation": conversation, "seq": r.Seq})
	}
	a.Say("The conversation %s will start a new session with turn %d, as soon as a running gatehouse processes it.", conversation, r.Seq)
	return nil
}

// findConversation gives the conversation of a session or conversation id, and the address of its last event.
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
