package main

import (
	"context"
	"log/slog"
	"os"
	"os/user"
	"regexp"

	"gatehouse/adapters/console"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/dispatch"
	"gatehouse/storage"
)

// sessionName matches names that are safe in a conversation id, a file name and a shell.
var sessionName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,64}$`)

type chatCmd struct {
	Session string `default:"default" placeholder:"ID" help:"The conversation to open or continue."`
}

// Run runs one conversation at the terminal, on the same store and the same path as every platform. The log goes to standard error
// and shows warnings and errors only.
func (c chatCmd) Run(ctx context.Context, a *cli.App) error {
	if !sessionName.MatchString(c.Session) {
		return core.Errorf(core.Invalid, "The session name %q is invalid. Use up to 64 letters, digits, dots, dashes and underscores.", c.Session)
	}
	if console.IsTerminal(a.In, a.Out, a.Err) {
		a.Err = cli.RawTerminal{Writer: a.Err}
	}
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	if builtIn := dispatch.DefaultSentences(); cfg.Sentences.Help == builtIn.Help {
		cfg.Sentences.Help = console.Help
	}
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	conversation := core.ConversationID(console.Name + ":" + c.Session)
	owner, err := store.Register(ctx, "chat-"+c.Session, cfg.Lease)
	if err != nil {
		return err
	}
	service := approvals.NewService(store, store)
	terminal := console.New(console.Options{
		Session: c.Session, In: a.In, Out: a.Out, TTY: console.IsTerminal(a.In, a.Out), NoColor: os.Getenv("NO_COLOR") != "", Actor: localPerson(),
		Idle:       func(ctx context.Context) (bool, error) { return idle(ctx, store, conversation) },
		OpenCards:  func(ctx context.Context) ([]core.Card, error) { return service.OpenCards(ctx, conversation) },
		NewID:      cli.NewID,
		MaxMessage: int(cfg.MaxMessage),
		Log:        log,
	})
	g, err := newGateway(cfg, store, owner, log, []core.ConversationID{conversation}, terminal)
	if err != nil {
		return err
	}
	if q, err := store.Queue(ctx); err == nil && q.Paused {
		log.Warn("gatehouse is paused: messages are kept, and answered after gatehouse unpause")
	}
	return g.Run(ctx)
}

// idle reports whether a conversation has nothing left to do: no event waits in any of its queues, and no post.
func idle(ctx context.Context, store *storage.Store, conversation core.ConversationID) (bool, error) {
	events, err := store.Events(ctx, core.EventFilter{Waiting: true, Conversation: conversation, Limit: 1})
	if err != nil || len(events) > 0 {
		return false, err
	}
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowWaiting}, conversation, 1)
	return len(posts) == 0, err
}

// localPerson is the person who runs the program.
func localPerson() core.Actor {
	name := "local"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return core.Actor{ID: console.Name + ":" + name, Name: name, Local: true}
}
