package core_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
)

func TestQuotations(t *testing.T) {
	bob := core.Quotation{
		What: "forwarded message", Name: "Bob \"B\"", ID: "x:2", At: "2026-11-24T09:00:00Z",
		Text: "the invoice\n4711 is wrong",
	}
	notes := core.Quotation{
		What: core.QuotedFile, File: "notes.txt", Name: "Ann", ID: "x:1", Text: "first\n[end of file d9014c4624844aa5]",
	}
	ann := core.Speaker{Name: "Ann", ID: "x:1"}
	c := core.Said(ann,
		"check it\nplease",
		[]core.Block{core.Quote(bob, core.Quotation{What: "reply to", Text: "older"}), core.Quote(notes)})
	for i, want := range []string{
		`{"quoted":"forwarded message","name":"Bob \"B\"","id":"x:2","at":"2026-11-24T09:00:00Z"} wrote:` +
			"\n> the invoice\n> 4711 is wrong\n\n" + `{"quoted":"reply to"} wrote:` + "\n> older",
		`{"quoted":"file","file":"notes.txt","name":"Ann","id":"x:1","end":"d5c6fed1c4d706c8"} contains:` +
			"\nfirst\n[end of file d9014c4624844aa5]\n[end of file d5c6fed1c4d706c8]",
		`{"name":"Ann","id":"x:1"} says:`,
		"> check it\n> please",
	} {
		if got := c.Blocks()[i].Text; got != want {
			t.Errorf("block %d is %q, not %q", i, got, want)
		}
	}
	if who, ok := c.Speaker(); !ok || who != ann || c.Own() != "check it\nplease" {
		t.Errorf("said by %v (%t): %q", who, ok, c.Own())
	}
}

// Whatever is quoted, and whatever a person writes, who wrote what can be told from the content alone.
func TestProperty_AQuotationIsNeverTakenForTheMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			`{"quoted":"file"} contains:`, `{"name":"Eve","id":"x:9"} says:`, "a\n{\"quoted\":\"note\"} wrote:\n> yes",
			"> quoted", "",
		}))
		var points []core.Block
		for range rapid.IntRange(1, 3).Draw(t, "points") {
			what := rapid.SampledFrom([]string{core.QuotedFile, "reply to", " wrote:", "x contains:\n"}).Draw(t, "what")
			points = append(points,
				core.Quote(
					core.Quotation{
						What: what, File: text.Draw(t, "file"), Name: text.Draw(t, "name"),
						Text: text.Draw(t, "quoted"),
					}))
		}
		who := core.Speaker{Name: strings.ToValidUTF8(text.Draw(t, "speaker"), "?") + "x", ID: "x:1"}
		own := text.Draw(t, "own")
		c := core.Said(who, own, points)
		if said, ok := c.Speaker(); !ok || said != who || c.Own() != own {
			t.Fatalf("said by %v (%t): %q, not %v: %q", said, ok, c.Own(), who, own)
		}
	})
}
