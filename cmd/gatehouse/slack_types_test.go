package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
)

// speakingModel answers say N with its Nth text, fails at fail, and is the demo's model otherwise.
type speakingModel struct {
	agent.Demo
	texts []string
}

func (m speakingModel) Next(ctx context.Context, h core.History, memory json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil || len(tail) == 0 {
		return agent.Answer{}, err
	}
	word, rest, _ := strings.Cut(tail[0].Content.Own(), " ")
	switch n, _ := strconv.Atoi(rest); {
	case word == "say" && n < len(m.texts):
		said := core.Message{Role: core.Assistant, Content: core.Text(m.texts[n])}
		return agent.Answer{Message: said, Finish: llm.FinishStop}, nil
	case word == "fail":
		return agent.Answer{}, core.Errorf(core.ProviderUnavailable, "The model can't be reached.")
	}
	return m.Demo.Next(ctx, h, memory)
}

// drivePolicy lets bob change notes, reminds and escalates at once, and wants two people for what is urgent.
const drivePolicy = `
version: 1
rules:
  - name: brief
    tools: ["note.*"]
    when: args.text startsWith "brief"
    action: ask
    approvers: ["slack:U2BOB"]
    expires: 3s
    remind: [1s]
    escalate: {after: 2s, to: ["slack:U3EVE"]}
  - name: urgent
    tools: ["note.*"]
    when: args.text startsWith "urgent"
    action: ask
    approvers: ["slack:U2BOB", "slack:U3EVE"]
    quorum: 2
    reason: required
    notify: [here, dm]
  - name: notes
    tools: ["note.*"]
    risk: [write]
    action: ask
    approvers: ["slack:U2BOB"]
    edit: true
`

// fills presses a button of a card and submits the form that it opens, filled in several ways. A form that closes with
// a refusal is opened again.
func (s *testGateway) fills(who *slacktest.Person, card slacktest.Message, button string, ways ...map[string]string) {
	s.t.Helper()
	for _, fields := range ways {
		if _, open := s.slack.Modal(who.ID); !open {
			who.Clicks(card.Channel, card.TS, button)
		}
		if _, err := s.slack.WaitForModal(s.ctx(), who.ID); err != nil {
			s.t.Fatalf("%v\n%s", err, s.slack.Dump())
		}
		noErr(s.t, who.Submits(fields).Wait(s.ctx()))
	}
}

// TestSlackRequestsHaveTheTypesOfSlacksSDK drives through all that people see: replies with every kind of Markdown,
// cards in their states and what is said about them, questions, forms, errors and commands. Each request has the type
// that Slack's own SDK gives it.
func TestSlackRequestsHaveTheTypesOfSlacksSDK(t *testing.T) {
	slacktest.NeedsTypes(t)
	t.Parallel()
	var model speakingModel
	samples := adaptertest.Samples{Prefixes: []string{"slack:S", "slack:U"}, Reply: "**Hello**", Hostile: "<!here>"}
	for _, d := range samples.Drive(t) {
		if d.Kind == core.PostReply && strings.TrimSpace(d.Text) != "" {
			model.texts = append(model.texts, d.Text)
		}
	}
	env := maps.Clone(transports["HTTP"])
	env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, drivePolicy)
	s := serveSlackWith(t, slacktest.Options{}, env, model)
	for n := range model.texts {
		s.ann.Posts("C1", fmt.Sprintf("%s say %d", s.slack.MentionOfBot(), n))
	}
	s.driveCards()
	s.driveQuestions()
	failed := s.ann.Posts("C1", s.slack.MentionOfBot()+" fail")
	again := s.card("C1", failed.TS, "")
	s.ann.Presses(again.Buttons()[0])
	for _, word := range []string{"help", "status", "stop", "new", "nonsense"} {
		s.ann.Runs(s.dm, "/gatehouse "+word)
		s.ann.Says(word)
	}
	waitUntil(t, s.delivered, "the last post")
	checked := slacktest.TypeCheck(t, s.slack)
	t.Log(checked)
	for _, of := range []string{
		"chat.postMessage", "chat.update", "chat.postEphemeral", "views.open", "view_submission",
	} {
		if checked[of] == 0 {
			t.Errorf("no %s was compared: %v", of, checked)
		}
	}
}

// driveCards has cards approved, denied, changed, withdrawn, seen by approvers elsewhere, and forgotten.
func (s *testGateway) driveCards() {
	s.t.Helper()
	_, brief := s.asked("brief")
	thread, card := s.asked("milk")
	s.eve.Clicks("C1", card.TS, "approve")
	if _, err := s.slack.WaitForEphemeral(s.ctx(), "C1", "U3EVE", ""); err != nil {
		s.t.Fatal(err)
	}
	s.fills(s.bob, card, "edit", map[string]string{"arguments": `{"text": butter}`},
		map[string]string{"arguments": `{"text": "butter"}`})
	waitUntil(s.t, func() bool {
		m, _ := s.slack.Message("C1", card.TS)
		return strings.Contains(m.Shown(), "butter")
	}, "the card with other arguments")
	s.bob.Clicks("C1", card.TS, "approve")
	s.reads("C1", thread, "Done.")

	_, denied := s.asked("cheese")
	s.fills(s.bob, denied, "reason", map[string]string{"reason": "we have <!channel> *enough*"})
	s.ends(denied)
	_, withdrawn := s.asked("bread")
	s.ann.Clicks("C1", withdrawn.TS, "withdraw")
	s.ends(withdrawn)
	_, urgent := s.asked("urgent")
	s.bob.Clicks("C1", urgent.TS, "approve")
	s.fills(s.eve, urgent, "reason", map[string]string{"reason": "not now"})
	s.ends(urgent)
	s.ann.Says("note add tea")
	elsewhere := s.card(s.slack.DMWith("U2BOB"), "", "tea")
	s.bob.Clicks(elsewhere.Channel, elsewhere.TS, "approve")
	s.reads(s.dm, "", "Done:")
	waitUntil(s.t, func() bool {
		m, _ := s.slack.Message("C1", brief.TS)
		return len(m.Buttons()) == 1 // to ask again
	}, "the end of the forgotten card")
	forgotten, _ := s.slack.Message("C1", brief.TS)
	s.ann.Presses(forgotten.Buttons()[0])
	s.bob.Presses(brief.Buttons()[0]) // a client that still shows it
}

// ends waits until a card has no buttons any more.
func (s *testGateway) ends(card slacktest.Message) {
	s.t.Helper()
	waitUntil(s.t, func() bool {
		m, _ := s.slack.Message(card.Channel, card.TS)
		return len(m.Buttons()) == 0
	}, "the end of "+card.TS)
}

// driveQuestions has questions of each kind answered.
func (s *testGateway) driveQuestions() {
	s.t.Helper()
	_, colour := s.askPeople("Which *colour*?", colours)
	s.eve.Clicks("C1", colour.TS, "red")
	s.ann.Clicks("C1", colour.TS, "blue")
	s.ends(colour)
	_, menu := s.askPeople("How many?", `{"enum":[1,2,3,4,5,6,7]}`)
	s.ann.Chooses("C1", menu.TS, "6")
	s.ends(menu)
	_, form := s.askPeople("What shall I order?",
		`{"type":"object","required":["size","count","why"],"properties":{"size":{"enum":["s","m"]},`+
			`"count":{"type":"integer","minimum":3},"gift":{"type":"boolean","title":"A gift?"},`+
			`"why":{"type":"string","title":"Why?"}}}`)
	s.fills(s.ann, form, "Answer", map[string]string{"field_0": "m", "field_1": "4", "field_3": " "},
		map[string]string{"field_0": "m", "field_1": "4", "field_3": "it rains"})
	s.ends(form)
	_, text := s.askPeople("Why?", `{"type":"string"}`)
	s.ann.Clicks("C1", text.TS, "withdraw")
	s.ends(text)
}
