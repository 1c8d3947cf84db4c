package console

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"

	"gatehouse/core"
)

// Name is the platform's name.
const Name = "console"

var (
	_ core.Platform = (*Console)(nil)
)

// Options say what a console is connected to. Only In and Out must be given.
type Options struct {
	Session    string // of the conversation; "" = default
	In         io.Reader
	Out        io.Writer
	TTY        bool       // a prompt instead of a pipe; see IsTerminal
	NoColor    bool       // of a prompt; a pipe has no colours
	Actor      core.Actor // who types; Local is set, an empty ID becomes console:local
	Quiet      func(context.Context) (bool, error)
	OpenCards  func(context.Context) ([]core.Card, error)
	NewID      func() string
	MaxMessage int // bytes of an event's payload; 0 = 1 MiB
	Log        *slog.Logger
}

// Console is one conversation at a terminal.
type Console struct {
	opt          Options
	conversation core.ConversationID
	style        style

	mu      sync.Mutex // of all below, and of Out
	term    *term.Terminal
	cards   table
	working bool
	frame   string        // of the spinner, as the prompt shows it
	worked  chan struct{} // says that working has changed
}

// New makes a console; nothing is read or printed before Run, but for posts.
func New(o Options) *Console {
	if o.Session == "" {
		o.Session = "default"
	}
	if o.Actor.ID == "" {
		o.Actor.ID = Name + ":local"
	}
	o.Actor.Local = true
	if o.Quiet == nil {
		o.Quiet = func(context.Context) (bool, error) { return true, nil }
	}
	if o.OpenCards == nil {
		o.OpenCards = func(context.Context) ([]core.Card, error) { return nil, nil }
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 1 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Console{
		opt: o, conversation: core.ConversationID(Name + ":" + o.Session), style: style{tty: o.TTY, color: o.TTY && !o.NoColor},
		worked: make(chan struct{}, 1),
	}
}

// IsTerminal reports whether all ends are terminals: a prompt needs both its reader and its writer to be one.
func IsTerminal(ends ...any) bool {
	for _, end := range ends {
		f, ok := end.(*os.File)
		if !ok || f == nil || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}

// Name is "console".
func (c *Console) Name() string { return Name }

// Run talks until ctx or the input ends; the end of the input is no error.
func (c *Console) Run(ctx context.Context, accept core.Accept) error {
	var err error
	if c.opt.TTY {
		err = c.interactive(ctx, accept)
	} else {
		err = c.pipe(ctx, accept)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// showOpen prints the cards that wait already.
func (c *Console) showOpen(ctx context.Context) error {
	open, err := c.opt.OpenCards(ctx)
	if err != nil {
		return core.Wrap(core.CategoryOf(err), err, "The approvals that are still open could not be read.")
	}
	for _, card := range open {
		if err := c.showCard(card, false); err != nil {
			return err
		}
	}
	return nil
}

// hint names the cards that are left open at the end.
func (c *Console) hint() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.cards.open {
		_ = c.print(c.style.approval(oneLine(a.card.Summary) + " still waits; decide with: gatehouse approvals approve " + oneLine(string(a.card.Approval))))
	}
}

// say prints a sentence of the console itself.
func (c *Console) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.print(c.style.bot(text)) // nobody is there to be told
}

// print writes one finished text. The caller holds mu.
func (c *Console) print(text string) error {
	var err error
	if c.term != nil {
		c.resize()
		_, err = c.term.Write([]byte(text))
	} else {
		_, err = io.WriteString(c.opt.Out, text)
	}
	if err != nil {
		return core.Wrap(core.DeliveryLater, err, "The terminal could not be written to.")
	}
	return nil
}
