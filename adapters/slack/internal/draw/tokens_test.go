package draw

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// The tokens in Slack's description of message formatting, written generously: people, groups, everybody, channels,
// times and links.
var (
	ruleTokens    = regexp.MustCompile(`(?i)<(?:@|#|!|[a-z][a-z0-9+.-]*:)[^<>]*>`)
	ruleEverybody = regexp.MustCompile(`(?i)@(?:here|channel|everyone)`)
)

// A link shows its address, also where its text is another address. Only what shows its address whole is a link.
func TestLinksShowTheirAddress(t *testing.T) {
	for in, want := range map[string]string{
		"[https://safe.example](https://evil.example)":     "https://safe.example (‹https://evil.example›)",
		"[safe](<https://evil.example>)":                   "safe (‹https://evil.example›)",
		"# [safe](https://evil.example 'safe')":            "safe (‹https://evil.example›)",
		"<https://evil.example|https://safe.example>":      "https://evil.example|https://safe.example",
		"<https://safe.example@evil.example>":              "‹https://safe.example@evil.example›",
		"| [safe](https://evil.example) |":                 "| safe (‹https://evil.example›) |",
		"[safe]\n\n[safe]: https://evil.example":           "[safe]\n\n[safe]: ‹https://evil.example›",
		"<!date^1^{date}^https://evil.example|x> <!here>":  "<!date^1^{date}^https://evil.example|x> <!here>",
		"> <@U1> <#C1|x> <!subteam^S1>\n`<mailto:a@b|c>` ": "<@U1> <#C1|x> <!subteam^S1>\n<mailto:a@b|c>",
		"[x](javascript:alert(1)) www.safe.example":        "x (javascript:alert(1)) www.safe.example",
	} {
		got := ""
		for _, part := range drawReply(doc.Parse(in)).blocks {
			for _, e := range part.(element).Elements {
				for _, p := range e.Elements {
					if p.Type == "link" {
						got += "‹" + p.URL + p.Text + "›"
					} else {
						got += p.Text
					}
				}
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q became\n%q, want\n%q", in, got, want)
		}
	}
}

// hostileText is a text full of Slack's tokens, and of what could make them live where they seem harmless.
func hostileText(t *rapid.T, label string) string {
	return adaptertest.AnyText(t, label, []string{
		"<@U1>", "<@U1|ann>", "<!here>", "<!channel|x>", "<!subteam^S1|@ops>",
		"<!date^1^{date}^https://evil.example|x>", "<#C1|x>", "<https://evil.example|safe>", "<mailto:a@b.c|x>",
		"@here", "@Channel",
		"&lt;!here&gt;", "&amp;lt;", "[safe](https://evil.example)", "[a][b]", "\n[b]: https://evil.example\n", "<",
		">", "!", "@", "|", "&", "he", "re", "**", "*", "_", "~", "`", "``", "```", "\n", "\n\n",
		"\n```\n", "```go\n", "~~~\n", "> ", "- ", "1. ", "# ", "    ", "\\", "[", "](", "]:", "][", "https://x", " ",
		"word ", mrkdwn.Joiner, "€", strings.Repeat("long ", 900), strings.Repeat("x", 4_000),
		strings.Repeat("<@U1>", 400),
	})
}

func checkReply(t fataler, text string) {
	t.Helper()
	for _, m := range drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}) {
		checkAloud(t, doc.Text(m.reply, false), m.Text)
	}
}

// checkAloud checks that the text that is read aloud mentions nobody and has all of a part's words, or says how much is
// missing.
func checkAloud(t fataler, whole, text string) {
	t.Helper()
	if found := ruleTokens.FindString(text) + ruleEverybody.FindString(text); found != "" {
		t.Fatalf("the text has %q: %q", found, text)
	}
	if whole == "" {
		return
	}
	heard, whole := words(mrkdwn.Unescape(text)), words(whole)
	if at := strings.Index(text, "… ("); strings.HasSuffix(text, " more characters are left out here)") {
		heard = words(mrkdwn.Unescape(text[:at]))
		if safetext.Units(text) < maxExcerpt-2*maxWord {
			t.Fatalf("only %d characters of %d are read", safetext.Units(text), safetext.Units(whole))
		}
		whole = whole[:min(len(heard), len(whole))]
	}
	if heard != whole && whole != "" {
		t.Fatalf("%q is read as\n%q", whole, text)
	}
}

// words returns a text without white space.
func words(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || string(r) == mrkdwn.Joiner {
			return -1
		}
		return r
	}, s)
}

func TestNoReplyHasALiveToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkReply(t, hostileText(t, "reply")) })
}

func TestNoNoticeHasALiveToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, m := range drawAll(t, adaptertest.AnyPost(t, hostileText)) { // which looks for tokens in the blocks
			checkAloud(t, "", m.Text)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add(hostile)
	f.Add("`<@U1>` <@U1>\n```\n[a](b) @here\n```\n@he**re <!he**re>")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 600 {
			return
		}
		for _, m := range drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}) {
			checkAloud(t, "", m.Text)
		}
	})
}

// A screen reader reads the text of a message instead of its blocks.
func TestTheWholeReplyIsReadAloud(t *testing.T) {
	for in, want := range map[string]string{
		"# Title\n\nSome **bold** words.\n\n- `code` & <b>": "Title\nSome bold words.\n- code &amp; &lt;b&gt;",
		"```go\nx := 2**3 // **\n```\nand `2**3` **so**":    "x := 2**3 // **\n\nand 2**3 so",
		"2**3 is 8\n## **Next**":                            "2**3 is 8\n\nNext",
		"one\n \n\n\ntwo  \n\nthree":                        "one\n\ntwo\n\nthree",
		"> quoted\n@he**re** <!here>": "&gt; quoted\n&gt; @" + mrkdwn.Joiner +
			"here &lt;!here&gt;",
		"[text](https://x.example)": "text (https://x.example)",
		" \n":                       outbound.NoText,
	} {
		all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: in}})
		if len(all) != 1 || all[0].Text != want {
			t.Errorf("%q is read as\n%q, want\n%q", in, all[0].Text, want)
		}
	}
	exact := strings.Repeat("word ", maxExcerpt/5-1) + "words"
	if got := excerpt(exact); got != exact || len(got) != maxExcerpt {
		t.Errorf("%d characters are cut: %q", len(exact), got[len(got)-80:])
	}
	got := excerpt(exact + " & the end")
	const note = "word… (56 more characters are left out here)"
	if !strings.HasSuffix(got, note) || utf8.RuneCountInString(got) > maxExcerpt {
		t.Errorf("%d characters, with the end %q", len(got), got[len(got)-80:])
	}
	// Most of this text, once it is escaped, is its last word. It is cut, but no escape is.
	got = excerpt(strings.Repeat("long ", 240) + strings.Repeat("<@U1>", 900))
	whole := regexp.MustCompile(`^(long ){240}(&lt;@U1&gt;)+(&lt;@?U?1?)?… \(`)
	if !whole.MatchString(got) || safetext.Units(got) < maxExcerpt-maxWord || safetext.Units(got) > maxExcerpt {
		t.Errorf("%d characters, with the end %q", len(got), got[max(0, len(got)-80):])
	}
	if got := excerpt(strings.Repeat("&", maxExcerpt)); safetext.Units(got) > maxExcerpt ||
		!strings.HasPrefix(got, strings.Repeat("&amp;", 700)) {
		t.Errorf("%d characters: %.100s", len(got), got)
	}
}
