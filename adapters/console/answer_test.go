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

// With several open cards the prompt says which one is meant, by as much of its id as the others do not have.
func TestPromptNamesTheCardAmongSeveral(t *testing.T) {
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
			asks("you (y/n to 01a1fd47-136b)> ")
			card("99999999-136b-764f", "bread", core.Open)
			asks("you (y/n to 99999999)> ")
			card("99999999-136b-764f", "bread", core.Approved)
			if !strings.Contains(s.output.String(), "Add tea (01a1fd47-136b) is still open: answer") {
				t.Errorf("got %q", s.output.String())
			}
			asks("you (y/n to 01a1fd47-136b)> ")
			card("01a1fd47-136b-764f", "tea", core.Denied)
			asks("you (y/n)> ")
		})
	})
}
