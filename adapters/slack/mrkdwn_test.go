package slack

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var testNames = map[string]string{"U1": "Ann", "C1": "general", "S1": "ops"}

func TestFromMrkdwn(t *testing.T) {
	for in, want := range map[string]string{
		"<@U1> hi":                               "@Ann hi",
		"<@U1|ann>":                              "@Ann",
		"<@U2> <@U3|cid>":                        "@U2 @cid",
		"<#C1> <#C2|random> <#C3|>":              "#general #random #C3",
		"<!subteam^S1> <!subteam^S2|@dev>":       "@ops @dev",
		"<!here> <!channel|channel> <!everyone>": "@here @channel @everyone",
		"<!date^1392734382^{date}^https://x|Feb 18> <!date^1^{x}>": "Feb 18 1970-01-01 00:00 UTC",
		"<https://x.example>":              "https://x.example",
		"<https://x.example|here>":         "here (https://x.example)",
		"<https://x.example/|x.example>":   "https://x.example/",
		"<https://x.example/?a=1&amp;b=2>": "https://x.example/?a=1&b=2",
		"<mailto:a@x.example|a@x.example>": "a@x.example",
		"<mailto:a@x.example|Ann>":         "Ann (mailto:a@x.example)",
		"<tel:+123|+123>":                  "+123",
		"a &lt; b &amp;&amp; c &gt; d":     "a < b && c > d",
		"&amp;lt;":                         "&lt;",
		"&lt;@U1&gt;":                      "<@U1>",
		"< no end":                         "< no end",
		"<a<@U1>>":                         "<a@Ann>",
		"a\x00b\xff":                       "a\ufffdb\ufffd",
		"":                                 "",
	} {
		if got := fromMrkdwn(in, testNames); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestCutMention(t *testing.T) {
	for in, want := range map[string]struct {
		rest      string
		mentioned bool
	}{
		"<@B1> do it":               {"do it", true},
		"<@B1|bot>: do it":          {"do it", true},
		" <@B1> <@B1>, \n do <@B1>": {"do <@B1>", true},
		"do it, <@B1|bot>":          {"do it, <@B1|bot>", true},
		"<@B12> do it":              {"<@B12> do it", false},
		"<@B1":                      {"<@B1", false},
		"<@B1|":                     {"<@B1|", false},
		"&lt;@B1&gt;":               {"&lt;@B1&gt;", false},
		"<@B1>":                     {"", true},
	} {
		rest, mentioned := cutMention(in, "B1"), mentions(outsideCode(in), []string{"B1"})
		if rest != want.rest || mentioned != want.mentioned {
			t.Errorf("%q: %q, %v", in, rest, mentioned)
		}
	}
	rest, mentioned := cutMention("<@> x", ""), mentions("<@> x", []string{""})
	if rest != "<@> x" || mentioned {
		t.Errorf("without a bot: %q, %v", rest, mentioned)
	}
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{"<@U1|ann> <https://x|y> &amp;lt;", "<!date^1|x>", "<<>|>", hostile} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := fromMrkdwn(text, testNames)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", text, got)
		}
		if !strings.ContainsAny(text, "<&\x00") && utf8.ValidString(text) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func FuzzAddressed(f *testing.F) {
	for _, s := range []string{"<@B1> x", "<@B1|b>:<@B1>", "x <@B1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, mentioned := cutMention(text, "B1"), mentions(text, []string{"B1"})
		if again := cutMention(rest, "B1"); again != rest {
			t.Errorf("%q: %q, then %q", text, rest, again)
		}
		if !strings.HasSuffix(strings.TrimSpace(text), rest) || !mentioned && rest != strings.TrimSpace(text) {
			t.Errorf("%q: %q, %v", text, rest, mentioned)
		}
	})
}
