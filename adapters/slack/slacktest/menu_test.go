package slacktest_test

import (
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

func option(value, text string) *slackgo.OptionBlockObject {
	return slackgo.NewOptionBlockObject(value, slackgo.NewTextBlockObject("plain_text", text, false, false), nil)
}

func TestAChosenOptionOfAMenu(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	menu := slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, nil,
		"which", option("1", "One"), option("2", "Two"))
	_, ts, err := w.api.PostMessage("C1", slackgo.MsgOptionText("Which?", false),
		slackgo.MsgOptionBlocks(slackgo.NewActionBlock("sealed", menu)))
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := w.Message("C1", ts); !strings.Contains(m.Shown(), "○ One ○ Two") || len(m.Buttons()) != 0 {
		t.Errorf("it is shown as %q", m.Shown())
	}
	if err := w.alice.Chooses("C1", ts, "Two").Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	got := a.interaction(t)
	if len(got.ActionCallback.BlockActions) != 1 {
		t.Fatalf("%+v", got.ActionCallback)
	}
	if one := got.ActionCallback.BlockActions[0]; one.ActionID != "which" || one.BlockID != "sealed" ||
		one.SelectedOption.Value != "2" || one.Value != "" || one.ActionTs == "" ||
		string(one.Type) != "static_select" {
		t.Errorf("%+v", one)
	}
}

func TestInputsThatSlackRefuses(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(slacktest.Addresses{Interactions: a.URL})
	_, ts, err := w.api.PostMessage("C1", card("Shall I?"))
	if err != nil {
		t.Fatal(err)
	}
	text := func(change func(*slackgo.PlainTextInputBlockElement)) slackgo.BlockElement {
		e := slackgo.NewPlainTextInputBlockElement(nil, "x")
		change(e)
		return e
	}
	number := func(low, high string) slackgo.BlockElement {
		e := slackgo.NewNumberInputBlockElement(nil, "x", false)
		e.MinValue, e.MaxValue = low, high
		return e
	}
	eleven := make([]*slackgo.OptionBlockObject, 11)
	for i := range eleven {
		eleven[i] = option("v", "text")
	}
	for name, e := range map[string]slackgo.BlockElement{
		"a length of 3,001":  text(func(e *slackgo.PlainTextInputBlockElement) { e.MaxLength = 3001 }),
		"lengths of none":    text(func(e *slackgo.PlainTextInputBlockElement) { e.MinLength, e.MaxLength = 5, 4 }),
		"a bound in letters": number("three", ""),
		"an exponent":        number("1e3", ""),
		"a decimal bound":    number("", "1.5"),
		"no number":          number("4", "3"),
		"eleven":             slackgo.NewRadioButtonsBlockElement("x", eleven...),
		"no options":         slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, nil, "x"),
		"a long option":      slackgo.NewRadioButtonsBlockElement("x", option("v", strings.Repeat("x", 76))),
		"a long value":       slackgo.NewRadioButtonsBlockElement("x", option(strings.Repeat("x", 151), "x")),
	} {
		view := modal()
		view.Blocks.BlockSet = []slackgo.Block{slackgo.NewInputBlock("b",
			slackgo.NewTextBlockObject("plain_text", "Label", false, false), nil, e)}
		if _, err := w.api.OpenView(w.bob.Clicks("C1", ts, "Deny").TriggerID, view); err == nil ||
			!strings.Contains(err.Error(), "invalid_arguments") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
