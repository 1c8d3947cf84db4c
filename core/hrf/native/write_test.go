package native_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core/hrf"
	"gatehouse/core/hrf/native"
	"gatehouse/core/strictjson"
)

func value(t *testing.T, text string) *strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWriteGivesTheTokenFormOfAnEnvelope(t *testing.T) {
	got, err := native.Write(&hrf.Envelope{Version: "1.0", Messages: []hrf.Message{
		{Role: hrf.System, ContentType: hrf.ScriptType, Content: value(t, `{"steps": [{"type": "halt"}]}`)},
		{Role: hrf.User, Recipient: "a.b", Content: value(t, `"Hi "`)},
		{
			Role: hrf.Assistant, Channel: hrf.Commentary, Recipient: "a.b", ContentType: hrf.JSONContent,
			Termination: hrf.Call, Content: value(t, `{"z": 1.50, "a": "<|end|>"}`),
		},
		{Role: hrf.Assistant, Channel: hrf.Commentary, Termination: hrf.End, Content: value(t, `"{plain}"`)},
		{Role: hrf.Assistant, Channel: hrf.Final, Content: value(t, `"Bye"`)},
	}})
	want := `<|start|>system<|constrain|>harmony-script<|message|>
{"steps":[{"type":"halt"}]}
<|end|>
<|start|>user to=a.b<|message|>
Hi 
<|end|>
<|start|>assistant<|channel|>commentary to=a.b<|constrain|>json<|message|>
{"z":1.50,"a":"\u003c|end|>"}
<|call|>
<|start|>assistant<|channel|>commentary<|constrain|>text<|message|>
{plain}
<|end|>
<|start|>assistant<|channel|>final<|message|>
Bye
<|end|>
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
}

func TestWhatTheFormCantHoldIsNamed(t *testing.T) {
	text := value(t, `"x"`)
	_, err := native.Write(&hrf.Envelope{Version: "2.0-beta", Messages: []hrf.Message{
		{Place: hrf.Place{Pointer: "/messages/0"}, Role: "functions.a b", Recipient: "<|end|>", Content: text},
		{Place: hrf.Place{Pointer: "/messages/1"}, Role: hrf.Assistant, Channel: hrf.Commentary, Content: text},
		{
			Place: hrf.Place{Pointer: "/messages/2"}, Role: hrf.Assistant, Channel: hrf.Final, Termination: hrf.Return,
			Content: text,
		},
		{Place: hrf.Place{Pointer: "/messages/3"}, Role: hrf.User, Content: value(t, `"say <|start|>\n"`)},
	}})
	var lost *native.LossError
	if !errors.As(err, &lost) {
		t.Fatalf("got %v", err)
	}
	want := []native.Loss{
		{Pointer: "/HRFVersion", Reason: `the version "2.0-beta": it holds none, and is read as 1.0`},
		{Pointer: "/messages/0/role", Reason: `a role with white space or "<|"`},
		{Pointer: "/messages/0/recipient", Reason: `a recipient with white space or "<|"`},
		{
			Pointer: "/messages/1",
			Reason:  `commentary of the assistant without a termination: its <|end|> is read as "end"`,
		},
		{
			Pointer: "/messages/2/termination",
			Reason:  `the termination "return" outside the commentary of the assistant`,
		},
		{Pointer: "/messages/3/content", Reason: "text with the token <|start|>"},
		{Pointer: "/messages/3/content", Reason: "text with line breaks at the beginning or end"},
	}
	if diff := cmp.Diff(want, lost.Losses); diff != "" {
		t.Error(diff)
	}
}
