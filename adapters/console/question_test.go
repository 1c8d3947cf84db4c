package console_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/console"
	"gatehouse/core"
	"gatehouse/core/question"
)

// ask is the card of a question to the person at the console; of one that begins with "bob", to somebody else.
func (s *gateway) ask(schema string) core.Card {
	of := "console:ann"
	if rest, ok := strings.CutPrefix(schema, "bob "); ok {
		of, schema = "slack:UBOB", rest
	}
	q, err := question.New("Which?\nSay.", json.RawMessage(schema))
	if err != nil {
		s.t.Error(err)
	}
	return core.Card{
		Approval: "a-q", State: core.Open, Tool: "people.ask", Summary: "Which? Say.", Question: &q, Requester: "Ann",
		Requested: core.Actor{ID: "console:ann"}, Approvers: []string{of}, Self: true,
	}
}

// answered settles a question; the answer "late" comes after Bob's.
func (s *gateway) answered(card *core.Card, click *core.Click) {
	answer, err := card.Question.Check(json.RawMessage(click.Answer))
	switch {
	case click.Choice != core.Answer || err != nil:
		s.t.Errorf("the click %+v: %v", click, err)
	case string(answer) == `"again"`:
		s.post(core.Post{Kind: core.PostPrivate, Text: "That did not count."})
		return
	}
	card.State, card.DecidedBy, card.Answer = core.Answered, "Ann", card.Question.Shown(answer)
	s.draw(*card)
	s.hold()
	s.post(core.Post{Kind: core.PostReply, Text: "got " + string(answer)})
}

const (
	which = "question> Which?\nquestion> Say.\nquestion> Started by: Ann\nquestion> May answer: " +
		"console:ann\nquestion> id a-q\n"
	forBob = "question> Which?\nquestion> Say.\nquestion> Started by: Ann\nquestion> May answer: " +
		"slack:UBOB\nquestion> id a-q\n"
	decided = "question> answered by Ann: Which? Say. – "
	sizes   = `{"oneOf":[{"const":"s","title":"Small"},{"const":"m","title":"Medium"}]}`
	options = "question> 1) Small\nquestion> 2) Medium\nquestion> answer with a number or a title\n"
	order   = `{"type":"object","properties":{"size":` + sizes +
		`,"count":{"type":"integer","minimum":1,"maximum":9,"description":"How many"},"gift":{"type":"boolean"}},` +
		`"required":["size","count"]}`
	form   = "question> a form of 3 fields: answer one after the other, or all in one line of JSON\n" + first
	first  = "question> size (1 of 3)\n" + options
	second = "question> count (2 of 3)\nquestion> How many\nquestion> answer with a whole number from 1 to 9\n"
	third  = "question> gift (3 of 3)\nquestion> answer with y or n, or with - to leave it out\n"
)

func TestQuestionsInAPipe(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"an option by its number": {
			"ask " + sizes + "\n2\nhello\n",
			which + options + decided + "Medium\nbot> got \"m\"\nbot> you said hello\n",
		},
		"an option by its title": {
			"ask " + sizes + "\nsmall\n", which + options + decided + "Small\nbot> got \"s\"\n",
		},
		"y is the answer to yes or no": {
			"ask {\"type\":\"boolean\"}\ny\n",
			which + "question> answer with y or n\n" + decided + "Yes\nbot> got true\n",
		},
		"any line is a text, also y": {
			"ask {\"type\":\"string\",\"maxLength\":5}\ny\n",
			which + "question> answer with a text of 0 to 5 characters\n" + decided + "y\nbot> got \"y\"\n",
		},
		"a number": {
			"ask {\"type\":\"number\",\"minimum\":1}\n2.50\n",
			which + "question> answer with a number, 1 or more\n" + decided + "2.50\nbot> got 2.50\n",
		},
		"control words are no answer": {
			"ask " + sizes + "\n/status\n1\n",
			"bot> control: status\n" + which + options + decided + "Small\nbot> got \"s\"\n",
		},
		"a question for somebody else": {
			"ask bob " + sizes + "\n2\n",
			forBob + options + "bot> you said 2\nquestion> Which? Say. is still open; answer with: gatehouse " +
				"approvals answer a-q --json ANSWER\n",
		},
		"an approval is answered in between": {
			"ask " + sizes + "\n1\nnote tea\ny\n",
			which + options + decided + "Small\nbot> got \"s\"\n" + card("tea") +
				"approval> approved by Ann: Add tea\nbot> done with Add tea\n",
		},
		"an older approval can be answered": {
			"note tea\nask bob " + sizes + "\ny\n",
			card("tea") + forBob + options +
				"approval> approved by Ann: Add tea\nbot> done with Add tea\nquestion> Which? Say. is still open; " +
				"answer with: gatehouse approvals answer a-q --json ANSWER\n",
		},
		"what does not fit is asked again": {
			"ask " + sizes + "\nlarge\n1\n",
			which + options + "bot> That is no answer to this question: choose one of the options.\n" + options +
				decided + "Small\nbot> got \"s\"\n",
		},
		"an answer that did not count": {
			"ask {\"enum\":[\"again\",\"b\"]}\n1\n2\n",
			which + "question> 1) again\nquestion> 2) b\nquestion> answer with a number or a title\nbot> That did " +
				"not count.\n" + decided + "b\nbot> got \"b\"\n",
		},
		"a form, field by field": {
			"ask " + order + "\n2\n3\ny\n",
			which + form + second + third + decided +
				"size: Medium, count: 3, gift: Yes\nbot> got {\"size\":\"m\",\"count\":3,\"gift\":true}\n",
		},
		"a form in one line": {
			"ask " + order + "\n{\"count\":4,\"size\":\"s\"}\n",
			which + form + decided + "size: Small, count: 4\nbot> got {\"size\":\"s\",\"count\":4}\n",
		},
		"a form's field that is left out": {
			"ask " + order + "\n1\n9\n-\n",
			which + form + second + third + decided + "size: Small, count: 9\nbot> got {\"size\":\"s\",\"count\":9}\n",
		},
		"a form's field that does not fit": {
			"ask " + order + "\n1\n10\n-\n9\n-\n",
			which + form + second + "bot> That is no answer to this question: this must be 9 or less.\n" + second +
				"bot> That is no answer to this question: this must be a number.\n" + second + third + decided +
				"size: Small, count: 9\nbot> got {\"size\":\"s\",\"count\":9}\n",
		},
		"a form's line that does not fit": {
			"ask " + order + "\n{\"count\":0}\n{\"size\":\"s\",\"count\":1}\n",
			which + form + "bot> That is no answer to this question: size is missing.\n" + first + decided +
				"size: Small, count: 1\nbot> got {\"size\":\"s\",\"count\":1}\n",
		},
		"an open question at the end is told": {
			"ask " + sizes + "\n", which + options + "question> Which? Say. is still open; answer with: gatehouse " +
				"approvals answer a-q --json ANSWER\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newGateway(t, console.Options{In: strings.NewReader(tc.in)})
				if got := s.run(nil); got != tc.want {
					t.Errorf("got\n%s\nwant\n%s", got, tc.want)
				}
			})
		})
	}
}

// TestThePromptSaysWhatIsAskedFor, field by field; pasted text answers only what asks for a text.
func TestThePromptSaysWhatIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			asks := func(prompt string) {
				t.Helper()
				synctest.Wait()
				if got := plain(s.output.String()); !strings.HasSuffix(got, prompt) {
					t.Errorf("the prompt is %q, want %q", got[max(0, len(got)-60):], prompt)
				}
			}
			k.Type("ask " + strings.Replace(order, "boolean", "string", 1) + "\r")
			s.finishTurn()
			asks("you (size: 1-2)> ")
			k.Type("medium\r")
			asks("you (count: number)> ")
			k.Type("many\r")
			asks("you (count: number)> ")
			k.Type("\x1b[200~3\x1b[201~\r") // a message
			s.finishTurn()
			asks("you (count: number)> ")
			k.Type("3\r")
			asks("you (gift: text)> ")
			k.Type("\x1b[200~two\nlines\x1b[201~\r")
			s.finishTurn()
			asks("you> ")
			if got := plain(s.output.String()); !strings.Contains(got, "bot> you said 3") ||
				!strings.Contains(got, `got {"size":"m","count":3,"gift":"two\nlines"}`) {
				t.Errorf("got %s", got)
			}
		})
	})
}
