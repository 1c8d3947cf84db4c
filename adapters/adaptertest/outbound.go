package adaptertest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/mask"
)

func postsAndEdits(t *testing.T, r *fixture) {
	for _, kind := range []core.PostKind{core.PostReply, core.PostError, core.PostNotice} {
		r.post(t, r.delivery(string(kind)+"/1", kind, "these are the words of a "+string(kind)))
		r.shows(t, "these are the words of a "+string(kind))
	}
	late := r.delivery("reply/2", core.PostReply, "words that come late")
	late.Late = true
	r.post(t, late)
	r.shows(t, "words that come late")

	card := r.card("a1")
	refs := r.post(t, card)
	if len(refs) != 1 {
		t.Fatalf("a card has %d parts; only what has one can be edited", len(refs))
	}
	r.shows(t, "note.add", "Add the note a1")
	for _, state := range []core.ApprovalState{core.Approved, core.Approved} { // a redraw may come twice
		card.Card.State, card.Card.DecidedBy = state, "Bob"
		if err := r.Edit(t.Context(), refs[0], card); err != nil {
			t.Fatalf("Edit: %v", err)
		}
	}
	r.shows(t, "Bob", "Add the note a1")

	decided := r.card("a2") // decided before it was sent, so it is drawn as decided
	decided.Card.State, decided.Card.DecidedBy, decided.Card.Reason = core.Denied, "Cid", "not today"
	r.post(t, decided)
	r.shows(t, "Cid", "not today", "Add the note a2")
}

func questionsAndAnswers(t *testing.T, r *fixture) {
	for name, schema := range map[string]string{"options": `{"enum":["a","b"]}`, "menu": menu, "form": form} {
		d := r.question(name, schema)
		refs := r.post(t, d)
		if len(refs) != 1 {
			t.Fatalf("the card of a question has %d parts; only what has one can be edited", len(refs))
		}
		r.shows(t, "Question "+name)
		d.Card.State, d.Card.DecidedBy, d.Card.Answer = core.Answered, "Bob", "the answer to "+name
		if err := r.Edit(t.Context(), refs[0], d); err != nil {
			t.Fatalf("Edit: %v", err)
		}
		r.shows(t, "Question "+name)
	}
}

func longAnswers(t *testing.T, r *fixture) {
	var text strings.Builder
	text.WriteString("first words\n```go\n")
	for i := range 800 {
		fmt.Fprintf(&text, "line%04d := \"some code that stands in a fence\"\n", i)
	}
	text.WriteString("```\nlast words")
	refs := r.post(t, r.delivery("reply/long", core.PostReply, text.String()))
	seen := map[core.Ref]bool{}
	for _, ref := range refs {
		if seen[ref] {
			t.Errorf("two parts have the same ref %q", ref)
		}
		seen[ref] = true
	}
	r.shows(t, "first words", "last words")
	visible, from := r.out.Shown(), 0
	for i := range 800 {
		at := strings.Index(visible[from:], fmt.Sprintf("line%04d", i))
		if at < 0 {
			t.Fatalf("line %d of a long answer is missing, or out of order", i)
		}
		from += at
	}
}

func concurrentPosts(t *testing.T, r *fixture) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := fmt.Sprintf("side%d", i)
			if _, _, err := r.send(t, r.delivery(key, core.PostReply, "words of "+key)); err != nil {
				t.Errorf("Post: %v", err)
			}
		})
	}
	r.out.Say(t, "a message at the same time")
	all.Wait()
	next(t, r.events, "the event of the message")
	for i := range 8 {
		r.shows(t, fmt.Sprintf("words of side%d", i))
	}
}

// hostile is a text with which a model or a person may try to attack others.
const hostile = "begin <!channel> <!here> <!everyone> <!subteam^S1> <@U123> <#C1> @everyone @here <@1> <@&2> " +
	"<https://evil.example|safe> https://evil.example/?q=secret [safe](https://evil.example) " +
	"[x](javascript:alert(1)) " +
	"\x1b[2J\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\link \u009b31m \r\bover \u202etxt.exe\u202c " +
	"\u2066x\u2069 \x00 ``` *_~` end"

func noSideEffects(t *testing.T, r *fixture) {
	for _, kind := range []core.PostKind{core.PostReply, core.PostError, core.PostNotice} {
		r.post(t, r.delivery(string(kind)+"/1", kind, hostile))
	}
	r.shows(t, "begin", "end")
	for i, state := range []core.ApprovalState{core.Open, core.Approved, core.Denied, core.Cancelled, core.Expired} {
		d := r.card(fmt.Sprintf("a%d", i))
		c := d.Card
		c.Summary, c.Arguments, c.Requester, c.DecidedBy, c.Reason = hostile, `{"text":"`+hostile+`"}`, hostile,
			hostile, hostile
		c.Approvers, c.Tool = []string{hostile}, "note.add "+hostile
		refs := r.post(t, d)
		c.State = state
		if err := r.Edit(t.Context(), refs[0], d); err != nil {
			t.Errorf("Edit to %s: %v", state, err)
		}
	}
	for i, schema := range []string{`{"enum":["a","b"]}`, menu, form} {
		d := r.question(fmt.Sprintf("q%d", i), schema)
		c := d.Card
		c.Question.Text, c.Answer, c.DecidedBy = mask.Escape(hostile), mask.Escape(hostile), hostile
		for j := range c.Question.Fields {
			f := &c.Question.Fields[j]
			f.Title, f.Hint = mask.EscapeLine(hostile), mask.EscapeLine(hostile)
			if len(f.Choices) > 0 {
				f.Choices[0].Title = mask.EscapeLine(hostile)
			}
		}
		refs := r.post(t, d)
		for _, state := range []core.ApprovalState{core.Answered, core.Expired, core.Cancelled} {
			c.State = state
			if err := r.Edit(t.Context(), refs[0], d); err != nil {
				t.Errorf("Edit of a question to %s: %v", state, err)
			}
		}
	}
	for _, a := range r.out.SideEffects() {
		t.Errorf("side effect: %s", a)
	}
}

func faults(t *testing.T, r *fixture) {
	b, ok := r.out.(FaultInjector)
	if !ok {
		t.Log("this fake injects no faults")
		return
	}
	for _, f := range []Fault{Down, Busy, Lost, Refused} {
		if !b.Fail(f) {
			continue
		}
		d := r.delivery("reply/"+string(f), core.PostReply, "words for "+string(f))
		ref, _, err := r.send(t, d)
		if err == nil || ref != "" {
			t.Errorf("%s: Post gave %q, %v, want an error alone", f, ref, err)
			continue
		}
		c := core.CategoryOf(err)
		fits := map[Fault]bool{
			Down: c == core.DeliveryLater || c == core.DeliveryInDoubt,
			Busy: c == core.DeliveryLater && core.RetryAfterOf(err) > 0,
			Lost: c == core.DeliveryInDoubt, Refused: c != core.DeliveryLater && c != core.DeliveryInDoubt,
		}[f]
		if !fits {
			t.Errorf("%s: Post gave %v (RetryAfter %s)", f, err, core.RetryAfterOf(err))
		}
		if f == Lost {
			if found, err := r.Find(t.Context(), d); err == nil && found.Ref == "" {
				t.Error("Find reports that a post whose answer was lost does not exist; it would be sent twice")
			}
		}
		if f != Lost {
			time.Sleep(core.RetryAfterOf(err)) // a platform may refuse earlier attempts
			r.post(t, d)                       // the fault is over
			r.shows(t, d.Text)
		}
	}
}

func finds(t *testing.T, r *fixture) {
	r.post(t, r.delivery("reply/1", core.PostReply, "words that are there"))
	if found, err := r.Find(t.Context(),
		r.delivery("reply/2", core.PostReply, "words that were never sent")); err == nil &&
		(found.Ref != "" || found.More) {
		t.Errorf("Find gave %+v for what was never sent", found)
	}
}

func typingTwice(t *testing.T, r *fixture) {
	to, _ := r.out.Conversation()
	for _, on := range []bool{false, true, true, false, false, true} {
		working := core.Delivery{Post: core.Post{Key: "working/1", To: to, Kind: core.PostWorking, On: on}}
		if ref, more, err := r.Post(t.Context(), working); err != nil || ref != "" || more {
			t.Errorf("Post of a typing indicator (on: %v) gave %q, %v, %v", on, ref, more, err)
		}
	}
	r.post(t, r.delivery("reply/1", core.PostReply, "the answer"))
	r.shows(t, "the answer")
}
