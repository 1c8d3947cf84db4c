package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
)

// gateway takes the place of the rest of gatehouse: it echoes messages, requests an approval for "note …", and prints
// decisions.
type gateway struct {
	*console.Console
	t      *testing.T
	output output
	hold   func()        // called in each turn; returns when the turn may end
	asked  chan struct{} // receives when the console asks whether the conversation is idle
	turn   chan struct{} // see finishTurn

	mu      sync.Mutex
	events  []core.Event
	waiting int
	cards   map[string]*core.Card
	refuse  func(e core.Event) error // asked before an event is taken; nil: none is refused
}

func newGateway(t *testing.T, o console.Options) *gateway {
	s := &gateway{t: t, asked: make(chan struct{}), turn: make(chan struct{}), cards: map[string]*core.Card{}}
	s.hold = s.untilAsked
	var id atomic.Int64
	if o.Out == nil {
		o.Out = &s.output
	}
	o.NewID = func() string { return fmt.Sprintf("id%d", id.Add(1)) }
	o.Actor = core.Actor{ID: "console:ann", Name: "Ann"}
	o.Work = workFunc(func(context.Context) (bool, error) {
		select {
		case s.asked <- struct{}{}:
		default: // no turn is held
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.waiting == 0, nil
	})
	s.Console = console.New(o)
	return s
}

func (s *gateway) accept(_ context.Context, e core.Event) (core.Receipt, error) {
	if s.refuse != nil {
		if err := s.refuse(e); err != nil {
			return core.Receipt{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	s.waiting++
	go func() {
		s.answer(e)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting--
	}()
	return core.Receipt{Seq: int64(len(s.events)), Fresh: true}, nil
}

// untilAsked returns once a console that reads a pipe has asked several times whether the turn is over, and does
// nothing but wait for it.
func (s *gateway) untilAsked() {
	for range 3 {
		<-s.asked
	}
	synctest.Wait()
}

// finishTurn ends a turn of a console with a prompt, once the console has read what was typed. It returns when the
// result is printed.
func (s *gateway) finishTurn() {
	synctest.Wait()
	s.turn <- struct{}{}
	synctest.Wait()
}

func (s *gateway) taken() []core.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func (s *gateway) answer(e core.Event) {
	switch e.Kind() {
	case core.KindControl:
		s.post(core.Post{Kind: core.PostNotice, Text: "control: " + e.Subject()})
	case core.KindReset:
		s.hold()
		s.post(core.Post{Kind: core.PostNotice, Text: "a new conversation"})
	case core.KindMessage:
		s.hold()
		in, err := s.Parse(s.t.Context(), e)
		if err != nil {
			s.t.Error(err)
			return
		}
		text := in.Message.Content.String()
		if what, ok := strings.CutPrefix(text, "note "); ok {
			card := &core.Card{
				Approval: core.ApprovalID("a-" + what), State: core.Open, Tool: "note.add", Summary: "Add " + what,
				Arguments: "{\n  \"text\": \"" + what + "\"\n}", Requester: "Ann", Quorum: 1,
			}
			s.cards[what] = card
			s.draw(*card)
			return
		}
		if schema, ok := strings.CutPrefix(text, "ask "); ok {
			card := s.ask(schema)
			s.cards["q"] = &card
			s.draw(card)
			return
		}
		s.post(core.Post{Kind: core.PostReply, Text: "you said " + text})
	case core.KindClick:
		click := adaptertest.Click(s.t, e)
		if click.Reason == "does not count" {
			s.post(core.Post{Kind: core.PostPrivate, Text: "That did not count."})
			return
		}
		card := s.cards[strings.TrimPrefix(e.Subject(), "a-")]
		if card.Question != nil {
			s.answered(card, &click)
			return
		}
		card.State, card.DecidedBy, card.Reason = core.Approved, "Ann", click.Reason
		if click.Choice == core.Deny {
			card.State = core.Denied
		}
		s.draw(*card)
		s.hold()
		s.post(core.Post{Kind: core.PostReply, Text: "done with " + card.Summary})
	}
}

func (s *gateway) post(p core.Post) {
	p.Key = "some/key"
	if _, _, err := s.Post(s.t.Context(), core.Delivery{Post: p}); err != nil {
		s.t.Error(err)
	}
}

func (s *gateway) draw(card core.Card) {
	d := core.Delivery{Post: core.Post{Kind: core.PostCard, Approval: card.Approval}, Card: &card}
	if err := s.Edit(s.t.Context(), "", d); err != nil {
		s.t.Error(err)
	}
}

func (s *gateway) run(want error) string {
	s.t.Helper()
	if err := s.Run(s.t.Context(), s.accept); core.CategoryOf(err) != core.CategoryOf(want) {
		s.t.Errorf("Run gave %v, want %v", err, want)
	}
	synctest.Wait()
	return s.output.String()
}

func TestPipe(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"one line is one message, in order, the last without a newline": {
			"hello\n\n  \nagain\r\nlast", "bot> you said hello\nbot> you said again\nbot> you said last\n",
		},
		"the next line answers the card": {
			"note milk\ny\nhello\n", card("milk") +
				"approval> approved by Ann: Add milk\nbot> done with Add milk\nbot> you said hello\n",
		},
		"a refusal has a reason": {
			"note milk\nn too late now\nnote tea\nN\n", card("milk") +
				"approval> denied by Ann: Add milk (too late now)\nbot> done with Add milk\n" + card("tea") +
				"approval> denied by Ann: Add tea\nbot> done with Add tea\n",
		},
		"other lines while a card is open are messages, and the card can still be answered": {
			"note milk\nwhat now\nyes please\ny\n", card("milk") +
				"bot> you said what now\nbot> you said yes please\napproval> approved by Ann: Add milk\nbot> done " +
				"with Add milk\n",
		},
		"y without a card is a message": {
			"y\nn\nn no\n", "bot> you said y\nbot> you said n\nbot> you said n no\n",
		},
		"the last card is answered first, then the one before is shown again": {
			"note milk\nnote tea\ny\nn\n", card("milk") + card("tea") +
				"approval> approved by Ann: Add tea\napproval> Add milk is still open: answer y, n or n REASON\nbot> " +
				"done with Add tea\n" +
				"approval> denied by Ann: Add milk\nbot> done with Add milk\n",
		},
		"an answer that did not count leaves its card as the one that is answered": {
			"note milk\nnote tea\nn does not count\ny\ny\n", card("milk") + card("tea") +
				"bot> That did not count.\napproval> approved by Ann: Add tea\napproval> Add milk is still open: " +
				"answer y, n or n REASON\nbot> done with Add tea\n" +
				"approval> approved by Ann: Add milk\nbot> done with Add milk\n",
		},
		"an open card at the end leaves a hint": {
			"note milk\n", card("milk") + "approval> Add milk is still open; decide with: gatehouse approvals " +
				"approve a-milk\n",
		},
		"control words overtake the turn, new does not, quit ends the console": {
			"hello\n/stop\n!new\n/STATUS\n/quit\nnever\n",
			"bot> control: stop\nbot> you said hello\nbot> control: status\nbot> a new conversation\n",
		},
		"no line waits for a control word": {
			"/help\nhello\n", "bot> control: help\nbot> you said hello\n",
		},
		"a slash alone is a message": {
			"/\n/stop it\n/shrug\n", "bot> you said /\nbot> you said /stop it\nbot> you said /shrug\n",
		},
		"invalid UTF-8 is replaced": {
			"\xef\xbb\xbfcaf\xe9 \x00 ok\n", "bot> you said caf\ufffd \ufffd ok\n",
		},
		"a line that is too long is refused and the next is not": {
			strings.Repeat("x", 5000) + "\nhello\n" + strings.Repeat("y", 1<<20),
			"bot> That message is longer than 200 bytes and was not accepted. Please send it in parts.\nbot> you " +
				"said hello\n" +
				"bot> That message is longer than 200 bytes and was not accepted. Please send it in parts.\n",
		},
		"the limit counts what is stored": {
			strings.Repeat("\t", 150) + "x\n",
			"bot> That message is longer than 200 bytes and was not accepted. Please send it in parts.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newGateway(t, console.Options{In: strings.NewReader(tc.in), MaxMessage: 200})
				if got := s.run(nil); got != tc.want {
					t.Errorf("got\n%s\nwant\n%s", got, tc.want)
				}
			})
		})
	}
}

func card(what string) string {
	return "approval> note.add wants your approval: Add " + what + "\napproval> arguments: {\"text\":\"" + what +
		"\"}\napproval> Tool: note.add\napproval> Asked by: Ann\napproval> id a-" + what +
		"\napproval> answer y, n or n REASON\n"
}

func TestPipeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newGateway(t, console.Options{In: strings.NewReader("note <milk>\ny\n/cancel\n/new\n"), Session: "s1"})
		s.run(nil)
		want := []core.Event{
			{ID: "id1", Body: core.MessageEvent{}, Payload: []byte(`{"text":"note <milk>"}`)},
			{
				ID: "vote/a-<milk>/ann/id2", Body: core.ClickEvent{Approval: "a-<milk>"},
				Payload: []byte(`{"approval":"a-\u003cmilk\u003e","choice":"approve"}`),
			},
			{ID: "id3", Body: core.ControlEvent{Word: "cancel"}, Payload: []byte(`{"text":"/cancel"}`)},
			{ID: "id4", Body: core.ResetEvent{}, Payload: []byte(`{"text":"/new"}`)},
		}
		for i, e := range s.events {
			if e.ID != want[i].ID || e.Kind() != want[i].Kind() || e.Subject() != want[i].Subject() ||
				string(e.Payload) != string(want[i].Payload) {
				t.Errorf("event %d is %q %s %q %s", i, e.ID, e.Kind(), e.Subject(), e.Payload)
			}
			if e.Platform != "console" || e.Conversation != "console:s1" || !e.Actor.Local ||
				e.Address.Channel != "s1" {
				t.Errorf("event %d is %+v", i, e)
			}
		}
		if len(s.events) != len(want) {
			t.Errorf("%d events, want %d", len(s.events), len(want))
		}
	})
}

// openCards are the open cards of every conversation.
type openCards []core.Card

func (c openCards) OpenCards(context.Context, core.ConversationID) ([]core.Card, error) {
	return c, nil
}

func TestPipeShowsOpenCardsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := core.Card{
			Approval: "a-old", State: core.Open, Tool: "note.add", Summary: "Add old", Arguments: `{"text":"old"}`,
			Requester: "Ann",
		}
		s := newGateway(t,
			console.Options{In: strings.NewReader("y\n"), Cards: openCards{open}})
		s.cards["old"] = &open
		s.draw(open) // the outbox comes with it too
		if got, want := s.run(nil),
			card("old")+"approval> approved by Ann: Add old\nbot> done with Add old\n"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestLaw1_ALineThatIsNotStoredIsReportedAndNotAccepted(t *testing.T) {
	busy := core.Errorf(core.StoreBusy, "The store is busy.")
	for name, tc := range map[string]struct {
		refuse func(try int) error
		end    error
		want   string
	}{
		"tried again, under one id": {
			func(try int) error {
				if try < 5 {
					return busy
				}
				return nil
			}, nil, "bot> Your message could not be stored yet. Trying again.\nbot> you said hello\n",
		},
		"given up": {
			func(int) error { return busy }, busy,
			"bot> Your message could not be stored yet. Trying again.\nbot> Your message could not be stored. Please " +
				"send it again later.\n",
		},
		"refused permanently": {
			func(int) error {
				return core.Errorf(core.Invalid, "No, because.")
			}, nil, "bot> Your message was not accepted: No, because.\n",
		},
		"a database that can't be used now": {
			func(int) error {
				return core.Errorf(core.StoreNewer, "A newer gatehouse wrote this.")
			}, core.Errorf(core.StoreNewer, ""),
			"bot> Your message could not be stored yet. Trying again.\nbot> Your message could not be stored. Please " +
				"send it again later.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyboard()
				defer k.Close()
				s := newGateway(t, console.Options{In: k})
				tries, ids := 0, map[string]bool{}
				s.refuse = func(e core.Event) error {
					tries++
					ids[e.ID] = true
					return tc.refuse(tries)
				}
				k.Type("hello\n")
				if tc.end == nil {
					k.Close()
				}
				if got := s.run(tc.end); got != tc.want {
					t.Errorf("got\n%s\nwant\n%s", got, tc.want)
				}
				if len(ids) != 1 {
					t.Errorf("the tries have %d ids, want 1", len(ids))
				}
			})
		})
	}
}

func TestPipeEndsIfTheStateCanNotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := console.New(
			console.Options{
				In: strings.NewReader("hello\n"), Out: &output{}, Work: workFunc(func(context.Context) (bool, error) {
					return false, core.Errorf(core.StoreUnreadable, "It is damaged.")
				}),
			})
		if err := c.Run(t.Context(), nil); core.CategoryOf(err) != core.StoreUnreadable {
			t.Errorf("Run gave %v", err)
		}
		synctest.Wait()
	})
}

func TestPipeReadErrorIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newGateway(t, console.Options{In: broken{strings.NewReader("hello\n")}})
		if got, want := s.run(core.Errorf(core.Invalid, "")), "bot> you said hello\n"; got != want {
			t.Errorf("got %q", got)
		}
	})
}

type broken struct{ *strings.Reader }

func (b broken) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, errors.New("the connection is broken")
}

func TestCards(t *testing.T) {
	base := core.Card{Approval: "a1", Tool: "note.add", Summary: "Add milk", DecidedBy: "Ann"}
	const rest = "approval> Tool: note.add\napproval> Asked by: somebody\napproval> id a1\n"
	for _, tc := range []struct {
		state  core.ApprovalState
		reason string
		want   string
	}{
		{core.Approved, "", "approval> approved by Ann: Add milk\n" + rest},
		{core.Denied, "no\nbot> fake", "approval> denied by Ann: Add milk (no bot> fake)\n" + rest},
		{
			core.Expired, "",
			"approval> expired without a decision: Add milk\n" +
				strings.Replace(rest, "approval> id", "approval> to ask for it again, type /again\napproval> id", 1),
		},
		{core.Cancelled, "withdrawn by Ann", "approval> cancelled by Ann: Add milk (withdrawn by Ann)\n" + rest},
	} {
		var out output
		c := console.New(console.Options{Out: &out})
		d := core.Delivery{Post: core.Post{Kind: core.PostCard, Key: "card/a1"}, Card: &base}
		base.State, base.Reason = tc.state, tc.reason
		for range 2 { // a repeat prints nothing
			if ref, more, err := c.Post(t.Context(), d); ref == "" || more || err != nil {
				t.Fatal(ref, more, err)
			}
		}
		if got := out.String(); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.state, got, tc.want)
		}
	}
}

func TestCardWithVotesAndLongArguments(t *testing.T) {
	var out output
	c := console.New(console.Options{Out: &out})
	long := strings.Repeat("z", 120)
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "deploy", Summary: "Deploy",
		Arguments: "{\n  \"to\": \"" + long + "\"\n}", Quorum: 2,
	}
	for votes := range 2 {
		card.Voters = make([]core.Actor, votes)
		if err := c.Edit(t.Context(),
			"", core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: &card, Late: true}); err != nil {
			t.Fatal(err)
		}
	}
	want := "approval> ⏳ This comes late: it could not be sent earlier.\napproval> deploy wants your approval: " +
		"Deploy\napproval> arguments: {\napproval>   \"to\": \"" + long +
		"\"\napproval> }\napproval> Tool: deploy\napproval> Asked by: somebody\napproval> Approved so far: 0 of " +
		"2\napproval> id a1\napproval> answer y, n or n REASON\n" +
		"approval> Deploy – Approved so far: 1 of 2: somebody\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A card of several says which it is, names what a denial needs, and is reminded of in one line.
func TestCardWithDenialsAndAReminder(t *testing.T) {
	var out output
	c := console.New(console.Options{Out: &out})
	card := core.Card{
		Approval: "0199aaaa-bbbb", State: core.Open, Tool: "deploy", Summary: "Deploy", Quorum: 1, Vetoes: 2,
		Against: []core.Actor{{ID: "x:bob"}}, NeedsWhy: true,
		Asked: core.Asked{Place: 2, Of: 3},
	}
	for _, occasion := range []core.Occasion{"", core.Reminder} {
		d := core.Delivery{Post: core.Post{Kind: core.PostCard, Occasion: occasion}, Card: &card}
		if _, _, err := c.Post(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	want := "approval> deploy wants your approval: Deploy (2 of 3)\napproval> Tool: deploy\napproval> Asked by: " +
		"somebody\napproval> Denied so far: 1 of 2: x:bob\napproval> id 0199aaaa-bbbb\n" +
		"approval> answer y or n REASON\n" +
		"approval> 🔔 Reminder: an approval is still needed (2 of 3): Deploy (0199aaaa-bbbb)\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A card whose arguments were changed is printed again, and the answer says which arguments it is for.
func TestCardWithChangedArguments(t *testing.T) {
	var out output
	c := console.New(console.Options{Out: &out})
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "deploy", Summary: "Deploy 1", Quorum: 2,
		Voters: []core.Actor{{ID: "x:bob"}}, Asked: core.Asked{Dropped: "Bob"},
	}
	show := func() {
		t.Helper()
		if err := c.Edit(t.Context(),
			"", core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: &card}); err != nil {
			t.Fatal(err)
		}
	}
	show()
	card.Summary, card.Voters, card.Edits, card.Editor = "Deploy 2", nil, 1, core.Actor{ID: "x:cid", Name: "Cid"}
	show()
	dropped := "approval> Bob had changed the arguments of an earlier request. The rules have changed since, and " +
		"that change is dropped.\n"
	end := "approval> id a1\napproval> answer y, n or n REASON\n"
	want := "approval> deploy wants your approval: Deploy 1\napproval> Tool: deploy\napproval> Asked by: " +
		"somebody\napproval> Approved so far: 1 of 2: x:bob\n" + dropped + end +
		"approval> deploy wants your approval: Deploy 2\napproval> Tool: deploy\napproval> Asked by: " +
		"somebody\napproval> Approved so far: 0 of 2\napproval> Changed by Cid.\n" + dropped + end
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for edits, want := range map[string]core.Category{`"2"`: "", `"x"`: core.Invalid, `"-1"`: core.Invalid} {
		e := core.Event{
			Platform: "console", Body: core.ClickEvent{Approval: "a1"},
			Payload: json.RawMessage(`{"approval":"a1","choice":"approve","edits":` + edits + `}`),
		}
		click, err := c.OldClick(e)
		if core.CategoryOf(err) != want || want == "" && click.Edits != 2 {
			t.Errorf("%s: %+v, %v", edits, click, err)
		}
	}
}

// workFunc says whether there is work left.
type workFunc func(context.Context) (bool, error)

func (f workFunc) Idle(ctx context.Context) (bool, error) { return f(ctx) }

func (workFunc) Empty(context.Context) (bool, error) { return true, nil }
