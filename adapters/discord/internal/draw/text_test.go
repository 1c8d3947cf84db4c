package draw

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// ruleAddress is an address without Markdown at the beginning of a text, with what ends it.
var ruleAddress = regexp.MustCompile(`^(https?://[\w\-./?=&%#:+,;@!$]*)(?:[ \n\t]|$)`)

func TestAddressesWithoutMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"https://", "http://", "http:/", "ftp://", ""}).Draw(t, "scheme") +
			rapid.StringOfN(rapid.RuneFrom([]rune("aZ09_-./?=&%#:+,;@!$ \n\t\r*~|[]<>()`\\'\"é\u00a0")), 0, 12,
				-1).Draw(t, "text")
		want := ""
		if m := ruleAddress.FindStringSubmatch(text); m != nil {
			want = m[1]
		}
		if got := addressAt(text); got != want {
			t.Fatalf("the address of %q is %q, want %q", text, got, want)
		}
	})
}
