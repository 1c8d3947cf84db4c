package console_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

func TestYesAndNoAnswerACard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			k.Type("note milk\r")
			s.finishTurn()
			k.Type("Yes\r")
			s.finishTurn()
			k.Type("note tea\r")
			s.finishTurn()
			k.Type("no not today\r")
			s.finishTurn()
			k.Type("yes please\r") // a message: no card is open
			s.finishTurn()
			var got []string
			for _, e := range s.taken() {
				got = append(got, string(e.Payload))
			}
			want := []string{`{"text":"note milk"}`, `{"approval":"a-milk","choice":"approve"}`, `{"text":"note tea"}`,
				`{"approval":"a-tea","choice":"deny","reason":"not today"}`, `{"text":"yes please"}`}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s", strings.Join(got, "\n"))
			}
		})
	})
}

// With several open cards a prompt takes no answer that names none of them: it lists them, by as much of their ids as
// the others do not have.
func TestPromptWantsANameAmongSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			card := func(id, what string, state core.ApprovalState) {
				s.draw(core.Card{Approval: core.ApprovalID(id), State: state, Tool: "note.add", Summary: "Add " + what})
				synctest.Wait()
			}
			asks := func(prompt string) {
				t.Helper()
				if got := s.output.String(); !strings.HasSuffix(plain(got), prompt) {
					t.Errorf("the prompt is %q, want %q", plain(got)[max(0, len(plain(got))-60):], prompt)
				}
			}
			card("01a1fd47-136a-764f", "milk", core.Open)
			asks("you (y/n)> ")
			card("01a1fd47-136b-764f", "tea", core.Open)
			asks("you (y/n ID)> ")
			for typed, want := range map[string]string{
				"y": "y 01a1fd47-136b: Add tea", "n not today": "n 01a1fd47-136a: Add milk",
			} {
				before := len(s.output.String())
				k.Type(typed + "\r")
				synctest.Wait()
				if got := plain(s.output.String()[before:]); len(s.taken()) > 0 ||
					!strings.Contains(got, "2 approvals are open, so nothing was decided.") ||
					!strings.Contains(got, want) {
					t.Errorf("%q of two prints %q", typed, got)
				}
			}
			card("99999999-136b-764f", "bread", core.Open)
			asks("you (y/n ID)> ")
			card("99999999-136b-764f", "bread", core.Approved)
			if !strings.Contains(s.output.String(), "Add tea (01a1fd47-136b) is still open: answer") {
				t.Errorf("got %q", s.output.String())
			}
			asks("you (y/n ID)> ")
			card("01a1fd47-136b-764f", "tea", core.Denied)
			asks("you (y/n)> ")
		})
	})
}
