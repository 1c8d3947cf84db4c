package draw

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Discord's rules of inline Markdown that can contain or show a link. At each position the rules are tried in order.
// The first match consumes its text, and the inside is parsed again.
var (
	ruleEscape = regexp.MustCompile(`^\\[^0-9A-Za-z\s]`)
	ruleURL    = regexp.MustCompile(`^https?://[^\s<]+[^<.,:;"')\]\s]`)
	ruleAngle  = regexp.MustCompile(`^<[^: >]+:/[^ >]+>`)
	ruleLink   = regexp.MustCompile(`^\[(?:\[[^\]]*\]|[^\[\]])*\]\(\s*<?[^\s)>]+>?(?:\s+['"][^'"]*['"])?\s*\)`)
	ruleStrong = regexp.MustCompile(`^\*\*((?:\\[\s\S]|[^\\])+?\*?)\*\*`) // no * follows
	ruleUnder  = regexp.MustCompile(`^__((?:\\[\s\S]|[^\\])+?)__`)
	ruleStrike = regexp.MustCompile(`^~~([\s\S]+?)~~`)
	ruleHidden = regexp.MustCompile(`^\|\|([\s\S]+?)\|\|`)
	ruleEm     = regexp.MustCompile(`^\*([^\s*](?:\\[\s\S]|[^\\*])*?)\*|^_((?:\\[\s\S]|[^\\_])+?)_`)
)

// walk calls look at each position, outside of code, at which Discord would look for a construct: with the text in
// front of the position and the text from there on. It returns the first answer that is not "".
func walk(before, text string, look func(before, rest string) string) string {
	for {
		at := strings.IndexAny(text, "[`\\h<*_~|@-")
		if at < 0 {
			return ""
		}
		before, text = before+text[:at], text[at:]
		if found := look(before, text); found != "" {
			return found
		}
		taken := codeAt(text)
		for _, rule := range []*regexp.Regexp{ruleEscape, ruleURL, ruleAngle} {
			if taken == "" {
				taken = rule.FindString(text)
			}
		}
		for _, rule := range []*regexp.Regexp{ruleStrong, ruleUnder, ruleStrike, ruleHidden, ruleEm} {
			if taken != "" {
				break
			}
			if parts := rule.FindStringSubmatch(text); parts != nil {
				taken = parts[0]
				inside := strings.Join(parts[1:], "")
				if found := walk(before+taken[:strings.Index(taken, inside)], inside, look); found != "" {
					return found
				}
			}
		}
		if taken == "" {
			_, n := utf8.DecodeRuneInString(text)
			taken = text[:n]
		}
		before, text = before+taken, text[len(taken):]
	}
}

// liveLink finds a link whose text hides its address, as Discord would show it.
func liveLink(text string) string {
	if !strings.Contains(text, "](") {
		return ""
	}
	return walk("", text, func(_, rest string) string { return ruleLink.FindString(rest) })
}

// The tokens in Discord's description of message formatting, and those that its clients know besides, written
// generously.
var (
	ruleTokens = []*regexp.Regexp{
		regexp.MustCompile(`^<@[!&$]?\d+>`),             // people, roles, games
		regexp.MustCompile(`^<#\d+>`),                   // channels
		regexp.MustCompile(`^<a?:\w+:\d+>`),             // custom emojis
		regexp.MustCompile(`^</[^<>:\n]+:\d+>`),         // commands
		regexp.MustCompile(`^<t:-?\d+(?::[A-Za-z]+)?>`), // times
		// places of a server
		regexp.MustCompile(`^<(?:id:(?:customize|browse|guide|home|linked-roles)|\d+:[a-z-]+)(?::\d+)?>`),
		regexp.MustCompile(`^<sound:\d+:\d+>`),
	}
	ruleEverybody = regexp.MustCompile(`^@(?:everyone|here)`)
	ruleSmall     = regexp.MustCompile(`^-# +\S`)
	lineStart     = regexp.MustCompile(`(?:^|\n)[ \t>*_~|+.)\d-]*$`)
)

// liveToken finds a token that Discord would not show as text.
func liveToken(text string) string {
	return walk("", text, func(_, rest string) string {
		for _, rule := range ruleTokens {
			if token := rule.FindString(rest); token != "" {
				return token
			}
		}
		return ""
	})
}

// misleading finds in a reply what only gatehouse's own messages have.
func misleading(text string) string {
	if token := liveToken(text); token != "" {
		return token
	}
	return walk("", text, func(before, rest string) string {
		if all := ruleEverybody.FindString(rest); all != "" {
			return all
		}
		if small := ruleSmall.FindString(rest); small != "" && lineStart.MatchString(before) {
			return small
		}
		return ""
	})
}

func TestTokensInAReplyAreText(t *testing.T) {
	for text, want := range map[string]string{
		"<@1> <@!1> <@&1> <@$1>":                         `\<@1\> \<@!1\> \<@&1\> \<@$1\>`,
		"<#1> <:ok:1> <a:ok:1>":                          `\<\#1\> \<:ok:1\> \<a:ok:1\>`,
		"</ask:1> </a b c:1>":                            `\</ask:1\> \</a b c:1\>`,
		"<t:1> <t:-1:R> <t:1:s>":                         `\<t:1\> \<t:-1:R\> \<t:1:s\>`,
		"<id:customize> <id:linked-roles:1> <123:guide>": `\<id:customize\> \<id:linked-roles:1\> \<123:guide\>`,
		"<sound:0:1> @everyone @here":                    `\<sound:0:1\> @·everyone @·here`,
		`\\<@1> https://x\<@1>`:                          `\\\<@1\> https\://x\<@1\>`,
		"**<@1>** ||<t:1>||\n> <#1>\n\n- <@&1>": "**\\<@1\\>** \\|\\|\\<t:1\\>\\|\\|\n\n> \\<\\#1\\>\n\n- " +
			"\\<@&1\\>",
		"`<@1>` and\n```\n<t:1> @here\n```\n<@2>": "`<@1>` and\n```\n<t:1> @here\n```\n\\<@2\\>",
		"- x\n```\n<t:1>\n```":                    "- x\n\n```\n<t:1>\n```",
		"\\-# small\n\n> -# quoted\n":             "\\-\\# small\n\n> \\-\\# quoted",
		"**-# strong**\n  -# indented":            "**\\-\\# strong**\n\\-\\# indented",
		"<b>x</b> a < b":                          `\<b\>x\</b\> a \< b`,
		"<https://x.yz> <https://a@evil.example>": "https://x.yz https://a@evil.example",
		"https://a@evil.example/<t:1>":            `<https://a@evil.example/>\<t:1\>`,
		"1\\. one\n2. two":                        "1\\. one\n2\\. two",
	} {
		want = strings.ReplaceAll(want, "·", gap)
		if got := drawReply(doc.Parse(text)).Text; got != want {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
		if found := misleading(want); found != "" {
			t.Errorf("%q leaves %q", text, found)
		}
	}
}

// A link shows its address wherever it is: in small text, in a heading, with angle brackets, by reference, with another
// address as its text. An address with a user's name in front of the host is shown whole.
func TestLinksShowTheirAddressEverywhere(t *testing.T) {
	for text, want := range map[string]string{
		"\\-# [safe](https://evil.example)":                 "\\-\\# safe (https://evil.example)",
		"# [safe](<https://evil.example>)":                  "# safe (https://evil.example)",
		"[safe][1]\n[1]: https://evil.example":              `\[safe\]\[1\]` + "\n" + `\[1\]: https://evil.example`,
		"[https://safe.example](https://evil.example)":      "https://safe.example (https://evil.example)",
		"[a [b]](https://evil.example 'safe')":              `a \[b\] (https://evil.example)`,
		"https://safe.example@evil.example":                 "https://safe.example@evil.example",
		"<https://safe.example:x@evil.example>":             "https://safe.example:x@evil.example",
		"> -# **[<https://safe.example>](https://evil)** ":  "> \\-\\# **https\\://safe.example** (https://evil)",
		"[a](https://evil.example)b and **https://c.de**":   "a (<https://evil.example>)b and **<https://c.de>**",
		"[x](https://evil.example/a_b*c) `y`https://z.de/a": "x (https\\://evil.example/a\\_b\\*c) `y`<https://z.de/a>",
	} {
		got := drawReply(doc.Parse(text)).Text
		if got != want {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
		if found := liveLink(got); found != "" {
			t.Errorf("%q leaves %q", text, found)
		}
	}
}

// hostileText is a text full of Discord's tokens, and of what could make them live where they seem harmless.
func hostileText(t *rapid.T, label string) string {
	return adaptertest.AnyText(t, label, []string{
		"<@1>", "<@!1>", "<@&1>", "<#1>", "<:ok:1>", "<a:ok:1>", "</ask:1>", "</a b:1>", "<t:1>", "<t:1:R>",
		"<id:guide>", "<sound:1:2>", "@everyone", "@here", "-# ", "-#", "<", ">", "<@", "<t:", "1>",
		"@", "#", ":", "\\", "\\\\", "`", "``", "```", "\n", "\n```\n", "```go\n", "**", "*", "_", "||", "~~", "> ",
		">>> ", "- ", "1. ", "[", "](", "https://x", "<https://x>", " ", "word ", gap, "\u2060", "€",
		strings.Repeat("long ", 390), strings.Repeat("x", 1920), strings.Repeat("<@1>", 300),
		strings.Repeat("a\n", 600),
	})
}

func checkReply(t fataler, text string) {
	t.Helper()
	for i, m := range drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}) {
		if found := misleading(m.Text); found != "" {
			t.Fatalf("part %d shows %q: %q", i, found, m.Text)
		}
		if n := safetext.Units(m.Text); n > MaxReply {
			t.Fatalf("part %d has %d units", i, n)
		}
	}
}

func TestNoReplyHasALiveToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkReply(t, hostileText(t, "reply")) })
}

// A part that begins, because of a cut, with what was in the middle of a line has no small text either.
func TestACutMakesNoSmallText(t *testing.T) {
	for n := MaxReply - 10; n < MaxReply+10; n++ {
		checkReply(t, strings.Repeat("x", n)+" -# ⏳ small")
		checkReply(t, "> "+strings.Repeat("x", n)+" -# ⏳ small "+strings.Repeat("y", n))
	}
}

// What people say is repeated in notices.
func TestNoNoticeHasALiveToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := adaptertest.AnyPost(t, hostileText)
		for _, m := range drawAll(t, d) {
			ours := strings.TrimPrefix(strings.TrimPrefix(m.Text, Late(wording.BuiltIn)), StepsPrefix)
			if found := liveToken(ours); found != "" {
				t.Fatalf("%s shows %q: %q", d.Kind, found, m.Text)
			}
		}
	})
}

func FuzzLiveTokens(f *testing.F) {
	f.Add(hostile)
	f.Add("`<@1>` <@1>\n```\n<t:1>\n```\n-# x **-# y** https://x\\<@1>")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 600 {
			return
		}
		checkReply(t, text)
	})
}

// For any text of a reply, no link hides its address, and each part is a message that Discord accepts.
func FuzzReply(f *testing.F) {
	f.Add(hostile)
	f.Add("```\n[a](b)\n```\n`[c](d)` **[e](f)**")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 600 {
			return
		}
		drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})
	})
}

// A card is one message, whatever its fields hold.
func FuzzCard(f *testing.F) {
	f.Add(hostile, "{}")
	f.Fuzz(func(t *testing.T, text, arguments string) {
		if len(text)+len(arguments) > 600 {
			return
		}
		c := testCard(func(c *core.Card) {
			c.Summary, c.Reason, c.Changed, c.Tool, c.Arguments = text, text, text, text, arguments
		})
		drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard, Copy: true}, Card: c})
	})
}
