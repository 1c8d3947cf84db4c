package main

import (
	"context"
	"strings"

	"gatehouse/core"
)

type sessionsResetCmd struct {
	asJSON
	ID string `arg:"" help:"A session or a conversation."`
}

// localAdmin is whoever runs the command line.
var localAdmin = core.Actor{ID: "local-admin", Name: "local-admin"}

// Run accepts the event "new conversation". It takes its place among the conversation's messages, like one from the platform itself.
func (c sessionsResetCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		conversation, to, err := findConversation(ctx, store, c.ID)
		if err != nil {
			return err
		}
		r, err := store.Accept(ctx, core.Event{
			Platform: to.Platform, ID: "cli/" + newID(), Conversation: conversation, Body: core.ResetEvent{}, Actor: localAdmin, Address: to,
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(map[string]any{"conversation": conversation, "seq": r.Seq})
		}
		a.say("The conversation %s starts afresh with turn %d, once a running gatehouse has taken it.", conversation, r.Seq)
		return nil
	})
}

// findLane gives the conversation of a session or conversation, and where it is answered: where its last event was.
func findConversation(ctx context.Context, store core.Store, id string) (core.ConversationID, core.Address, error) {
	for _, conversation := range []core.ConversationID{core.ConversationID(id), core.SessionID(id).Conversation()} {
		last, err := store.Events(ctx, core.EventFilter{Conversation: conversation, Limit: 1})
		if err != nil {
			return "", core.Address{}, err
		}
		if len(last) > 0 {
			return conversation, last[0].Address, nil
		}
	}
	rec, err := findSession(ctx, store, id) // its events may be pruned
	if err != nil {
		return "", core.Address{}, err
	}
	conversation := rec.ID.Conversation()
	platform, place, _ := strings.Cut(string(conversation), ":")
	return conversation, core.Address{Platform: platform, Channel: place}, nil
}
