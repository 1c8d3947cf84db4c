package chat_test

import (
	"math"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// TestAButtonKeepsHowOftenTheArgumentsHadBeenChanged when its card was drawn; the value of a card that nobody has changed says nothing of it.
func TestAButtonKeepsHowOftenTheArgumentsHadBeenChanged(t *testing.T) {
	signer := adaptertest.Signer(t, "a key for the tests")
	for _, action := range []chat.Action{chat.ActionApprove, chat.ActionReason, chat.ActionConfirm, chat.ActionEdit, chat.ActionWithdraw} {
		for edits, sealed := range map[int]string{0: string(action), 2: string(action) + ".2", math.MaxInt: string(action) + ".9223372036854775807"} {
			b := chat.CardButton(core.Card{Approval: "a1", Edits: edits}, action, "C1", "1.2")
			if fields := b.Fields(); fields[1] != sealed {
				t.Errorf("%q is sealed, want %q", fields[1], sealed)
			}
			got, ok := chat.OpenButton(signer, signer.Seal(b.Fields()...))
			if !ok || got.Edits != edits || got.Action != action || got.Approval != "a1" || len(got.More) != 2 {
				t.Errorf("%+v came back as %+v, %v", b, got, ok)
			}
		}
	}
}

func TestAButtonWithAMalformedCountIsRefused(t *testing.T) {
	signer := adaptertest.Signer(t, "a key for the tests")
	for _, count := range []string{"", "0", "-1", "+1", "01", "1.2", " 1", "x", "0x1", "9223372036854775808"} {
		if b, ok := chat.OpenButton(signer, signer.Seal("a1", "approve."+count)); ok {
			t.Errorf("%q is read as %+v", count, b)
		}
	}
	value := signer.Seal("a1", "approve.1")
	if b, ok := chat.OpenButton(signer, strings.Replace(value, "approve.1", "approve.2", 1)); ok {
		t.Errorf("a tampered value is read as %+v", b)
	}
}

func TestTheFormForArgumentsIsFilledWithAllOfThemOrNotOffered(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		change    func(*core.Card)
		want      bool
	}{
		"an object":           {arguments: "{\n  \"text\": \"buy milk\"\n}", want: true},
		"empty":               {arguments: "{}", want: true},
		"escaped":             {arguments: mask.Escape("{\n  \"text\": \"a\u202eb \\\\\u200b\"\n}"), want: true},
		"not escaped":         {arguments: "{\n  \"text\": \"a\u202eb\"\n}"},
		"as long as it may":   {arguments: `{"text": "` + strings.Repeat("x", 88) + `"}`, want: true},
		"too long":            {arguments: `{"text": "` + strings.Repeat("x", 89) + `"}`},
		"too long, in units":  {arguments: `{"text": "` + strings.Repeat("😀", 45) + `"}`},
		"no object":           {arguments: "[1]"},
		"no JSON":             {arguments: "{text}"},
		"nothing":             {},
		"not to be changed":   {arguments: "{}", change: func(c *core.Card) { c.Editable = false }},
		"of a decided call":   {arguments: "{}", change: func(c *core.Card) { c.State = core.Approved }},
		"with a key unquoted": {arguments: "text: buy milk"},
	} {
		card := core.Card{Approval: "a1", State: core.Open, Editable: true, Arguments: c.arguments}
		if c.change != nil {
			c.change(&card)
		}
		if text, ok := chat.EditText(card, 100); ok != c.want || ok && text != c.arguments {
			t.Errorf("%s: %q, %v", name, text, ok)
		}
	}
}
