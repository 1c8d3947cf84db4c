package discord

import "testing"

func TestLinksThatHideTheirAddressAreBroken(t *testing.T) {
	for text, want := range map[string]string{
		"[safe](https://evil.example)":            "[safe] (https://evil.example)",
		"[safe](<https://evil.example>)":          "[safe] (<https://evil.example>)",
		"see `a[i](b)` there":                     "see `a[i](b)` there",
		"`a[i](b)` `c[j](d)`":                     "`a[i](b)` `c[j](d)`",
		"words\n```go\nm[k](x)\n```\nmore":        "words\n```go\nm[k](x)\n```\nmore",
		"```\n[a-z](b)\n```":                      "```\n[a-z](b)\n```",
		"**a `b** [safe](https://evil)` c":        "**a `b** [safe] (https://evil)` c",
		"https://a/`[safe](https://evil)`":        "https://a/`[safe] (https://evil)`",
		"[safe `m[a[i]](https://evil)`":           "[safe `m[a[i]] (https://evil)`",
		"- x\n```\n- [safe](https://evil)\n```":   "- x\n```\n- [safe] (https://evil)\n```",
		"foo ``` bar\n```\n[safe](evil)\n```":     "foo ``` bar\n```\n[safe] (evil)\n```",
		"`open\n[safe](https://evil)\nclosed`":    "`open\n[safe] (https://evil)\nclosed`",
		"~~~\n[safe](https://evil)\n~~~":          "~~~\n[safe] (https://evil)\n~~~",
		"1. `[safe](https://evil)`":               "1. `[safe] (https://evil)`",
		"```[safe](https://evil)":                 "```[safe] (https://evil)",
		"```\n\n```\n[safe](https://evil)\n```\n": "```\n\n```\n[safe] (https://evil)\n```\n",
	} {
		if got := neutral(text, true); got != want {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
		if found := liveLink(neutral(text, true)); found != "" {
			t.Errorf("%q leaves %q", text, found)
		}
	}
}
