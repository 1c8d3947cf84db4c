package discord_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"gatehouse/adapters/discord/discordtest"
)

// What is asked is repeated as it was written, however much of it has to be escaped: too long an answer would be refused.
func TestALongQuestionIsRepeatedInOneMessage(t *testing.T) {
	onBoth(t, setup{}, func(t *testing.T, r *inbound) {
		r.registered()
		for name, text := range map[string]string{
			"escapes": strings.Repeat("*", 3000), "emoji": strings.Repeat("🐈", 3000), "lines": strings.Repeat("a\n", 1500), "calls": strings.Repeat("@b", 1500), "words": strings.Repeat("word ", 1000),
		} {
			i := r.ann.Runs(general, "/ask", discordtest.WithOption("text", text))
			r.answered(i, discordtest.Reply)
			m, ok := i.Shown()
			if n := len(utf16.Encode([]rune(m.Content))); !ok || n < 1000 || n > 2000 || !strings.HasSuffix(m.Content, "…") {
				t.Errorf("%s: %v, %d characters end in %q", name, ok, n, m.Content[max(0, len(m.Content)-10):])
			}
		}
	})
}
