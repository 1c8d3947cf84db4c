package draw

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// anyText returns a text composed of parts that are hard to draw.
func anyText(t *rapid.T, label string) string {
	bits := []string{
		"<", ">", "!", "@", "#", "<!channel>", "<@U1>", "<!here|x>", "@here", "@Everyone", "<https://x|y>", "](", "][",
		"]:", "[", "]", "(https://x)", "`", "``", "```", "\n", "\r",
		"\n\n", "```go\n", "~~~\n", "> ", "- ", "    ", "|", "\\", "&lt;", "&", "&amp;", ";", "\x00", "\x1b[2J",
		"\u202e", "\u2066", "\u2028", "\U000e0041", "😀", "👩‍👩‍👧", "word ",
		"\xff", "\u0085", "\ufeff", "\u2060", "http:", strings.Repeat("long", 300), strings.Repeat("more words ", 200),
		strings.Repeat("<", 500), strings.Repeat("\n", 50),
	}
	return adaptertest.AnyText(t, label, bits)
}

func TestPostsStayWithinLimitsAndMentionNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(d core.Delivery) []Message { return drawAll(t, d) }
		adaptertest.DrawsWithinLimits(t, anyText, draw, func(all []Message) any { return look2(all) })
	})
}

// look2 returns the comparable parts of messages.
func look2(all []Message) []string {
	var texts []string
	for _, m := range all {
		drawn, err := json.Marshal(m)
		texts = append(texts, string(drawn), fmt.Sprint(err))
	}
	return texts
}

func TestACardIsAlwaysOneMessageWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyCard(t, anyText)
		c := *d.Card
		if all := drawAll(t, d); len(all) != 1 {
			t.Fatalf("%d messages", len(all))
		}
		inspect(t, "modal", Form("value", formOf(c, outbound.ActionReason)).Blocks.BlockSet, maxModalBlocks)
		inspect(t, "modal", testPainter.ArgumentsModal(c).Blocks.BlockSet, maxModalBlocks)
		if c.Question != nil {
			inspect(t, "modal", Form("value", formOf(c, outbound.ActionAnswer)).Blocks.BlockSet, maxModalBlocks)
		}
		if f, ok := doc.View(core.Delivery{Card: &c}, testPainter.reader()).Form(outbound.ActionEdit, MaxInput); ok {
			inspect(t, "modal", Form("value", f).Blocks.BlockSet, maxModalBlocks)
		}
	})
}

func TestArgumentsModalShowsAllOrHowMuchIsMissing(t *testing.T) {
	for _, n := range []int{1, 1000, 40_000, 2_000_000} {
		c := testCard(func(c *core.Card) { c.Arguments = strings.Repeat("line <&> of arguments\n", n/22+1) })
		view := testPainter.ArgumentsModal(*c)
		if size := inspect(t, "modal", view.Blocks.BlockSet, maxModalBlocks); size > maxModalBytes {
			t.Errorf("%d characters make a modal of %d bytes", n, size)
		}
		var shown strings.Builder
		for _, b := range view.Blocks.BlockSet[1:] {
			for _, e := range b.(element).Elements {
				if e.Type == codeType {
					shown.WriteString(e.Elements[0].Text)
				} else {
					shown.WriteString("…" + e.Elements[0].Text)
				}
			}
		}
		all := shown.String() == strings.TrimSpace(c.Arguments)
		if said := strings.Contains(shown.String(), " more characters do not fit here."); all == said {
			t.Errorf("%d characters: all shown is %v, reported that there are more is %v", n, all, said)
		}
	}
}

func TestPartsOfALongReplyContainAllOfIt(t *testing.T) {
	var text strings.Builder
	for i := range 12 {
		fmt.Fprintf(&text, "## Chapter %d\n\nSome words.\n\n- an item\n  - another\n\n```go\n", i)
		for j := range 60 {
			fmt.Fprintf(&text, "handlers[%d](\"line %d.%d\") // code that stays as it is\n", j, i, j)
		}
		text.WriteString("```\n\n| name | value |\n|------|-------|\n")
		for j := range 40 {
			fmt.Fprintf(&text, "| row %d.%d | some value |\n", i, j)
		}
		text.WriteString("\n")
	}
	if text.Len() < 60_000 {
		text.WriteString(strings.Repeat("And so it went on. ", (60_000-text.Len())/19+1))
	}
	all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text.String()}})
	if len(all) > 13 { // each with one table at most
		t.Errorf("%d parts for %d characters", len(all), text.Len())
	}
	var leaves []adaptertest.Leaf
	for _, m := range all {
		leaves = append(leaves, ReadReply(t, JSONBlocks(t, m.Blocks))...)
	}
	want := ReplyLeaves(text.String())
	adaptertest.SameLeaves(t, "a long text", want, AsLines(leaves))
}

func TestModalsStayWithinTheLimits(t *testing.T) {
	for _, view := range []api.ModalViewRequest{
		Form(strings.Repeat("x", maxValue), formOf(*testCard(nil), outbound.ActionReason)),
		Form(strings.Repeat("x", maxValue), formOf(*testCard(nil), outbound.ActionEdit)),
		testPainter.ArgumentsModal(*testCard(nil)),
	} {
		for _, text := range []*api.TextBlockObject{view.Title, view.Close, view.Submit} {
			if text != nil && (safetext.Units(text.Text) > maxModalTitle ||
				safetext.Units(text.Text) > maxModalButton) {
				t.Errorf("%q is too long", text.Text)
			}
		}
		if len(view.PrivateMetadata) > maxModalMetadata {
			t.Errorf("the private metadata has %d characters", len(view.PrivateMetadata))
		}
	}
	if MaxReason > MaxInput {
		t.Error("the limit of a reason is above Slack's limit of an input")
	}
}

type longSealer struct{}

func (longSealer) Seal(...string) string { return strings.Repeat("x", maxValue+1) }

func TestAButtonThatSlackWouldRefuseIsAnError(t *testing.T) {
	p := Painter{longSealer{}, wording.BuiltIn}
	if _, err := p.Draw(core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: testCard(nil)},
		""); core.CategoryOf(err) != core.Internal {
		t.Errorf("card: %v", err)
	}
	if _, err := p.Draw(samples.Error(core.RetryableTransient, false), ""); core.CategoryOf(err) != core.Internal {
		t.Errorf("error: %v", err)
	}
	for _, d := range []core.Delivery{
		{Post: core.Post{Kind: core.PostWorking}}, {Post: core.Post{Kind: core.PostCard}},
	} {
		if _, err := p.Draw(d, ""); core.CategoryOf(err) != core.Internal {
			t.Errorf("%s: %v", d.Kind, err)
		}
	}
}

func TestAFormHasAnInputForEachFieldOfAQuestion(t *testing.T) {
	if n := len(inputs[callbacks[outbound.ActionAnswer]]); n != question.MaxFields {
		t.Errorf("%d inputs for %d fields", n, question.MaxFields)
	}
}

// TestACardOfTheLongestTextsIsWithinTheLimits that may be in place of the built-in ones.
func TestACardOfTheLongestTextsIsWithinTheLimits(t *testing.T) {
	long := wording.New(adaptertest.Longest())
	p := Painter{sealer{}, long}
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyCard(t, anyText)
		all, err := p.Draw(d, "https://acme.slack.example/archives/C1/p12")
		if err != nil || len(all) != 1 {
			t.Fatalf("%d messages, %v", len(all), err)
		}
		for _, m := range all {
			inspectWith(t, m.Text, m.Blocks, maxBlocks, false)
		}
	})
}
