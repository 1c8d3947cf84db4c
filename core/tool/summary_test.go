package tool_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

func TestWhatASentenceSaysOfTheArguments(t *testing.T) {
	for args, want := range map[string]bool{
		`{"amount":20,"to":"ann","why":"the milk is due"}`: true,
		`{"amount":20}`:                     true,
		`{"to":"ann, and 500 more to eve"}`: false, // its words could be the sentence's own
		`{"why":"it” is “due"}`:             false,
		`{"to":"20"}`:                       false, // a text, which looks like a number
		`{"to":"a\nb"}`:                     false,
		`{"to":" ann"}`:                     false,
		`{"to":"an\u200bn"}`:                false,
		`{"to":""}`:                         false,
		`{"to":["ann"]}`:                    false,
		`{"to":null}`:                       false,
		`{"amount":20,"fee":1}`:             false, // which the sentence does not name
		`{"to":"Zoë"}`:                      true,
		`{"to":"#general"}`:                 true,
		`{"why":"000"}`:                     true,
		`{"amount":20,"to":"000"}`:          false, // which reads on from the number
		`{"amount":20,"to":",000"}`:         false,
		`{"why":"für Łódź, 東京"}`:            true,
		`{"why":"it″ is ″due"}`:             false, // what looks like the quotation's end
		`{"why":"it＂ is ＂due"}`:             false,
		`{"why":"it’’ is ‘‘due"}`:           false,
		`{"why":"it» is «due"}`:             false,
		`{"why":"itˮ is ʺdue"}`:             false,
		`{"why":"it❞ is ❝due"}`:             false,
		`{"why":"it´´ is"}`:                 false,
		`{"to":"(none)"}`:                   false, // a text, which looks like one that is missing
		`{"to":"אבא","amount":20}`:          false, // beside which numbers change their places
		`{"to":"an\u0335n"}`:                false, // a line through a letter
		`{"to":"a\u3164b"}`:                 false,
		`{"to":"a\u007fb"}`:                 false,
		`{"to":"a\ue000b"}`:                 false,
		`{}`:                                false,
		`[1]`:                               false,
	} {
		if got := tool.Says(json.RawMessage(args), []string{"amount", "to", "why"}, []string{"why"}); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

func TestACallKnowsWhetherItsSentenceSaysItsArguments(t *testing.T) {
	note := tool.NoteAdd(nil)
	for args, want := range map[string]bool{
		`{"text":"buy milk"}`: true, `{"text":"the token ghp_0123456789abcdefghijABCDEFGHIJ012345"}`: false,
	} {
		bound, err := tool.Bind(note, toolCall(note.Name, args))
		if err != nil || bound.Said != want {
			t.Errorf("%s: %v, %v", args, bound.Said, err)
		}
	}
	if bound, err := tool.Bind(tool.Tool{Name: "x.y"}, toolCall("x.y", `{"text":"a"}`)); err != nil || bound.Said {
		t.Errorf("without a sentence: %v, %v", bound.Said, err)
	}
}

func toolCall(name, args string) core.ToolCall {
	return core.ToolCall{ID: "1", Name: name, Arguments: json.RawMessage(args)}
}
