package main

import (
	"context"
	"io"
	"log/slog"
	"os/user"
	"strings"

	"gatehouse/adapters/console"
	"gatehouse/approvals"
	"gatehouse/core"
)

// chatAt is "gatehouse chat": one conversation at the terminal, on the same store and path as every platform.
func chatAt(ctx context.Context, cfg Config, session string, store core.Store, in io.Reader, out io.Writer, noColor bool, log *slog.Logger) error {
	conversation := core.ConversationID(console.Name + ":" + session)
	owner, err := store.Register(ctx, "chat-"+session)
	if err != nil {
		return err
	}
	desk := approvals.NewService(store)
	terminal := console.New(console.Options{
		Session: session, In: in, Out: out, TTY: console.IsTerminal(in, out), NoColor: noColor, Actor: localPerson(),
		Quiet:      func(ctx context.Context) (bool, error) { return quiet(ctx, store, conversation) },
		OpenCards:  func(ctx context.Context) ([]core.Card, error) { return desk.OpenCards(ctx, conversation) },
		NewID:      newID,
		MaxMessage: cfg.MaxMessage,
		Log:        log,
	})
	g, err := newGateway(cfg, store, owner, log, []core.ConversationID{conversation}, terminal)
	if err != nil {
		return err
	}
	if q, err := store.Queue(ctx); err == nil && q.Paused {
		log.Warn("gatehouse is paused: what is said now is kept, and answered after gatehouse unpause")
	}
	return g.Run(ctx)
}

// quiet reports whether a conversation has nothing left to do: no event waits in any of its queues, and no post.
func quiet(ctx context.Context, store core.Store, conversation core.ConversationID) (bool, error) {
	events, err := store.Events(ctx, core.EventFilter{Waiting: true, Conversation: conversation, Limit: 1})
	if err != nil || len(events) > 0 {
		return false, err
	}
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowWaiting}, conversation, 1)
	return len(posts) == 0, err
}

// localPerson is whoever runs the program.
func localPerson() core.Actor {
	name := "local"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return core.Actor{ID: console.Name + ":" + name, Name: name, Local: true}
}

// validSession keeps names of sessions to what is safe in a conversation, a file name and a shell.
func validSession(name string) error {
	odd := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, odd) {
		return core.Errorf(core.Invalid, "The session name %q can't be used: up to 64 letters, digits, dots, dashes and underscores.", name)
	}
	return nil
}
