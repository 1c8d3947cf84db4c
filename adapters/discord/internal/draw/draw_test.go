package draw

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// anyText is a text with characters that are hard to draw.
func anyText(t *rapid.T, label string) string {
	bits := []string{
		"<", ">", "!", "@everyone", "#", "<@1>", "<@&1>", "<https://x>", "](", "][", "[", "]", "(https://x)",
		"[safe](https://evil.example)", "`", "``", "```", "\n", "\r",
		"\n\n", "```go\n", "\n```\n", "~~~\n", "> ", "- ", "1. ", "    ", "|", "||", "**", "__", "_", "*", "~~", "\\",
		"&", ";", "\x00", "\x1b[2J", "\u202e", "\u2066", "\u2028", "\U000e0041",
		"😀", "👩‍👩‍👧", "word ", "\xff", "\u0085", "\ufeff", "\u2060", "http://",
		"https://x/`", strings.Repeat("long", 300), strings.Repeat("more words ", 200), strings.Repeat("<", 500),
		strings.Repeat("\n", 50), "\u2060\u200b\u200c\u200d",
	}
	return adaptertest.AnyText(t, label, bits)
}

func TestPostsNeverPingOrExceedLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(d core.Delivery) []Message { return drawAll(t, d) }
		adaptertest.DrawsWithinLimits(t, anyText, draw, func(all []Message) any { return fmt.Sprintf("%+v", all) })
	})
}

func TestACardIsAlwaysOneMessageWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyCard(t, anyText)
		c := *d.Card
		if all := drawAll(t, d); len(all) != 1 {
			t.Fatalf("%d messages", len(all))
		}
		if c.Question != nil {
			for page := range Pages(len(c.Question.Fields)) {
				// five menus of 25 options
				inspectModal(t, Form("value", Page(formOf(c, outbound.ActionAnswer), page, nil)), 40_000)
			}
		}
		readArguments(t, c)
		inspectModal(t, Form("value", formOf(c, outbound.ActionReason)), 8000)
		inspectModal(t, Form("value", formOf(c, outbound.ActionConfirm)), 8000)
		if f, ok := doc.View(core.Delivery{Card: &c}, Reader(nil)).Form(outbound.ActionEdit, MaxInput); ok {
			inspectModal(t, Form("value", f), 8000)
		}
	})
}

// Discord's limits for a form: components/reference.
const (
	maxModalTitle = 45
	maxLabel      = 45
)

func inspectModal(t fataler, m modal, most int) {
	t.Helper()
	if safetext.Units(m.Title) > maxModalTitle {
		t.Fatalf("a title of %d", safetext.Units(m.Title))
	}
	if n := len(m.Components); n < 1 || n > 5 {
		t.Fatalf("%d components", n)
	}
	for n, c := range m.Components {
		l, ok := c.(discordgo.Label)
		if !ok {
			continue
		}
		if m, ok := l.Component.(menu); ok {
			inspectMenu(t, m)
			if safetext.Units(l.Label) > maxLabel || safetext.Units(l.Description) > 100 {
				t.Fatalf("a label %+v", l)
			}
			continue
		}
		input := l.Component.(discordgo.TextInput)
		if safetext.Units(l.Label) > maxLabel || safetext.Units(l.Description) > 100 ||
			safetext.Units(input.Placeholder) > 100 {
			t.Fatalf("a label %+v", l)
		}
		if safetext.Units(input.Value) > MaxInput || mask.Escape(input.Value) != input.Value {
			t.Fatalf("the value %q", input.Value)
		}
		input.Value = "" // it has a limit of its own
		l.Component = input
		m.Components[n] = l
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(raw) > most {
		t.Fatalf("a form of %d bytes", len(raw))
	}
}

// The value of a button fits its limit for every approval and event.
func TestEverySealedValueFitsAButton(t *testing.T) {
	signer, err := core.NewSigner("a key for the tests")
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range []outbound.Action{
		outbound.ActionApprove, outbound.ActionDeny, outbound.ActionReason, outbound.ActionConfirm,
		outbound.ActionRemember,
		outbound.ActionConfirmRemember, outbound.ActionForget, outbound.ActionEdit, outbound.ActionArguments,
	} {
		if v := signer.Seal(
			outbound.CardButton(core.Card{Approval: core.ApprovalID(uuid.NewString()), Edits: math.MaxInt},
				choice).Fields()...); len(v) > maxCustomID {
			t.Errorf("%s: %d bytes", choice, len(v))
		}
	}
	longest := fmt.Sprintf("%s:%d:%d", address.Platform, uint64(math.MaxUint64), uint64(math.MaxUint64))
	for _, action := range []outbound.Action{outbound.ActionRetry, outbound.ActionNew} {
		if v := signer.Seal(
			outbound.Button{
				Action: action, Failed: math.MaxInt64, Conversation: core.ConversationID(longest),
			}.Fields()...); len(v) > maxCustomID {
			t.Errorf("%s: %d bytes", action, len(v))
		}
	}
}

func TestAllArgumentsAreShownOrTheCutIsStated(t *testing.T) {
	for _, n := range []int{1, 1000, 5000, 200_000, maxArgumentsFile + 100} {
		c := testCard(func(c *core.Card) { c.Arguments = strings.Repeat("line <&> of arguments\n", n/22+1) })
		shown := readArguments(t, *c)
		texts := shown.Text + shown.Body
		all := strings.Count(texts, "line <&> of arguments") == n/22+1
		if said := strings.Contains(texts, "The file lacks the last "); all == said {
			t.Errorf("%d characters: all there is %v, said that there are more is %v", n, all, said)
		}
	}
}

// maxThreadName is how long a thread's name may be (resources/channel).
const maxThreadName = 100

func TestTopics(t *testing.T) {
	for text, want := range map[string]string{
		"<@900000000000000002> add milk":   "add milk",
		"<@&5>, what\nis  this?":           "what is this?",
		"<@1>":                             "Conversation",
		"":                                 "Conversation",
		"x " + strings.Repeat("word ", 50): "x " + strings.TrimSpace(strings.Repeat("word ", 11)) + "…",
		strings.Repeat("y", 200):           strings.Repeat("y", maxTopic) + "…",
		"\u202eabc @everyone":              "abc @everyone",
		"look <#3001> and <:smile:1> and <a:wave:2> !": "look and and !",
	} {
		got := Topic(text)
		if got != want || safetext.Units(got) > maxThreadName {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A link would include the backslash that follows it, so that the escaped character would be Markdown again.
func TestEscapesNeverBecomePartOfALink(t *testing.T) {
	c := core.Card{
		Approval: "ap-1", State: core.Approved, Tool: "<", DecidedBy: "<<", Reason: "<https://x><",
		Summary: "<https://x>", Requester: "<<<",
		Arguments: "<<<<<[safe](https://evil.example)<<<**<<", DecidedAt: adaptertest.Noon,
	}
	drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: &c})
	for in, want := range map[string]string{
		"<https://x>":       `\<https\://x\>`,
		"see https://x/y":   "see https://x/y",
		"(https://x/a_b)":   `(https\://x/a\_b)`,
		"ftp://x and a://b": `ftp\://x and a\://b`,
	} {
		if got := Literal(in, 100); got != want {
			t.Errorf("%q is drawn as %q, want %q", in, got, want)
		}
	}
}

// TestLaw8_AReplyThatLooksLikeACardHasNoMarkdown but blocks of code, which are kept byte for byte, and has the same
// words.
func TestLaw8_AReplyThatLooksLikeACardHasNoMarkdown(t *testing.T) {
	const code = "```go\n# a **b** `c` <@1>\n```\n"
	for _, head := range []string{"### 🔔 Approval needed", "# Аррrоvаl nееdеd", "**:bell: Approval needed**"} {
		text := head + "\n**Pay 20**\n**Tool:** `pay` # one\n> -# small\n" + code + "end"
		all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Key: "k", Text: text}})
		if len(all) != 1 || strings.Count(all[0].Text, code) != 1 {
			t.Fatalf("%+v", all)
		}
		words := strings.Replace(all[0].Text, code, "", 1)
		shown := strings.NewReplacer(`\\`, `\`, `\`, "").Replace(words)
		if want := strings.Replace(text, code, "", 1); shown != want {
			t.Errorf("got\n%q\nwant\n%q", shown, want)
		}
		for i, r := range words {
			if strings.ContainsRune("#*`>", r) && words[i-1] != '\\' {
				t.Errorf("%q is Markdown in %q", r, words)
			}
		}
	}
}

// TestACardOfTheLongestTextsIsWithinTheLimits that may be in place of the built-in ones.
func TestACardOfTheLongestTextsIsWithinTheLimits(t *testing.T) {
	long := wording.New(adaptertest.Longest())
	p := Painter{testSealer{}, long}
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyCard(t, anyText)
		all, err := p.Draw(d, testLink)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d messages, %v", len(all), err)
		}
		for _, m := range all {
			inspect(t, m.Outgoing())
		}
	})
}
