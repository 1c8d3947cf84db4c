package mrkdwn_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/adapters/slack/internal/mrkdwn"
)

var testNames = map[string]string{"U1": "Ann", "C1": "general", "S1": "ops"}

func TestPlain(t *testing.T) {
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
		if got := mrkdwn.Plain(in, testNames); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{
		"<@U1|ann> <https://x|y> &amp;lt;", "<!date^1|x>", "<<>|>",
		"&lt;!channel&gt; <!subteam^S1> <#C1> \x00 <https://e|safe>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := mrkdwn.Plain(text, testNames)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("%q became %q", text, got)
		}
		if !strings.ContainsAny(text, "<&\x00") && utf8.ValidString(text) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
