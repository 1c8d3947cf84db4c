package erasure_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/internal/erasure"
)

const secret = "plum-7713-secret"

func TestWhatIsQuotedIsErased(t *testing.T) {
	w := erasure.NewWords("x:ann", []string{"Tell nobody: " + secret + ". It is ours alone!"})
	for _, text := range []string{
		"she said " + secret, "> Tell nobody: " + secret + ". It is ours alone!", "It is ours alone, she said",
		core.Quote(core.Quotation{What: "message", Name: "Ann", ID: "x:ann", Text: "short\nlines"}).Text,
		core.Quote(core.Quotation{
			What: core.QuotedFile, File: "short.txt", Name: "Ann", ID: "x:ann", Text: "short\nlines",
		}).Text,
	} {
		got := w.Text(text)
		for _, word := range []string{secret, "ours alone", "short", "lines", `"Ann"`} {
			if strings.Contains(got, word) {
				t.Errorf("%q became %q", text, got)
			}
		}
		if !strings.Contains(got, erasure.Erased) || w.Text(got) != got {
			t.Errorf("%q became %q, then %q", text, got, w.Text(got))
		}
	}
	for _, text := range []string{
		"Tell me", "it is", "",
		core.Quote(core.Quotation{What: "message", Name: "Bob", ID: "x:bob", Text: "about x:ann"}).Text,
	} {
		if got := w.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestJSONStaysByteForByteButForItsStrings(t *testing.T) {
	w := erasure.NewWords("x:ann", []string{secret})
	raw := `{ "a":1.50, "b" : ["\u00e9\/", "{\"deep\":\"the ` + secret + `\"}"], "c":null}`
	want := `{ "a":1.50, "b" : ["\u00e9\/", "{\"deep\":\"the [erased]\"}"], "c":null}`
	if got, changed := w.JSON([]byte(raw)); string(got) != want || !changed {
		t.Errorf("got %s", got)
	}
	if got, changed := w.JSON([]byte(want)); string(got) != want || changed {
		t.Errorf("again: %s", got)
	}
}

func TestAMessageOfThePersonIsErasedAndARepliesOnlyIfAsked(t *testing.T) {
	w := erasure.NewWords("x:ann", []string{secret})
	said := core.Message{Role: core.User, Content: core.Said(core.Speaker{Name: "Ann", ID: "x:ann"}, secret, nil)}
	reply := core.Message{
		Role: core.Assistant, Content: core.Text("you said " + secret),
		ToolCalls: []core.ToolCall{{
			ID: "1", Name: "note.add", Arguments: json.RawMessage(`{"text":"` + secret + `"}`),
		}},
	}
	for _, c := range []struct {
		m       core.Message
		replies bool
		has     int
	}{{said, false, 0}, {reply, false, 1}, {reply, true, 0}} {
		raw, _ := json.Marshal(c.m)
		got, _, changed := w.Message(erasure.Message{Body: raw, Theirs: true, Replies: c.replies})
		if strings.Count(string(got), secret) != c.has || !changed || strings.Contains(string(got), "Ann") {
			t.Errorf("got %s", got)
		}
		var back core.Message
		if err := json.Unmarshal(got, &back); err != nil || back.Validate() != nil {
			t.Errorf("%s: %v, %v", got, err, back.Validate())
		}
	}
}

func TestWhatAnybodyWritesIsNoQuotation(t *testing.T) {
	w := erasure.NewWords("x:ann", []string{
		"continue", "password", "Thank you", "Good morning", "2026-11-28", "at 10:30:00", "2026-11-28T10:30:00Z",
		"20261128", "10,000,000", "room 101 ok", "see you 2026", "is it not so", "call 0170-4711-99",
	})
	for _, text := range []string{
		`please continue`, "Thank you, Bob", "due 2026-11-28T10:30:00Z", "10,000,000 rows", "see you 2026",
		"this it is not, so?", "is it not sober", "x0170-4711-99", "0170-4711-995",
	} {
		if got := w.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"(is it not so?)", "ring 0170-4711-99.", "is it not so", `"0170-4711-99"`} {
		if got := w.Text(text); !strings.Contains(got, erasure.Erased) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestKeysAndIDsStay(t *testing.T) {
	w := erasure.NewWords("x:ann", []string{secret})
	raw := `{"SECRET":1,"id":"SECRET","deep":[{"text" : ["SECRET"]}],"arguments":{"x":"SECRET"}}`
	want := `{"SECRET":1,"id":"SECRET","deep":[{"text" : ["[erased]"]}],"arguments":{"x":"[erased]"}}`
	raw, want = strings.ReplaceAll(raw, "SECRET", secret), strings.ReplaceAll(want, "SECRET", secret)
	if got, _ := w.Fields([]byte(raw)); string(got) != want {
		t.Errorf("its fields: %s", got)
	}
	want = strings.Replace(want, `"id":"`+secret, `"id":"[erased]`, 1)
	if got, _ := w.JSON([]byte(raw)); string(got) != want {
		t.Errorf("all its values: %s", got)
	}
}
