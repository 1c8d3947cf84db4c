package doc_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

func text(spans []doc.Span) string {
	return doc.Plain(spans, func(s doc.Span) string { return s.Text })
}

func TestAnEditSaysWhatItChanged(t *testing.T) {
	for name, c := range map[string]struct{ before, now, want string }{
		"a value": {
			`{"amount": 20, "to": "ann"}`, `{"amount": 21, "to": "ann"}`, "Changed by Bob: amount 20 → 21",
		},
		"two": {
			`{"amount": 20, "to": "ann"}`, `{"to": "eve"}`,
			"Changed by Bob: amount 20 → (none); to ann → eve",
		},
		"a new one": {
			`{"to": "ann"}`, `{"to": "ann", "tip": {"of": [1, 2]}}`,
			`Changed by Bob: tip (none) → {"of":[1,2]}`,
		},
		"a text": {`{"n": 5}`, `{"n": "5"}`, `Changed by Bob: n 5 → "5"`},
		"long": {
			`{"n": "` + strings.Repeat("x", 90) + `"}`, `{"n": 1}`,
			"Changed by Bob: n " + strings.Repeat("x", 60) + "… → 1",
		},
		"the end": {
			`{"n": "` + strings.Repeat("é", 90) + `a"}`, `{"n": "` + strings.Repeat("é", 90) + `b"}`,
			"Changed by Bob: n …éa → …éb",
		},
		"cut off": {
			`{"n": "` + strings.Repeat("é", 90) + `a"}`, `{"n": "` + strings.Repeat("é", 90) + `"}`,
			"Changed by Bob: n …éa → …é",
		},
		"an arrow": {
			`{"n": "5 → 6; m: 1"}`, `{"n": "7 → 8"}`, `Changed by Bob: n "5 → 6; m: 1" → "7 → 8"`,
		},
		"a key":       {`{"a\u202e\nb: 1 → 2": 3}`, `{}`, `Changed by Bob: "a\u202e\nb: 1 → 2" 3 → (none)`},
		"a plain key": {`{"où": 3}`, `{"où": "(none)"}`, "Changed by Bob: où 3 → \"(none)\""},
		"not stored":  {"", `{"n": 1}`, "Changed by Bob."},
	} {
		card := core.Card{
			State: core.Open, Edits: 1, Editor: core.Actor{Name: "Bob"}, Before: c.before, Arguments: c.now,
		}
		notes := doc.View(core.Delivery{Card: &card}, doc.Reader{}).Notes
		if len(notes) != 1 || text(notes[0].Spans) != c.want {
			t.Errorf("%s: %q, want %q", name, text(notes[0].Spans), c.want)
		}
	}
}

func TestArgumentsAreNotRepeatedWhereTheSentenceSaysThem(t *testing.T) {
	for summary, want := range map[string]string{
		"Pay 20 to ann": "", "Pay 20 to " + strings.Repeat("a", 130): "amount: 20",
	} {
		card := core.Card{State: core.Open, Said: true, Summary: summary, Arguments: "{\n  \"amount\": 20\n}"}
		if code, instead := doc.View(core.Delivery{Card: &card}, doc.Reader{}).Shown(); code != want || instead != "" {
			t.Errorf("%s: %q, %q", summary, code, instead)
		}
	}
}

// TestArgumentsThatAreNotKnownAreNotNone: those of a request that the audit log contradicts, or of one that is erased.
func TestArgumentsThatAreNotKnownAreNotNone(t *testing.T) {
	for arguments, want := range map[string]string{"": "", "{}": wording.BuiltIn.NoArguments} {
		card := core.Card{State: core.Open, Altered: true, Summary: "It is not known.", Arguments: arguments}
		if code, instead := doc.View(core.Delivery{Card: &card}, doc.Reader{}).Shown(); code != "" || instead != want {
			t.Errorf("%q: %q, %q", arguments, code, instead)
		}
	}
}

// trimmed is a surface without times.
type trimmed struct{ doc.Surface }

func (trimmed) Foreign(text string) string { return strings.TrimSpace(text) }

// TestEverybodyWhoDecidedIsNamed where it took several.
func TestEverybodyWhoDecidedIsNamed(t *testing.T) {
	two := []core.Actor{{ID: "here:1", Name: "Ann"}, {ID: "here:2", Name: "Bob"}}
	for state, want := range map[core.ApprovalState]string{
		core.Approved: "Approved by: Ann, Bob", core.Denied: "Denied by: Ann, Bob",
	} {
		card := core.Card{
			State: state, Quorum: 2, Vetoes: 2, Voters: two, Against: two, Decided: two[1], DecidedBy: "Bob",
		}
		found := false
		for _, f := range doc.View(core.Delivery{Card: &card}, doc.Reader{}).Fields {
			found = found || f.Label+": "+doc.Writer{Surface: trimmed{}}.Text(f.Value) == want
		}
		if !found {
			t.Errorf("%s: nothing says %q", state, want)
		}
	}
}

func TestAQuestionIsHeadedWithWhomItIsFor(t *testing.T) {
	few, many := []string{"here:1", "there:2", "local"}, []string{"here:1", "here:2", "here:3", "here:4"}
	for _, c := range []struct {
		approvers []string
		quiet     bool
		headed    string
		field     string
	}{
		{few, false, ", for here:1, anyone at gatehouse's own machine", ""},
		{many, false, "", "here:1, here:2, here:3, here:4"},
		{[]string{"there:2"}, false, "", wording.BuiltIn.NotifiedElsewhere},
		{few, true, "", wording.BuiltIn.NotifiedElsewhere},
	} {
		card := core.Card{State: core.Open, Question: &question.Question{Text: "Which?"}, Approvers: c.approvers}
		v := doc.View(core.Delivery{Post: core.Post{Quiet: c.quiet}, Card: &card}, doc.Reader{Platform: "here"})
		field := ""
		for _, f := range v.Fields {
			field += text(f.Value)
		}
		if text(v.For) != c.headed || field != c.field {
			t.Errorf("%v: headed %q, and below %q", c.approvers, text(v.For), field)
		}
	}
}

func TestWithdrawIsOfferedToWhomeverItIsFor(t *testing.T) {
	ann, bob := core.Actor{ID: "here:1", Name: "Ann"}, core.Actor{ID: "here:2"}
	card := core.Card{State: core.Open, Requested: ann, Requester: "Ann", Approvers: []string{"here:2"}}
	for name, c := range map[string]struct {
		to   string
		who  core.Actor
		want string
	}{
		"a channel":      {"", core.Actor{}, "Withdraw (Ann)"},
		"who asked":      {"", ann, "Withdraw"},
		"an approver":    {"", bob, ""},
		"a copy for ann": {ann.ID, core.Actor{}, "Withdraw"},
		"a copy for bob": {bob.ID, core.Actor{}, ""},
	} {
		got := ""
		for _, choice := range doc.View(core.Delivery{Post: core.Post{Person: c.to}, Card: &card},
			doc.Reader{Platform: "here", Who: c.who}).Cut(0, 0) {
			if strings.HasPrefix(choice.Label, "Withdraw") {
				got = choice.Label
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
