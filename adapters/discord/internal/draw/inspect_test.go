package draw

import (
	"regexp"
	"strings"
	"unicode/utf8"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/safetext"
)

// inspect checks a message against Discord's limits, and that it hides no link.
func inspect(t fataler, m Outgoing) {
	t.Helper()
	if m.Flags&api.MessageFlagsIsComponentsV2 == 0 {
		inspectText(t, m.Content, MaxContent)
		if m.Flags&api.MessageFlagsSuppressEmbeds == 0 || len(m.Mentions.Users)+len(m.Mentions.Roles) > 0 {
			t.Fatalf("links unfold, or it pings %+v", m.Mentions)
		}
		for _, row := range m.Rows {
			inspectRow(t, row)
		}
		return
	}
	if m.Content != "" || len(m.Rows) != 1 {
		t.Fatalf("content %q beside %d components", m.Content, len(m.Rows))
	}
	all, parts := "", m.Rows[0].(api.Container).Components
	if len(parts) > 30 { // Discord's limit is 40, with the buttons
		t.Fatalf("%d parts", len(parts))
	}
	for _, part := range parts {
		text, ok := part.(api.TextDisplay)
		if !ok {
			inspectRow(t, part)
			continue
		}
		inspectText(t, text.Content, maxCard)
		all += text.Content
	}
	if n := safetext.Units(all); n > maxCard {
		t.Fatalf("texts of %d units", n)
	}
}

func inspectText(t fataler, text string, limit int) {
	t.Helper()
	if n := safetext.Units(text); n > limit || strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
		t.Fatalf("a text of %d units: %q", n, text)
	}
	if safetext.Clean(text) != text {
		t.Fatalf("it holds control characters: %q", text)
	}
	if found := liveLink(text); found != "" {
		t.Fatalf("a link hides its address: %q in %q", found, text)
	}
}

func inspectRow(t fataler, row api.MessageComponent) {
	t.Helper()
	seen := map[string]bool{}
	buttons := row.(api.ActionsRow).Components
	if len(buttons) < 1 || len(buttons) > 5 {
		t.Fatalf("%d buttons", len(buttons))
	}
	if m, ok := buttons[0].(menu); ok {
		inspectMenu(t, m)
		buttons = buttons[1:]
	}
	for _, c := range buttons {
		b := c.(api.Button)
		linked := b.Style == api.LinkButton && strings.HasPrefix(b.URL, "https://discord.com/") && b.CustomID == ""
		if !linked && (len(b.CustomID) == 0 || len(b.CustomID) > maxCustomID) || len(b.Label) == 0 ||
			safetext.Units(b.Label) > 80 || seen[b.CustomID] {
			t.Fatalf("a button %+v", b)
		}
		seen[b.CustomID] = true
	}
}

func inspectMenu(t fataler, m menu) {
	t.Helper()
	if len(m.CustomID) == 0 || len(m.CustomID) > maxCustomID || len(m.Options) < 1 || len(m.Options) > 25 {
		t.Fatalf("a menu %+v", m)
	}
	for _, o := range m.Options {
		if n := safetext.Units(o.Label); n < 1 || n > 100 || safetext.Clean(o.Label) != o.Label {
			t.Fatalf("an option %+v", o)
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
			fits := text[end:end+n] == strings.Repeat("`", n) && text[end-1] != '`' &&
				(end+n == len(text) || text[end+n] != '`')
			if fits {
				return text[:end+n]
			}
		}
	}
	return ""
}
