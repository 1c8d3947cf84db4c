package desk

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Desk judges the presses of one platform. Platform, Cards, Texts and Log are needed.
type Desk struct {
	Platform string
	// nil: the platform seals nothing
	Signer *core.Signer
	Cards  Cards
	Groups Groups // nil: there are none
	// nil: only the store says whether arguments may be changed
	Edits          Edits
	Cautious       Cautious      // nil: what the card itself says
	Reason         int           // how many UTF-16 units a reason may have
	Input          int           // how many UTF-16 units the input for arguments takes
	Within         time.Duration // how long the card is waited for; 0: as long as the press
	Strict         bool          // a press that would not count is refused at once, not only by the store
	*wording.Texts               // what is said
	Log            *slog.Logger
}

// Cards returns the card of an approval; core.Cards is one.
type Cards interface {
	Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
}

// Groups looks up which of the wanted groups a person is in.
type Groups interface {
	Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error)
}

// Cautious says why approving a card is asked again; "": it is not.
type Cautious interface {
	Cautions(card core.Card) string
}

// Edits says why arguments can't take the place of those of an approval's call; core.Cards is one.
type Edits interface {
	CheckEdit(ctx context.Context, id core.ApprovalID, arguments string) error
}

// Shown is the card of a press, where the platform has it at hand.
type Shown core.Card

// Card returns it.
func (s Shown) Card(context.Context, core.ApprovalID, bool) (core.Card, error) {
	return core.Card(s), nil
}

// Press is who pressed a button or submitted a form, where, and what they typed.
type Press struct {
	Who          core.Actor
	Conversation core.ConversationID
	Address      core.Address
	ID           string   // tells one press from the next
	Card         core.Ref // whose button was pressed; "" if the platform does not say
	Disabled     bool     // the platform disables the card's buttons if the press may count
	Form         bool     // a form was submitted; its button is the one that came with it
	Typed        []string // into the form's inputs, by their places; of one with options the place of one, from 1
	Whole        string   // the whole answer as JSON, where it was not typed input by input; ""
}

// Answer is what a platform does about a press: an Event, Open, Show or Say.
type Answer interface{ answer() }

// Event is committed. Click is its decision, if it is one.
type Event struct {
	core.Event
	Click core.Click
}

// Open is a form to open. Value is sealed, and comes back with the submission.
type Open struct {
	Form  doc.Form
	Value string
	Card  core.Card // that it is about
}

// Show shows all arguments of a card's call.
type Show struct{ Card core.Card }

// Say tells the person, privately, that nothing happens, and why. Its error's category is store_busy if the same press
// may succeed later.
type Say struct {
	Err    error
	Faults map[int]string // of what does not fit in a form: what is wrong, by the place of the input
	Again  *Open          // the form with what was typed, to be mended and sent again; nil: there is none
	Mended bool           // what is in that form is not what was typed, but what was probably meant
}

func (Event) answer() {}
func (Open) answer()  {}
func (Show) answer()  {}
func (Say) answer()   {}

// Text is what the person reads.
func (s Say) Text() string { return core.MessageOf(s.Err) }

// Busy reports whether the same press may succeed later.
func (s Say) Busy() bool { return core.CategoryOf(s.Err) == core.StoreBusy }

func invalid(sentence string) error { return core.Errorf(core.Invalid, "%s", sentence) }

func refuse(sentence string) Say { return Say{Err: invalid(sentence)} }

// Press judges a press of a button, or the submission of its form. A button that Open could not read is refused. If the
// card of a form can't be read now, the store decides about it later; only an answer needs its question.
func (d Desk) Press(ctx context.Context, b outbound.Button, p Press) Answer {
	form, all := opens(b), b.Action == outbound.ActionArguments
	shows := all || form != "" && !p.Form // nothing is decided yet
	switch b.Action {
	case "":
		d.Log.Warn("a press of a button, or a form, that gatehouse did not make is refused", "person", p.Who.ID)
		return refuse(d.PressNotOurs)
	case outbound.ActionRetry, outbound.ActionNew:
		return d.again(b, p)
	case outbound.ActionAskAgain:
		return Event{Event: d.event("again/"+string(b.Approval)+"/"+p.Who.ID, core.AskAgainEvent{Approval: b.Approval},
			p)}
	}
	var click core.Click
	if !shows {
		var err error
		if click, err = d.Click(b, p); err != nil {
			d.Log.Info("a press of a button, or a form, is refused", "button", safetext.Clip(string(b.Action)),
				"err", err)
			return Say{Err: err}
		}
		if form == "" && !d.Strict {
			return d.decision(click, p)
		}
	}
	if d.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.Within)
		defer cancel()
	}
	card, err := d.look(ctx, b)
	asks := b.Action == outbound.ActionAnswer
	switch {
	case core.CategoryOf(err) == core.StoreBusy && !shows && !asks && !d.Strict:
		return d.decision(click, p)
	case err != nil:
		return Say{Err: err}
	case (shows || form != "") && (card.Question != nil) != asks:
		return refuse(d.PressMisfit)
	case all:
		return Show{Card: card}
	case shows:
		return d.open(ctx, card, b, p)
	case asks && form != "":
		return d.answer(ctx, card, click, p)
	}
	err = d.Check(ctx, card, click, p.Who)
	switch {
	case b.Action == outbound.ActionEdit:
		if again, refused := d.refuseEdit(ctx, card, b, click.Changed, err); refused {
			return again
		}
	case err != nil:
		return Say{Err: err}
	}
	return d.decision(click, p)
}
