package discord

import (
	"regexp"
	"strings"
	"unicode/utf8"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
)

// inspect checks a message against Discord's limits, and that it pings no one and hides no link.
func inspect(t fataler, m outgoing) {
	t.Helper()
	if n := chat.Units(m.Content); n > maxContent || strings.TrimSpace(m.Content) == "" || !utf8.ValidString(m.Content) {
		t.Fatalf("a text of %d units: %q", n, m.Content)
	}
	if m.Flags&api.MessageFlagsSuppressEmbeds == 0 {
		t.Fatalf("links unfold")
	}
	if chat.Clean(m.Content) != m.Content {
		t.Fatalf("it holds control characters: %q", m.Content)
	}
	if found := liveLink(m.Content); found != "" {
		t.Fatalf("a link hides its address: %q in %q", found, m.Content)
	}
	for _, row := range m.Rows {
		seen := map[string]bool{}
		buttons := row.(api.ActionsRow).Components
		if len(buttons) < 1 || len(buttons) > 5 {
			t.Fatalf("%d buttons", len(buttons))
		}
		for _, c := range buttons {
			b := c.(api.Button)
			if len(b.CustomID) == 0 || len(b.CustomID) > maxCustomID || len(b.Label) == 0 || len(b.Label) > 80 || seen[b.CustomID] {
				t.Fatalf("a button %+v", b)
			}
			seen[b.CustomID] = true
		}
	}
}

var ruleBlock = regexp.MustCompile("(?is)^```(?:[a-z0-9_+.#-]+?\n)?\n*[^\n].*?\n*```")

// codeAt returns the code that begins at a position, as Discord reads it.
func codeAt(text string) string {
	if block := ruleBlock.FindString(text); block != "" {
		return block
	}
	most := len(text) - len(strings.TrimLeft(text, "`"))
	for n := most; n > 0; n-- {
		for end := n + 1; end+n <= len(text); end++ {
			fits := text[end:end+n] == strings.Repeat("`", n) && text[end-1] != '`' && (end+n == len(text) || text[end+n] != '`')
			if fits {
				return text[:end+n]
			}
		}
	}
	return ""
}
