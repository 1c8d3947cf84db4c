package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/llm/view"
)

// teller makes histories as the loop writes them: turns that wait for an approval, turns in between, turns that go on
// or end early.
type teller struct {
	t       *rapid.T
	msgs    []core.Message
	said    int
	waiting []*turn
	truth   map[string]string // the result of each call, by the call's tag
	unique  bool              // ids are not used again
}

// turn is a turn with calls that have no results yet.
type turn struct{ open []core.ToolCall }

func (w *teller) tag(prefix string) string {
	w.said++
	return fmt.Sprint(prefix, w.said)
}

func (w *teller) add(m core.Message) { w.msgs = append(w.msgs, m) }

func (w *teller) pick(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

// person adds a person's message, with images and empty texts at times.
func (w *teller) person() {
	text := core.Block{Type: core.TextBlock, Text: w.tag("u") + strings.Repeat(" word", w.pick("words", 40))}
	switch w.pick("kind of message", 8) {
	case 0:
		w.add(
			core.Message{
				Role:    core.User,
				Content: core.Blocks(core.StoredImage("image/png", core.Digest([]byte(text.Text)), 10), text),
			})
	case 1:
		w.add(
			core.Message{
				Role: core.User,
				Content: core.Blocks(text,
					core.Block{
						Type: core.ImageBlock, Source: &core.ImageSource{Type: core.SourceURL, URL: "https://x"},
					}),
			})
	case 2:
		w.add(core.Message{Role: core.User, Content: core.Said(core.Speaker{Name: "Bob", ID: "x:1"}, text.Text, nil)})
	case 3:
		w.add(core.Message{Role: core.User, Content: core.Blocks(core.Block{Type: core.TextBlock, Text: " "}, text)})
	default:
		w.add(core.Message{Role: core.User, Content: core.Text(text.Text)})
	}
}

// answer adds an assistant's message, with thinking and signatures of one provider, of another, or without a mark.
func (w *teller) answer(calls []core.ToolCall) {
	m := core.Message{Role: core.Assistant, ToolCalls: calls}
	var blocks []core.Block
	for range w.pick("thoughts", 3) {
		if rapid.Bool().Draw(w.t, "redacted") {
			blocks = append(blocks, core.Block{Type: core.RedactedThinkingBlock, Data: "data"})
		} else {
			blocks = append(blocks,
				core.Block{
					Type: core.ThinkingBlock, Text: "hm",
					Signature: rapid.SampledFrom([]string{"", "s"}).Draw(w.t, "signature"),
				})
		}
	}
	switch w.pick("text", 4) {
	case 0:
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: "\n"})
	case 1:
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: w.tag("a"), Signature: "s"})
	default:
		blocks = append([]core.Block{{Type: core.TextBlock, Text: w.tag("a")}}, blocks...)
	}
	switch m.Content = core.Blocks(blocks...); w.pick("provider", 4) {
	case 0:
	case 1:
		m = view.Mark("two", m)
	case 2:
		m = view.Mark("one", m)
	default:
		m.Content = core.Text(w.tag("a"))
	}
	w.add(m)
}

func (w *teller) calls() *turn {
	turn := &turn{}
	for range 1 + w.pick("calls", 3) {
		id := w.tag("call_")
		if !w.unique {
			id = rapid.SampledFrom([]string{"0", "0", "c1", "c:1", "c_1_1", strings.Repeat("x", 60), id}).Draw(w.t,
				"id")
		}
		arguments := json.RawMessage(fmt.Sprintf(`{"tag":%q}`, w.tag("t")))
		if !w.unique && w.pick("malformed", 6) == 0 {
			arguments = json.RawMessage("null")
		}
		turn.open = append(turn.open,
			core.ToolCall{
				ID: id, Name: "add", Arguments: arguments,
				Signature: rapid.SampledFrom([]string{"", "s"}).Draw(w.t, "signature"),
			})
	}
	return turn
}

// result answers a turn's first open call.
func (w *teller) result(turn *turn) {
	call, text := turn.open[0], w.tag("r")
	switch w.pick("result", 5) {
	case 0:
		text = fmt.Sprintf(`{"error":{"category":"outcome_unknown","message":%q}}`, text)
	case 1:
		text += strings.Repeat(" long", w.pick("length", 100))
	}
	w.truth[string(call.Arguments)] = text
	w.add(result(call.ID, text))
	turn.open = turn.open[1:]
}

// run goes on with a turn until it waits or ends.
func (w *teller) run(turn *turn) {
	for {
		for len(turn.open) > 0 {
			if w.pick("waits", 3) == 0 {
				w.add(says("I need an approval first."))
				w.waiting = append(w.waiting, turn)
				return
			}
			w.result(turn)
		}
		if w.pick("calls again", 3) > 0 {
			break
		}
		*turn = *w.calls()
		w.answer(slices.Clone(turn.open))
	}
	w.answer(nil)
}

// resume goes on with one of the turns that wait, or ends it early.
func (w *teller) resume() {
	i := w.pick("turn", len(w.waiting))
	turn := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	if w.pick("early", 4) == 0 {
		for len(turn.open) > 0 {
			w.result(turn)
		}
		return
	}
	w.result(turn)
	w.run(turn)
}

// tell makes a history that a model is asked to go on with.
func tell(t *rapid.T, unique bool) *teller {
	w := &teller{t: t, truth: map[string]string{}, unique: unique}
	for range w.pick("turns", 12) {
		if len(w.waiting) > 0 && rapid.Bool().Draw(t, "resumes") {
			w.resume()
			continue
		}
		w.person()
		w.run(&turn{})
	}
	if len(w.waiting) > 0 && rapid.Bool().Draw(t, "asked by a result") {
		turn := w.waiting[0]
		w.waiting = w.waiting[1:]
		w.result(turn)
		for len(turn.open) > 0 {
			w.result(turn)
		}
	} else {
		w.person()
	}
	return w
}

// anything makes a list of messages that no loop writes: any roles, lost and foreign results, messages of a wrong form.
func anything(t *rapid.T) *teller {
	w := &teller{t: t, truth: map[string]string{}}
	for range w.pick("messages", 30) {
		switch w.pick("role", 8) {
		case 0, 1:
			w.person()
		case 2:
			w.answer(nil)
		case 3, 4:
			w.answer(w.calls().open)
		case 5, 6:
			w.add(result(rapid.SampledFrom([]string{"0", "c1", "c:1", "none"}).Draw(t, "id"), w.tag("r")))
		default:
			var m core.Message
			text := rapid.SampledFrom(
				[]string{
					`{"role":"system","content":"s"}`, `{"role":"user","content":[]}`, `{"role":"robot"}`,
					`{"role":"user","content":[{"type":"image"}]}`,
					`{"role":"assistant","content":[{"type":"image"}]}`,
					`{"role":"tool","content":[{"type":"text","text":"x"}]}`, `{"role":"user","content":7}`,
				}).Draw(t, "malformed")
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			w.add(m)
		}
	}
	w.person()
	return w
}

func options(t *rapid.T, w *teller) view.Options {
	o := view.Options{
		System:   rapid.SampledFrom([]string{"", "Be kind."}).Draw(t, "system"),
		Provider: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "provider"),
		TextOnly: rapid.Bool().Draw(t, "texts only"),
	}
	if rapid.Bool().Draw(t, "limited") {
		o.Budget = rapid.IntRange(100, 6000).Draw(t, "budget")
	}
	return o
}

func TestEveryViewIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anything(t)
		if rapid.Bool().Draw(t, "of a loop") {
			w = tell(t, rapid.Bool().Draw(t, "unique"))
		}
		o := options(t, w)
		before := asJSON(t, w.msgs)
		v, err := view.Of(w.msgs, o)
		if asJSON(t, w.msgs) != before {
			t.Fatal("the history was changed")
		}
		if err != nil {
			if o.Budget == 0 || core.CategoryOf(err) != core.ProviderInvalidRequest {
				t.Fatal(err)
			}
			return
		}
		if err := llmtest.Rules(v.Messages); err != nil {
			t.Fatalf("%v\n%s\nof\n%s", err, strings.Join(lines(v.Messages), "\n"), strings.Join(lines(w.msgs), "\n"))
		}
		if o.Budget > 0 && v.Tokens > o.Budget {
			t.Fatalf("%d tokens of %d", v.Tokens, o.Budget)
		}
		for _, line := range lines(v.Messages) {
			if strings.Contains(line, "signed one:") || strings.Contains(line, "signed two:") ||
				o.TextOnly && strings.Contains(line, "<image") {
				t.Fatalf("shown: %s", line)
			}
		}
		again, err := view.Of(w.msgs, o)
		if err != nil || asJSON(t, again) != asJSON(t, v) {
			t.Fatalf("not the same again: %v", err)
		}
		keepsEverything(t, w, o, v)
		isItsOwnView(t, o, v)
		pagedIsTheSame(t, w, o, v)
	})
}

// keepsEverything: the messages of people are all there, in order; with a budget, a first part of them may be missing,
// or be there where it has the call of a result.
func keepsEverything(t *rapid.T, w *teller, o view.Options, v view.View) {
	said, shown := tags(w.msgs, "u"), tags(v.Messages, "u")
	if o.Budget == 0 {
		if diff := cmp.Diff(said, shown); diff != "" {
			t.Fatal(diff)
		}
	}
	i := 0
	for _, u := range shown {
		for i < len(said) && said[i] != u {
			i++
		}
		if i == len(said) {
			t.Fatalf("not in order: %v of %v", shown, said)
		}
	}
	if len(shown) == 0 || shown[len(shown)-1] != said[len(said)-1] {
		t.Fatalf("the newest is missing: %v of %v", shown, said)
	}
	if !w.unique {
		return
	}
	for i, m := range v.Messages {
		for n, c := range m.ToolCalls {
			got, want := v.Messages[i+1+n].Content.String(), w.truth[string(c.Arguments)]
			if want != "" && got != want || want == "" && !strings.HasPrefix(got, "This call has not run yet") {
				t.Fatalf("the result of %s is %q, want %q", c.Arguments, got, want)
			}
		}
	}
}

// isItsOwnView: a view is shown as it is.
func isItsOwnView(t *rapid.T, o view.Options, v view.View) {
	stored := slices.Clone(v.Messages)
	for i, m := range stored {
		stored[i] = view.Mark(o.Provider, m)
	}
	o.Earlier = leftOut(v)
	if len(stored) > 0 && stored[0].Role == core.System {
		stored = stored[1:]
	}
	again, err := view.Of(stored, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(v.Messages), lines(again.Messages)); diff != "" {
		t.Fatal(diff)
	}
}

// pagedIsTheSame: it does not matter how much of a history is read at a time.
func pagedIsTheSame(t *rapid.T, w *teller, o view.Options, v view.View) {
	stored := rapid.IntRange(0, len(w.msgs)).Draw(t, "stored")
	h, _ := counted(w.msgs[:stored])
	paged, err := view.OfHistoryIn(t.Context(), h.Append(w.msgs[stored:]...), o, rapid.IntRange(1, 20).Draw(t, "page"))
	if err != nil || asJSON(t, paged) != asJSON(t, v) {
		t.Fatalf("a history is shown otherwise: %v\n%s\nof\n%s", err,
			cmp.Diff(lines(v.Messages), lines(paged.Messages)), strings.Join(lines(w.msgs), "\n"))
	}
}

// tags are the first words of the texts that begin with a letter and a number.
func tags(msgs []core.Message, letter string) []string {
	var all []string
	for _, m := range msgs {
		for _, b := range m.Content.Blocks() {
			word, _, _ := strings.Cut(strings.TrimPrefix(b.Text, "> "), " ")
			if n, ok := strings.CutPrefix(word, letter); ok && m.Role == core.User &&
				strings.Trim(n, "0123456789") == "" {
				all = append(all, word)
			}
		}
	}
	return all
}

func asJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
