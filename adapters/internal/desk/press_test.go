package desk_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// presses are the buttons that are pressed, each with how the press differs from that of Bob; nil: not at all.
type presses map[outbound.Action]func(*desk.Press)

// counter is a desk with one card, whose store a test can take away.
type counter struct {
	desk.Desk
	card   core.Card
	err    error
	groups []string
	looked int // for groups
}

func newCounter(t *testing.T, change func(*core.Card)) *counter {
	t.Helper()
	c := &counter{card: core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add milk", Arguments: `{"text": "milk"}`,
		Approvers: []string{"x:bob"}, Quorum: 1, Vetoes: 1,
		Requested: core.Actor{ID: "x:ann"}, Editable: true, Edits: 2,
	}}
	if change != nil {
		change(&c.card)
	}
	c.Desk = desk.Desk{
		Platform: "x", Texts: wording.BuiltIn, Signer: adaptertest.Signer(t, key), Reason: 100, Input: 100,
		Within: time.Minute, Log: (&adaptertest.Log{}).Logger(),
		Cards: adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
			return c.card, c.err
		}),
	}
	c.Desk.Groups = c
	return c
}

// Groups are those of everybody who presses.
func (c *counter) Groups(context.Context, core.Actor, []string) ([]string, error) {
	c.looked++
	return c.groups, nil
}

// button is a button of the counter's card.
func (c *counter) button(action outbound.Action) outbound.Button {
	return outbound.CardButton(c.card, action)
}

func (c *counter) press(t *testing.T, b outbound.Button, change func(*desk.Press)) desk.Answer {
	t.Helper()
	p := desk.Press{
		Who: core.Actor{ID: "x:bob"}, Conversation: "x:c", Address: core.Address{Platform: "x", Channel: "c"}, ID: "7",
		Card: "c/1",
	}
	if change != nil {
		change(&p)
	}
	return c.Press(t.Context(), b, p)
}

func typed(texts ...string) func(*desk.Press) {
	return func(p *desk.Press) { p.Form, p.Typed = true, texts }
}

func asked(t *testing.T, schema string) func(*core.Card) {
	q, err := question.New("Which?", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *core.Card) { c.Question, c.Edits = &q, 0 }
}

const order = `{"type":"object","required":["size","count"],"properties":{"size":{"enum":["s","m"]},` +
	`"count":{"type":"integer","minimum":3},"note":{"type":"string"}}}`

// TestADecisionIsAnEventWithItsClick, of a button or of a form.
func TestADecisionIsAnEventWithItsClick(t *testing.T) {
	choice := func(c *counter, place int) outbound.Button { return outbound.OptionButton(c.card, place) }
	for name, c := range map[string]struct {
		change func(*core.Card)
		button func(*counter) outbound.Button
		press  func(*desk.Press)
		want   core.Click
	}{
		"approve": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionApprove)
		}, nil, core.Click{Choice: core.Approve, Edits: 2}},
		"deny": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionDeny)
		}, nil, core.Click{Choice: core.Deny, Edits: 2}},
		"deny with why": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionDeny)
		}, func(p *desk.Press) { p.Typed = []string{" no "} }, core.Click{Choice: core.Deny, Edits: 2, Reason: "no"}},
		"withdraw": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionWithdraw)
		}, nil, core.Click{Choice: core.Withdraw, Edits: 2}},
		"reason": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionReason)
		}, typed(" <no> & never "), core.Click{Choice: core.Deny, Edits: 2, Reason: "<no> & never"}},
		"confirm": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionConfirm)
		}, typed(" Approve"), core.Click{Choice: core.Approve, Edits: 2}},
		"edit": {nil, func(c *counter) outbound.Button {
			return c.button(outbound.ActionEdit)
		}, typed(" {}\n"), core.Click{Choice: core.Edit, Edits: 2, Changed: "{}"}},
		"an option": {asked(t, `{"enum":["a","b"]}`), func(c *counter) outbound.Button {
			return choice(c, 2)
		}, nil, core.Click{Choice: core.Answer, Option: 2}},
		"a form": {asked(t, order), func(c *counter) outbound.Button {
			return choice(c, 0)
		}, typed("2", "4"), core.Click{Choice: core.Answer, Answer: `{"size":"m","count":4}`}},
		"a whole answer": {asked(t, order), func(c *counter) outbound.Button {
			return choice(c, 0)
		}, func(p *desk.Press) {
			p.Form, p.Whole = true, `{"count": 5, "size": "s"}`
		}, core.Click{Choice: core.Answer, Answer: `{"size":"s","count":5}`}},
	} {
		t.Run(name, func(t *testing.T) {
			at := newCounter(t, c.change)
			e, ok := at.press(t, c.button(at), c.press).(desk.Event)
			c.want.Approval, c.want.Card = "a1", "c/1"
			if !ok || e.Click != c.want || e.ID != "vote/a1/bob/7" || e.Body != (core.ClickEvent{Approval: "a1"}) ||
				e.Conversation != "x:c" || e.Address.Channel != "c" || e.Actor.ID != "x:bob" {
				t.Fatalf("got %+v", e)
			}
			if click, err := core.ClickOf(e.Event); err != nil || click != c.want {
				t.Errorf("the payload %s is %+v, %v", e.Payload, click, err)
			}
		})
	}
}

// TestButtonsBelowAFailure, and on an expired card, are one event however often they are pressed.
func TestButtonsBelowAFailure(t *testing.T) {
	c := newCounter(t, nil)
	d := core.Delivery{Post: core.Post{Event: 17, Conversation: "x:other"}}
	for id, want := range map[string]struct {
		button       outbound.Button
		body         core.EventBody
		conversation core.ConversationID
	}{
		"press/again/17": {outbound.ReplyButton(d, outbound.ActionRetry), core.RetryEvent{Failed: 17}, "x:other"},
		"press/new/17":   {outbound.ReplyButton(d, outbound.ActionNew), core.ResetEvent{Failed: 17}, "x:other"},
		"again/a1/x:bob": {c.button(outbound.ActionAskAgain), core.AskAgainEvent{Approval: "a1"}, "x:c"},
	} {
		e, ok := c.press(t, want.button, nil).(desk.Event)
		if !ok || e.ID != id || e.Body != want.body || e.Conversation != want.conversation ||
			e.Click != (core.Click{}) {
			t.Errorf("%s: got %+v", id, e)
		}
	}
}

// TestAPressOpensItsForm, filled and sealed with what is there now.
func TestAPressOpensItsForm(t *testing.T) {
	for action, c := range map[outbound.Action]struct {
		change func(*core.Card)
		edits  int
		filled string
	}{
		outbound.ActionReason: {nil, 1, ""}, outbound.ActionConfirm: {func(c *core.Card) {
			c.Risk = core.Dangerous
		}, 2, ""}, outbound.ActionEdit: {nil, 1, `{"text": "milk"}`},
		outbound.ActionAnswer: {asked(t, order), 0, ""},
	} {
		at := newCounter(t, c.change)
		b := outbound.Button{Action: action, Approval: "a1", Edits: c.edits, More: []string{"C1", "1.2"}}
		o, ok := at.press(t, b, nil).(desk.Open)
		if !ok || o.Form.Action != action || o.Form.Inputs[0].Value != c.filled || o.Card.Approval != "a1" {
			t.Errorf("%s: got %+v", action, o)
			continue
		}
		if action == outbound.ActionEdit {
			c.edits = 2
		}
		if back := at.Open(o.Value); back.Action != action || back.Edits != c.edits || len(back.More) != 2 {
			t.Errorf("%s: its submission has %+v", action, back)
		}
		if action == outbound.ActionConfirm && !strings.Contains(o.Form.Caution, "hard or impossible to undo") {
			t.Errorf("it is confirmed because %q", o.Form.Caution)
		}
	}
	at := newCounter(t, func(c *core.Card) { c.State = core.Approved })
	if s, ok := at.press(t, at.button(outbound.ActionArguments), nil).(desk.Show); !ok || s.Card.Approval != "a1" {
		t.Errorf("got %+v", s)
	}
}

// TestEveryRefusalSaysWhy, privately, and the same wherever it is found.
func TestEveryRefusalSaysWhy(t *testing.T) {
	opens := presses{outbound.ActionReason: nil, outbound.ActionConfirm: nil, outbound.ActionEdit: nil}
	submits := presses{
		outbound.ActionReason: typed("no"), outbound.ActionConfirm: typed("approve"), outbound.ActionEdit: typed("{}"),
	}
	stale := func(c *counter) { c.card.Edits = 3 }
	decided := func(c *counter) { c.card.State, c.card.DecidedBy = core.Approved, "Cid" }
	gone := func(c *counter) { c.err = core.Errorf(core.NotFound, "No.") }
	busy := func(c *counter) { c.err = core.Errorf(core.StoreBusy, "Busy.") }
	stranger := func(c *counter) { c.card.Approvers = []string{"x:cid", "x:group"} }
	asks := func(c *counter) { asked(t, order)(&c.card) }
	own := func(c *counter) { c.card.Requested.ID = "x:bob" }
	standing := "This was approved by Cid at 0001-01-01 00:00 UTC."
	for name, c := range map[string]struct {
		meanwhile func(*counter)
		presses   presses
		strict    bool
		want      string
		category  core.Category
	}{
		"not ours": {
			nil, presses{"": nil}, false, wording.BuiltIn.PressNotOurs, core.Invalid,
		},
		"a form not ours": {
			nil, presses{"": typed("x"), outbound.ActionApprove: typed("x")}, false,
			wording.BuiltIn.PressNotOurs, core.Invalid,
		},
		"another version": {
			nil, presses{"explode": nil}, false, wording.BuiltIn.PressOtherVersion,
			core.Invalid,
		},
		"unknown": {gone, opens, false, wording.BuiltIn.PressUnknown, core.NotFound},
		"unknown arguments": {
			gone, presses{outbound.ActionArguments: nil}, false, wording.BuiltIn.PressUnknown,
			core.NotFound,
		},
		"a form of one unknown":  {gone, submits, false, wording.BuiltIn.PressUnknown, core.NotFound},
		"not read":               {busy, opens, false, wording.BuiltIn.PressUnread, core.StoreBusy},
		"a question now":         {asks, opens, false, wording.BuiltIn.PressMisfit, core.Invalid},
		"a form, a question now": {asks, submits, false, wording.BuiltIn.PressMisfit, core.Invalid},
		"no question": {
			nil, presses{outbound.ActionAnswer: nil}, false, wording.BuiltIn.PressMisfit,
			core.Invalid,
		},
		"decided":               {decided, opens, false, standing, core.ApprovalDecided},
		"a form of one decided": {decided, submits, false, standing, core.ApprovalDecided},
		"expired": {func(c *counter) {
			c.card.State = core.Expired
		}, opens, false, "This approval expired at 0001-01-01 00:00 UTC. Please ask again.", core.ApprovalExpired},
		"a stranger": {stranger, opens, false, "You are not an approver of this request.", core.NotAllowed},
		"a form of a stranger": {
			stranger, submits, false, "You are not an approver of this request.", core.NotAllowed,
		},
		"their own": {
			own, opens, false, "You asked for this yourself, so another approver has to decide.", core.NotAllowed,
		},
		"an old card": {
			stale, presses{outbound.ActionConfirm: nil}, false, core.ErrChanged.Message,
			core.Invalid,
		},
		"an old form": {
			stale,
			presses{outbound.ActionConfirm: typed("approve"), outbound.ActionEdit: typed("{}")},
			false, core.ErrChanged.Message, core.Invalid,
		},
		"not editable": {func(c *counter) {
			c.card.Editable = false
		}, presses{outbound.ActionEdit: nil}, false, wording.BuiltIn.PressNoEdit, core.Invalid},
		"not editable any more": {func(c *counter) {
			c.card.Editable = false
		}, presses{outbound.ActionEdit: typed("{}")}, false, wording.BuiltIn.PressNoEdit,
			core.Invalid},
		"too long to edit": {func(c *counter) {
			c.card.Arguments = `{"text":"` + strings.Repeat("x", 100) + `"}`
		}, presses{outbound.ActionEdit: nil}, false, wording.BuiltIn.PressNoEdit, core.Invalid},
		"the word": {
			nil, presses{outbound.ActionConfirm: typed("approved")}, false,
			wording.Fill(wording.BuiltIn.PressNotTyped, "{word}", doc.ConfirmWord), core.Invalid,
		},
		"no reason": {func(c *counter) {
			c.card.NeedsWhy = true
		}, presses{outbound.ActionReason: typed("  ")}, false,
			"To deny this, a reason is needed. Please deny it again and say why.", core.Invalid},
		"voted": {func(c *counter) {
			c.card.Voters = []core.Actor{{ID: "x:bob"}}
		}, presses{outbound.ActionConfirm: nil}, false,
			"You have already voted on this. Your vote counts.", core.ApprovalDecided},

		"strict, unknown": {
			gone,
			presses{outbound.ActionApprove: nil, outbound.ActionDeny: nil, outbound.ActionWithdraw: nil},
			true, wording.BuiltIn.PressUnknown, core.NotFound,
		},
		"strict, decided": {
			decided,
			presses{outbound.ActionApprove: nil, outbound.ActionDeny: nil, outbound.ActionWithdraw: nil},
			true, standing, core.ApprovalDecided,
		},
		"strict, stranger": {
			stranger, presses{outbound.ActionApprove: nil, outbound.ActionDeny: nil}, true,
			"You are not an approver of this request.", core.NotAllowed,
		},
		"strict, old card": {
			stale, presses{outbound.ActionApprove: nil}, true, core.ErrChanged.Message,
			core.Invalid,
		},
		"strict, withdrawn by another": {
			nil, presses{outbound.ActionWithdraw: nil}, true,
			"Only the person who asked can withdraw this request.", core.NotAllowed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for action, press := range c.presses {
				at := newCounter(t, nil)
				b := at.button(action)
				if c.meanwhile != nil {
					c.meanwhile(at)
				}
				at.Strict = c.strict
				s, ok := at.press(t, b, press).(desk.Say)
				if !ok || s.Text() != c.want || core.CategoryOf(s.Err) != c.category ||
					s.Busy() != (c.category == core.StoreBusy) {
					t.Errorf("%s: said %q (%s), want %q", action, s.Text(), core.CategoryOf(s.Err), c.want)
				}
			}
		})
	}
}

// TestAFormWhoseCardCanNotBeReadIsLeftToTheStore: only an answer needs its question.
func TestAFormWhoseCardCanNotBeReadIsLeftToTheStore(t *testing.T) {
	for action, press := range map[outbound.Action]func(*desk.Press){
		outbound.ActionReason: typed("no"), outbound.ActionConfirm: typed("approve"), outbound.ActionEdit: typed("{}"),
	} {
		at := newCounter(t, nil)
		at.err = core.Errorf(core.StoreBusy, "Busy.")
		if e, ok := at.press(t, at.button(action), press).(desk.Event); !ok || e.Click.Approval != "a1" {
			t.Errorf("%s: got %+v", action, e)
		}
	}
	at := newCounter(t, asked(t, order))
	at.err = core.Errorf(core.StoreBusy, "Busy.")
	if s, ok := at.press(t, outbound.OptionButton(at.card, 0), typed("1", "4")).(desk.Say); !ok || !s.Busy() {
		t.Errorf("got %+v", s)
	}
}

// TestAnAnswerThatDoesNotFitSaysWhatIsWrong, at each input; what an option's value is stays hidden.
func TestAnAnswerThatDoesNotFitSaysWhatIsWrong(t *testing.T) {
	at := newCounter(t, asked(t, order))
	s, _ := at.press(t, outbound.OptionButton(at.card, 0), typed("9", "", "x")).(desk.Say)
	if want := map[int]string{0: "Choose one of the options.", 1: "This is required."}; !maps.Equal(s.Faults, want) ||
		s.Text() != "That is no answer to this question: size: choose one of the options." {
		t.Errorf("said %q, %v", s.Text(), s.Faults)
	}
	if s, _ := at.press(t, outbound.OptionButton(at.card, 0), func(p *desk.Press) {
		p.Form, p.Whole = true, `{"size":"m"}`
	}).(desk.Say); s.Text() != "That is no answer to this question: count is missing." {
		t.Errorf("said %q", s.Text())
	}
	at = newCounter(t, asked(t, `{"enum":["hunter2","b"]}`))
	if s, _ := at.press(t, outbound.OptionButton(at.card, 0), func(p *desk.Press) {
		p.Form, p.Whole = true, `"c"`
	}).(desk.Say); s.Text() != "That is no answer to this question: it is not one of the options." {
		t.Errorf("said %q", s.Text())
	}
	at = newCounter(t, func(c *core.Card) { asked(t, order)(c); c.Approvers = nil })
	if s, _ := at.press(t, outbound.OptionButton(at.card, 0),
		typed("9")).(desk.Say); s.Text() != "This question is for somebody else." || s.Faults != nil {
		t.Errorf("said %q, %v", s.Text(), s.Faults)
	}
}

// TestGroupsAreLookedUpForWhoIsNotNamed, and for nobody else.
func TestGroupsAreLookedUpForWhoIsNotNamed(t *testing.T) {
	at := newCounter(t, nil)
	if _, ok := at.press(t, at.button(outbound.ActionReason), nil).(desk.Open); !ok || at.looked != 0 {
		t.Errorf("looked up %d times", at.looked)
	}
	at = newCounter(t, func(c *core.Card) { c.Approvers = []string{"x:group"} })
	at.groups = []string{"x:group"}
	if o, ok := at.press(t, at.button(outbound.ActionReason), nil).(desk.Open); !ok || at.looked != 1 {
		t.Errorf("looked up %d times: %+v", at.looked, o)
	}
}

// TestARefusalIsSaidInReplacedTexts, but for those of the store's own rules.
func TestARefusalIsSaidInReplacedTexts(t *testing.T) {
	decided := func(state core.ApprovalState) func(*core.Card) {
		return func(c *core.Card) { c.State, c.DecidedBy = state, "人" }
	}
	for name, c := range map[string]struct {
		card   func(*core.Card)
		err    error
		action outbound.Action
		press  func(*desk.Press)
	}{
		"not ours": {}, "another version": {action: "explode"},
		"unknown": {err: core.Errorf(core.NotFound, "No."), action: outbound.ActionReason},
		"unread":  {err: core.Errorf(core.StoreBusy, "Busy."), action: outbound.ActionReason},
		"misfit":  {action: outbound.ActionAnswer},
		"no edit": {card: func(c *core.Card) {
			c.Editable = false
		}, action: outbound.ActionEdit}, "not typed": {action: outbound.ActionConfirm, press: typed("yes")},
		"approved":  {card: decided(core.Approved), action: outbound.ActionReason},
		"denied":    {card: decided(core.Denied), action: outbound.ActionReason},
		"expired":   {card: decided(core.Expired), action: outbound.ActionReason},
		"cancelled": {card: decided(core.Cancelled), action: outbound.ActionReason},
		"no option": {card: asked(t, `{"enum":["a","b"]}`), action: outbound.ActionAnswer, press: typed("9")},
		"no answer": {
			card:   asked(t, `{"type":"object","required":["数"],"properties":{"数":{"type":"integer"}}}`),
			action: outbound.ActionAnswer, press: typed(""),
		},
	} {
		at := newCounter(t, c.card)
		at.Texts, at.err = wording.New(adaptertest.Marked()), c.err
		s, ok := at.press(t, outbound.Button{Action: c.action, Approval: "a1"}, c.press).(desk.Say)
		if left := adaptertest.Unmarked(s.Text(), "UTC", doc.ConfirmWord); !ok || left != nil || s.Text() == "" {
			t.Errorf("%s: it says %q", name, s.Text())
		}
		for _, fault := range s.Faults {
			if left := adaptertest.Unmarked(fault); left != nil {
				t.Errorf("%s: it says %q", name, fault)
			}
		}
	}
}
