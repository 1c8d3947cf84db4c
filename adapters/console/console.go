package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/greeting"
	"gatehouse/core/live"
)

// Name is the platform's name.
const Name = "console"

var (
	_ core.Platform  = (*Console)(nil)
	_ core.OldClicks = (*Console)(nil)
)

// Options configure a console. Only In and Out are required.
type Options struct {
	Session string // the conversation's name; "" = default
	In      io.Reader
	Out     io.Writer
	TTY     bool // a prompt instead of a pipe; see IsTerminal
	NoColor bool // a prompt without colours; a pipe never has any
	// the person who types; Local is set, an empty ID becomes console:local
	Actor      core.Actor
	Work       Work              // nil: there is none
	Cards      Cards             // nil: there are none
	Greeting   greeting.Greeting // of an empty conversation, at a prompt
	Live       *live.Hub         // what running turns say, at a prompt; nil: it is not known
	NewID      func() string
	MaxMessage int // the limit of an event's payload in bytes; 0 = 1 MiB
	Log        *slog.Logger
	Words      map[string]string // in place of built-in texts of cards, by their keys
}

// Work is what a conversation has to do.
type Work interface {
	// Idle reports whether there is nothing left.
	Idle(ctx context.Context) (bool, error)
	// Empty reports whether nothing was ever said.
	Empty(ctx context.Context) (bool, error)
}

type noWork struct{}

func (noWork) Idle(context.Context) (bool, error) { return true, nil }

func (noWork) Empty(context.Context) (bool, error) { return true, nil }

// Cards returns the open cards of a conversation, oldest first.
type Cards interface {
	OpenCards(ctx context.Context, conversation core.ConversationID) ([]core.Card, error)
}

// Console is one conversation at a terminal.
type Console struct {
	opt          Options
	conversation core.ConversationID
	texts        *wording.Texts
	accept       core.Accept // stores an event; Run sets it
	earlier      bool        // approvals of earlier are open: a line of a pipe waits for the status before it

	mu             sync.Mutex      // guards the fields below, and Out
	editor         *editor         // nil: no prompt
	cards          []*shown        // the open ones in the order of showing, and those that are decided
	last           core.ApprovalID // the card that was answered last
	working        bool
	doing          doing         // while it works
	spinner        string        // as the prompt shows it now; "" = none
	workingChanged chan struct{} // signals that working has changed
}

// New makes a console. Nothing is read before Run; posts may be printed before it.
func New(o Options) *Console {
	o.Session, o.MaxMessage = cmp.Or(o.Session, "default"), cmp.Or(o.MaxMessage, 1<<20)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Actor.ID, o.Actor.Local = cmp.Or(o.Actor.ID, Name+":local"), true
	if o.Work == nil {
		o.Work = noWork{}
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return &Console{
		opt: o, conversation: conversationOf(o.Session), texts: wording.New(o.Words),
		workingChanged: make(chan struct{}, 1),
	}
}

func conversationOf(session string) core.ConversationID {
	return core.ConversationID(Name + ":" + session)
}

// look is how texts are printed now: the terminal may have another width by the next one.
func (c *Console) look() style {
	s := style{tty: c.opt.TTY, color: c.opt.TTY && !c.opt.NoColor}
	if s.tty {
		s.width, _ = size(c.opt.Out)
	}
	return s
}

// size is a terminal's; 80 × 24 where it is not known.
func size(out io.Writer) (width, height int) {
	f, _ := out.(*os.File) // nil has none
	if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
		return w, h
	}
	return 80, 24
}

func (c *Console) address() core.Address { return core.Address{Platform: Name, Channel: c.opt.Session} }

// terminalKind names the variable in which a terminal says what it is.
const terminalKind = "TERM"

// CanDraw reports whether all ends are terminals that can draw a line anew.
func CanDraw(ends ...any) bool { return IsTerminal(ends...) && os.Getenv(terminalKind) != "dumb" }

// IsTerminal reports whether all ends are terminals. A prompt needs a reader and a writer that are.
func IsTerminal(ends ...any) bool {
	for _, end := range ends {
		if f, _ := end.(*os.File); !term.IsTerminal(int(f.Fd())) { // nil has no descriptor
			return false
		}
	}
	return true
}

// Name is "console".
func (c *Console) Name() string { return Name }

// Run reads until ctx or the input ends; the end of the input is no error.
func (c *Console) Run(ctx context.Context, accept core.Accept) error {
	c.accept = accept
	read := c.pipe
	if c.opt.TTY {
		read = c.prompt
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := read(running); ctx.Err() == nil {
		return err
	}
	return nil
}

// showOpen prints the questions that are open at the start, and one line about open approvals: nobody who has just
// come answers a card of earlier without having asked for it.
func (c *Console) showOpen(ctx context.Context) error {
	if c.opt.Cards == nil {
		return nil
	}
	open, err := c.opt.Cards.OpenCards(ctx, c.conversation)
	if err != nil {
		return core.Wrap(core.CategoryOf(err), err, "Can't read the open approvals.")
	}
	var ids []string
	for _, card := range open {
		switch {
		case card.Question != nil:
			err = c.showCard(core.Delivery{Card: &card})
		case !c.shows(card.Approval):
			ids = append(ids, string(card.Approval))
		}
		if err != nil {
			return err
		}
	}
	if ids == nil {
		return nil
	}
	c.earlier = true
	text := c.texts.TerminalOneOpen
	if len(ids) > 1 {
		text = c.texts.TerminalSeveralOpen
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.print(c.look().lines(shown{}, c.texts.TerminalApproval, wording.Fill(text,
		"{count}", strconv.Itoa(len(ids)), "{ids}", strings.Join(ids, ", "), "{word}", wordStatus)))
}

// shows reports whether a card was printed.
func (c *Console) shows(id core.ApprovalID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(id).lines != nil
}

// remindOpen names the cards that are still open at the end.
func (c *Console) remindOpen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.cards {
		how, command := c.texts.TerminalDecideLater, "gatehouse approvals approve "+string(a.card.Approval)
		if a.card.Question != nil {
			how, command = c.texts.TerminalAnswerLater,
				"gatehouse approvals answer "+string(a.card.Approval)+" --json ANSWER"
		}
		if a.open() {
			_ = c.print(c.look().lines(*a, a.edge, wording.Fill(how, "{what}", a.title, "{command}", command)))
		}
	}
}

// say prints a sentence of the console itself.
func (c *Console) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.print(c.look().notice(text, faint)) // there is no other place for this message
}

// print writes a text. The caller holds mu.
func (c *Console) print(text string) error {
	var err error
	if c.editor != nil {
		err = c.editor.print(text)
	} else {
		_, err = io.WriteString(c.opt.Out, text)
	}
	if err != nil {
		return core.Wrap(core.DeliveryLater, err, "Can't write to the terminal.")
	}
	return nil
}
