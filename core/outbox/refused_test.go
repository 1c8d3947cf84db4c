package outbox_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// errWords is a refusal for what a post says.
var errWords error = core.Errorf(core.ContentRefused, "The moderation of the board refused it. Ask otherwise.").
	Because(core.ModerationRefused)

func TestASentenceStandsInPlaceOfWhatIsRefusedForItsWords(t *testing.T) {
	const whole, rest = "My answer could not be posted here. ", "The rest of my answer could not be posted here. "
	const three = "a.0, b.0, b.1, b.2, refused/7.0, refused/7.1, refused/7.2"
	for name, c := range map[string]struct {
		post  core.Post
		part  string // that is refused
		parts int
		want  string // what is shown at last
		says  string // what the sentence begins with; "": there is none
	}{
		"an answer": {core.Post{Key: "a", Kind: core.PostReply}, "a.0", 1, "b.0, refused/7.0", whole},
		"an error":  {core.Post{Key: "a", Kind: core.PostError}, "a.0", 1, "b.0, refused/7.0", whole},
		"a notice":  {core.Post{Key: "a", Kind: core.PostNotice}, "a.0", 1, "b.0, refused/7.0", whole},
		"after an approval": {
			core.Post{Key: "a", Kind: core.PostReply, Approval: "x"}, "a.0", 1, "b.0, refused/7.0", whole,
		},
		"the rest of it":     {core.Post{Key: "a", Kind: core.PostReply}, "a.1", 3, three, rest},
		"steps":              {core.Post{Key: "a", Kind: core.PostSteps}, "a.0", 1, "b.0", ""},
		"for one person":     {core.Post{Key: "a", Kind: core.PostPrivate, Person: "board:ann"}, "a.0", 1, "b.0", ""},
		"the sentence":       {core.Post{Key: "refused/7", Kind: core.PostNotice}, "refused/7.0", 1, "b.0", ""},
		"it answers nothing": {core.Post{Key: "a", Kind: core.PostReply}, "a.0", 1, "b.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, true, nil)
			o.board.parts = c.parts
			o.board.script[c.part] = []error{errWords}
			if name != "it answers nothing" {
				c.post.Event = 7
			}
			o.put(c.post, core.Post{Key: "b"})
			if got := o.flush(); got != c.want {
				t.Errorf("shown: %s", got)
			}
			row := o.row(c.post.Key)
			if row.State != core.RowDead || !strings.HasPrefix(row.Cause, "content_refused: The mod") ||
				row.Attempts != 0 {
				t.Errorf("%+v", row)
			}
			if c.says == "" {
				return
			}
			said := o.row("refused/7")
			there := said.To == row.To && said.Conversation == row.Conversation
			if said.Text != c.says+core.MessageOf(errWords) || said.Kind != core.PostNotice || !there {
				t.Errorf("%+v", said)
			}
		})
	}
}

// However many posts of an event are refused, and however often: there is one sentence, in the words of whoever runs
// gatehouse.
func TestTheSentenceInPlaceIsSaidOnce(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) {
		opt.Sentences = core.Sentences{core.ContentRefused: "Nein: {message}", core.ModerationRefused: "Verboten."}
	})
	o.board.script["a.0"], o.board.script["b.0"] = []error{errWords, errWords}, []error{errWords}
	o.put(core.Post{Key: "a", Event: 7}, core.Post{Key: "b", Event: 7})
	o.flush()
	for range 2 { // the second time it arrives
		if err := o.store.Resend(t.Context(), o.row("a").Seq); err != nil {
			t.Fatal(err)
		}
		o.flush()
	}
	if got := o.flush(); got != "refused/7.0, a.0" || o.row("refused/7").Text != "Nein: Verboten." {
		t.Errorf("shown: %s: %s", got, o.row("refused/7").Text)
	}
	if row := o.row("a"); row.State != core.RowSent || row.Cause != "" {
		t.Errorf("%+v", row)
	}
}

// If the post is sent again before the sentence is, that one would follow the answer which it says is not there.
func TestTheSentenceInPlaceDoesNotFollowTheAnswer(t *testing.T) {
	for name, again := range map[string][]error{"a.0": nil, "refused/7.0": {errWords}} {
		o := newOffice(t, true, nil)
		o.board.script["a.0"] = append([]error{errWords}, again...)
		o.board.script["refused/7.0"] = []error{&core.Error{Category: core.DeliveryNotYet, RetryAfter: 1 << 40}}
		o.put(core.Post{Key: "a", Event: 7})
		o.flush()
		if o.row("refused/7").State != core.RowWaiting {
			t.Fatalf("%+v", o.row("refused/7"))
		}
		if err := o.store.Resend(t.Context(), o.row("a").Seq); err != nil {
			t.Fatal(err)
		}
		if got := o.flush(); got != name {
			t.Errorf("shown: %s, want %s", got, name)
		}
	}
}

func TestCrashAroundARefusalForWordsLeavesOneSentence(t *testing.T) {
	for name, store := range map[string]*dying{"before": {before: true}, "after": {after: true}} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, true, nil)
			store.Outbox = o.store
			o.box = outbox.New(outbox.Options{
				Store: store, Cards: cards{}, Platforms: []core.Platform{reader{o.board}}, Owner: "me",
				Jitter: func() float64 { return -1 },
			})
			o.board.script["a.0"] = slices.Repeat([]error{core.Errorf(core.ContentRefused, "It is a secret why.")}, 2)
			o.put(core.Post{Key: "a", Event: 7})
			o.flush()
			o.die()
			if got := o.flush(); got != "refused/7.0" || o.row("a").State != core.RowDead {
				t.Errorf("shown: %s, %+v", got, o.row("a"))
			}
			if text := o.row("refused/7").Text; text != "My answer could not be posted here. It is a secret why." {
				t.Errorf("it says %q", text)
			}
		})
	}
}

// A card that is refused falls back; one that is there stays as it is, and nobody is told anything about it.
func TestACardThatIsRefusedForItsWords(t *testing.T) {
	o := toldElsewhere(t, nil)
	o.board.script["card/a.0"] = []error{errWords}
	card := core.Post{Key: "card/a", To: core.Address{Channel: "home"}, Kind: core.PostCard, Approval: "a", Event: 7}
	o.put(card)
	if got := o.settle(); got != "card/a card/a/ann card/a/bob card/a/rob" || o.row("card/a").State != core.RowDead {
		t.Errorf("rows: %s, %+v", got, o.row("card/a"))
	}

	o = toldElsewhere(t, nil)
	o.put(card)
	o.flush()
	o.board.edits = []error{errWords}
	o.put(card)
	if got := o.settle(); got != "card/a" || o.row("card/a").State != core.RowDead || len(o.row("card/a").Parts) != 1 {
		t.Errorf("rows: %s, %+v", got, o.row("card/a"))
	}
	o.put(card) // its next change is tried again
	o.flush()
	if o.row("card/a").State != core.RowSent || !slices.Contains(o.board.seen(), "edit card/a.0 open: ") {
		t.Errorf("%+v, %v", o.row("card/a"), o.board.seen())
	}
}

// An answer that is there, and whose change is refused, stays.
func TestARefusedChangeOfAnAnswerIsNotSaid(t *testing.T) {
	o := newOffice(t, true, nil)
	o.put(core.Post{Key: "a", Event: 7})
	o.flush()
	o.board.edits = []error{errWords}
	o.put(core.Post{Key: "a", Event: 7, Pressed: true})
	if got := o.settle(); got != "a" || o.row("a").State != core.RowDead {
		t.Errorf("rows: %s, %+v", got, o.row("a"))
	}
}
