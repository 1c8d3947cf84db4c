package desk_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

const key = "a key for the tests"

// TestButtonsOfAnEarlierGatehouseOpen: the values of buttons and forms, as it sealed them.
func TestButtonsOfAnEarlierGatehouseOpen(t *testing.T) {
	raw, err := os.ReadFile("testdata/sealed.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Value  string
		Button outbound.Button
	}
	if err := json.Unmarshal(raw, &all); err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	signer := adaptertest.Signer(t, "a newer key than that", key)
	d := desk.Desk{Signer: signer}
	for _, s := range all {
		got := d.Open(s.Value)
		if len(got.More) == 0 {
			got.More = nil
		}
		if !reflect.DeepEqual(got, s.Button) {
			t.Errorf("%s: got %+v, want %+v", s.Value, got, s.Button)
		}
		if again, err := got.Value(adaptertest.Signer(t, key).Seal, 1000); err != nil || again != s.Value {
			t.Errorf("%s is sealed as %s, %v", s.Value, again, err)
		}
		if _, err := got.Value(signer.Seal, 10); core.CategoryOf(err) != core.Internal {
			t.Errorf("too long a value gave %v", err)
		}
		if b := d.Open(s.Value + "x"); b.Action != "" {
			t.Errorf("a changed value is read as %+v", b)
		}
		if b := (desk.Desk{Signer: adaptertest.Signer(t, "the key of another one")}).Open(s.Value); b.Action != "" {
			t.Errorf("a value of another key is read as %+v", b)
		}
	}
}

// TestAButtonKeepsHowOftenTheArgumentsHadBeenChanged when its card was drawn; the value of a card that nobody has
// changed says nothing of it.
func TestAButtonKeepsHowOftenTheArgumentsHadBeenChanged(t *testing.T) {
	d := desk.Desk{Signer: adaptertest.Signer(t, key)}
	for _, action := range []outbound.Action{
		outbound.ActionApprove, outbound.ActionReason, outbound.ActionConfirm, outbound.ActionEdit,
		outbound.ActionWithdraw,
	} {
		for edits, sealed := range map[int]string{
			0: string(action), 2: string(action) + ".2", math.MaxInt: string(action) + ".9223372036854775807",
		} {
			b := outbound.CardButton(core.Card{Approval: "a1", Edits: edits}, action, "C1", "1.2")
			if fields := b.Fields(); fields[1] != sealed {
				t.Errorf("%q is sealed, want %q", fields[1], sealed)
			}
			if got := d.Open(d.Signer.Seal(b.Fields()...)); !reflect.DeepEqual(got, b) {
				t.Errorf("%+v came back as %+v", b, got)
			}
		}
	}
}

func TestAMalformedValueIsRefused(t *testing.T) {
	d := desk.Desk{Signer: adaptertest.Signer(t, key)}
	for _, count := range []string{"", "0", "-1", "+1", "01", "1.2", " 1", "x", "0x1", "9223372036854775808"} {
		if b := d.Open(d.Signer.Seal("a1", "approve."+count)); b.Action != "" {
			t.Errorf("%q is read as %+v", count, b)
		}
	}
	for _, value := range []string{
		"", "a1~approve", d.Signer.Seal("a1"), d.Signer.Seal("again", "x", "c"), d.Signer.Seal("again", "1"),
		strings.Replace(d.Signer.Seal("a1", "approve.1"), "approve.1", "approve.2", 1),
	} {
		if b := d.Open(value); b.Action != "" {
			t.Errorf("%q is read as %+v", value, b)
		}
	}
}
