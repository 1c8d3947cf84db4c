package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"os/user"
	"regexp"
	"time"

	"gatehouse/adapters/console"
	"gatehouse/cmd/gatehouse/internal/backup"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/move"
	"gatehouse/cmd/gatehouse/internal/reload"
	"gatehouse/core"
	"gatehouse/core/dispatch"
	"gatehouse/storage"
)

// sessionName matches names that are safe in a conversation id, a file name and a shell.
var sessionName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,64}$`)

type chatCmd struct {
	move.Anyway
	Session string `default:"default" placeholder:"ID" help:"The conversation to open or continue."`
}

// Help says where the log is.
func (chatCmd) Help() string {
	return "Ctrl-C stops the running turn; a second Ctrl-C, Ctrl-D, /quit or exit leaves. /help shows what else can " +
		"be typed.\n\n" +
		"The log, warnings and errors only, goes to standard error. In a terminal it is not shown, because it would " +
		"land in the chat: " +
		"gatehouse chat 2>chat.log keeps it in a file."
}

// Run runs one conversation at the terminal, on the same store and the same path as every platform.
func (c chatCmd) Run(ctx context.Context, a *cli.App) error {
	if !sessionName.MatchString(c.Session) {
		return core.Errorf(core.Invalid,
			"The session name %q is invalid. Use up to 64 letters, digits, dots, dashes and underscores.", c.Session)
	}
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	prompt := console.CanDraw(a.In, a.Out)
	if prompt && console.IsTerminal(a.Err) {
		log = slog.New(slog.DiscardHandler)
	}
	if builtIn := dispatch.DefaultSentences(); cfg.Sentences.Help == builtIn.Help {
		cfg.Sentences.Help = console.Help
	}
	hangups := reload.Listen()
	warnOfTools(cfg, log)
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	conversation := core.ConversationID(console.Name + ":" + c.Session)
	owner, err := store.Register(ctx, "chat-"+c.Session, cfg.Heartbeat)
	if err != nil {
		return err
	}
	if err := c.Check(ctx, store, log); err != nil {
		return err
	}
	if err := backup.Settle(ctx, store, cfg.Drivers, log); err != nil {
		return err
	}
	parts := newShared(cfg, store, log)
	config := console.Config{Options: console.Options{
		Session:    c.Session,
		Actor:      localPerson(),
		In:         a.In,
		Out:        a.Out,
		TTY:        prompt,
		NoColor:    os.Getenv("NO_COLOR") != "",
		Work:       work{store, conversation},
		Greeting:   cfg.Greeting,
		Live:       parts.live,
		NewID:      cli.NewID,
		MaxMessage: int(cfg.MaxMessage),
	}}
	terminal, err := config.Open(parts.deps(owner))
	if err != nil {
		return err
	}
	g, err := newGateway(parts, owner, []core.ConversationID{conversation},
		leaving{terminal, a, store, conversation, prompt, cfg.DrainTimeout})
	if err != nil {
		return err
	}
	go g.reload(ctx, a.Settings, hangups, nil)
	if q, err := store.Queue(ctx, 1); err == nil && q.Paused {
		a.Warn("Paused: messages are kept, and answered after gatehouse unpause.")
	}
	defer console.DiscardInput(a.In)
	return g.Run(ctx)
}

// leaving is a console that says what it waits for when its person has left. From then on a signal to stop ends the
// process at once.
type leaving struct {
	core.Platform
	app          *cli.App
	store        *storage.Store
	conversation core.ConversationID
	prompt       bool // a person sees what is said
	drain        time.Duration
}

// Run runs the console.
func (l leaving) Run(ctx context.Context, accept core.Accept) error {
	err := l.Platform.Run(ctx, accept)
	signal.Reset(stopSignals...)
	if !l.prompt {
		return err
	}
	if done, err := idle(context.WithoutCancel(ctx), l.store, l.conversation); err == nil && !done {
		l.app.PrintLine("Leaving as soon as the running turn has ended, after %s at most. Ctrl-C leaves at once.",
			l.drain)
	}
	return err
}

// work is what a conversation has to do.
type work struct {
	store        *storage.Store
	conversation core.ConversationID
}

// Idle reports whether there is nothing left.
func (w work) Idle(ctx context.Context) (bool, error) { return idle(ctx, w.store, w.conversation) }

// Empty reports whether nothing was ever said.
func (w work) Empty(ctx context.Context) (bool, error) {
	events, err := w.store.Events(ctx, core.EventFilter{Conversation: w.conversation, Limit: 1})
	return len(events) == 0, err
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
