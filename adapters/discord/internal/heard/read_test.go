package heard

import (
	"strings"
	"testing"
)

// Whatever is code in a text, nothing of it is lost.
func FuzzCode(f *testing.F) {
	f.Add("a `b` ``c` ``` \\`d\\` ```e```")
	f.Fuzz(func(t *testing.T, text string) {
		if got := outsideCode(text, func(s string) string { return s }); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "<": "<", "<@": "<@", "<@1>": "@1", "<@!1> <@&2> <#3>": "@1 @2 #3",
		"<a:party:5>": ":party:", "a < b > c": "a < b > c",
		"<@one>": "<@one>", "<:x>": "<:x>", "<::5>": "<::5>", "<t:x>": "<t:x>", "<<@1>>": "<@1>",
		"\xff\x00": "\ufffd\ufffd", "<https://example.org>": "<https://example.org>",
	} {
		if got := readable(text, (&Names{}).of); got != want {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{"<@1> <@!2> <@&3> <#4> <:a:5> <a:b:6> </ask:7> <t:8:R>", "<", "<<@1>", "<@1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := readable(text, (&Names{}).of); strings.ContainsRune(got, 0) ||
			len(got) > 3*len(text)+100*strings.Count(text, "<") {
			t.Errorf("%q reads %q", text, got)
		}
	})
}
