package discord

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/core"
)

// anyText is a text of what is hard to draw.
func anyText(t *rapid.T, label string) string {
	bits := []string{
		"<", ">", "!", "@everyone", "#", "<@1>", "<@&1>", "<https://x>", "](", "][", "[", "]", "(https://x)", "[safe](https://evil.example)", "`", "``", "```", "\n", "\r",
		"\n\n", "```go\n", "\n```\n", "~~~\n", "> ", "- ", "1. ", "    ", "|", "||", "**", "__", "_", "*", "~~", "\\", "&", ";", "\x00", "\x1b[2J", "\u202e", "\u2066", "\u2028", "\U000e0041",
		"😀", "👩‍👩‍👧", "word ", "\xff", "\u0085", "\ufeff", "\u2060", "http://", "https://x/`", strings.Repeat("long", 300), strings.Repeat("more words ", 200), strings.Repeat("<", 500),
		strings.Repeat("\n", 50), "\u2060\u200b\u200c\u200d",
	}
	return adaptertest.AnyText(t, label, bits)
}

func TestNothingDrawnReachesOutOrBreaksALimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(d core.Delivery) []drawn { return drawAll(t, d) }
		adaptertest.DrawsWithinLimits(t, anyText, draw, func(all []drawn) any { return fmt.Sprintf("%+v", all) })
	})
}

func TestACardIsAlwaysOneMessageWithinTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyCard(t, anyText)
		c := *d.Card
		if all := drawAll(t, d); len(all) != 1 {
			t.Fatalf("%d messages", len(all))
		}
		for _, text := range testPainter.argumentsMessages(c) {
			inspect(t, testPainter.outgoing(d, drawn{Text: text}))
		}
		inspectModal(t, testPainter.reasonModal("value", c))
		inspectModal(t, testPainter.confirmModal("value", c))
	})
}

func inspectModal(t fataler, m modal) {
	t.Helper()
	if units(m.Title) > maxModalTitle {
		t.Fatalf("a title of %d", units(m.Title))
	}
	for _, c := range m.Components {
		if l, ok := c.(label); ok && (units(l.Text) > maxLabel || units(l.Description) > 100 || units(l.Input.Placeholder) > 100) {
			t.Fatalf("a label %+v", l)
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(raw) > 8000 {
		t.Fatalf("a form of %d bytes", len(raw))
	}
}

// What a button carries fits, whatever approval or event it is of.
func TestEverySealedValueFitsAButton(t *testing.T) {
	signer, err := core.NewSigner("a key for the tests")
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range []string{string(core.Approve), string(core.Deny), choiceReason, choiceConfirm, choiceArguments} {
		if v := signer.Seal(uuid.NewString(), choice); len(v) > maxCustomID {
			t.Errorf("%s: %d bytes", choice, len(v))
		}
	}
	longest := fmt.Sprintf("%s:%d:%d", Name, uint64(math.MaxUint64), uint64(math.MaxUint64))
	for _, action := range []string{actionAgain, actionNew} {
		if v := signer.Seal(action, fmt.Sprint(int64(math.MaxInt64)), longest); len(v) > maxCustomID {
			t.Errorf("%s: %d bytes", action, len(v))
		}
	}
}

func TestAllArgumentsStandInTheMessagesOrTheySaySo(t *testing.T) {
	for _, n := range []int{1, 1000, 5000, 200_000} {
		c := testCard(func(c *core.Card) { c.Arguments = strings.Repeat("line <&> of arguments\n", n/22+1) })
		texts := strings.Join(testPainter.argumentsMessages(*c), "\n")
		all := strings.Count(texts, "line <&> of arguments") == n/22+1
		if said := strings.Contains(texts, "gatehouse approvals show ap-1"); all == said {
			t.Errorf("%d characters: all there is %v, said that there are more is %v", n, all, said)
		}
	}
}

func TestALongAnswerIsWholeInItsParts(t *testing.T) {
	text, lines := longAnswer()
	all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})
	if len(text) < 60_000 || len(all) < 30 {
		t.Fatalf("%d bytes in %d messages", len(text), len(all))
	}
	var shown []string
	for _, m := range all {
		shown = append(shown, m.Text)
	}
	checkLong(t, shown, lines)
}

// longAnswer is an answer with a lot of code, and its lines of code.
func longAnswer() (text string, lines []string) {
	var b strings.Builder
	for i := 0; b.Len() < 60_000; i++ {
		fmt.Fprintf(&b, "## Chapter %d\n\nSome words.\n\n- an item\n  - another\n\n```go\n", i)
		for j := range 60 {
			line := fmt.Sprintf("\tx%d := values[%d] // chapter %d", j, j, i)
			lines = append(lines, line)
			b.WriteString(line + "\n")
		}
		b.WriteString("```\n\n")
	}
	return b.String(), lines
}

// checkLong finds every line of code once, in its order, between fences that belong together in each message.
func checkLong(t *testing.T, messages, lines []string) {
	t.Helper()
	at := 0
	for n, m := range messages {
		if units(m) > maxContent {
			t.Fatalf("message %d has %d units", n, units(m))
		}
		open := false
		for _, line := range strings.Split(m, "\n") {
			switch {
			case strings.HasPrefix(line, "```"):
				open = !open
			case at < len(lines) && strings.TrimRight(line, " \u2060\u200b\u200c\u200d") == lines[at]:
				if !open {
					t.Fatalf("line %d stands outside the fences of message %d", at, n)
				}
				at++
			}
		}
		if open {
			t.Fatalf("message %d leaves a fence open:\n%s", n, m)
		}
	}
	if at != len(lines) {
		t.Fatalf("%d of %d lines of code are there", at, len(lines))
	}
}

func TestNoncesAndMarksNameAPart(t *testing.T) {
	seen := map[string]bool{}
	for _, key := range []string{"reply/1", "reply/2"} {
		for part := range 3 {
			d := core.Delivery{Post: core.Post{Key: key}, Part: part}
			n, m := testPainter.nonce(d), testPainter.mark(d)
			if len(n) > maxNonce || units(m) != markSize || seen[n] || seen[m] || n != testPainter.nonce(d) || !anyMark.MatchString(m) {
				t.Errorf("%s#%d: %q, %q", key, part, n, m)
			}
			seen[n], seen[m] = true, true
		}
	}
	d := core.Delivery{Post: core.Post{Key: "reply/1"}}
	other := core.Delivery{Post: core.Post{Key: "reply/2"}}
	m := drawn{Text: "hello"}
	for text, want := range map[string]bool{
		"hello" + testPainter.mark(d): true, "other words" + testPainter.mark(d): true, "hello": true, "hello" + testPainter.mark(other): false, "hell": false,
	} {
		if testPainter.bears(text, d, m) != want {
			t.Errorf("%q bears it: %v", text, !want)
		}
	}
}

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
		got := topic(text)
		if got != want || units(got) > maxThreadName {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What looks like an address would take in the backslash behind it, so that a mark meant something again.
func TestNothingThatLooksLikeAnAddressTakesInABackslash(t *testing.T) {
	c := core.Card{
		Approval: "ap-1", State: core.Approved, Tool: "<", DecidedBy: "<<", Reason: "<https://x><", Summary: "<https://x>", Requester: "<<<",
		Arguments: "<<<<<[safe](https://evil.example)<<<**<<", DecidedAt: adaptertest.Noon,
	}
	drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: &c})
	for in, want := range map[string]string{
		"<https://x>":       `\<https\://x\>`,
		"see https://x/y":   "see https://x/y",
		"(https://x/a_b)":   `(https\://x/a\_b)`,
		"ftp://x and a://b": `ftp\://x and a\://b`,
	} {
		if got := fit(in, 100); got != want {
			t.Errorf("%q is drawn as %q, want %q", in, got, want)
		}
	}
}
