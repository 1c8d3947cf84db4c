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

// Discord's rules of inline Markdown that can contain or show a link. At each position the rules are tried in order. The first match
// consumes its text, and the inside is parsed again.
var (
	ruleEscape = regexp.MustCompile(`^\\[^0-9A-Za-z\s]`)
	ruleURL    = regexp.MustCompile(`^https?://[^\s<]+[^<.,:;"')\]\s]`)
	ruleAngle  = regexp.MustCompile(`^<[^: >]+:/[^ >]+>`)
	ruleLink   = regexp.MustCompile(`^\[(?:\[[^\]]*\]|[^\[\]])*\]\(\s*<?[^\s)>]+>?(?:\s+['"][^'"]*['"])?\s*\)`)
	ruleStrong = regexp.MustCompile(`^\*\*((?:\\[\s\S]|[^\\])+?)\*\*`)
	ruleUnder  = regexp.MustCompile(`^__((?:\\[\s\S]|[^\\])+?)__`)
	ruleStrike = regexp.MustCompile(`^~~([\s\S]+?)~~`)
	ruleHidden = regexp.MustCompile(`^\|\|([\s\S]+?)\|\|`)
	ruleEm     = regexp.MustCompile(`^\*([^\s*](?:\\[\s\S]|[^\\*])*?)\*|^_((?:\\[\s\S]|[^\\_])+?)_`)
)

// liveLink finds a link whose text hides its address, as Discord would show it.
func liveLink(text string) string {
	for strings.Contains(text, "](") {
		at := strings.IndexAny(text, "[`\\h<*_~|")
		if at < 0 {
			return ""
		}
		text = text[at:]
		if link := ruleLink.FindString(text); link != "" {
			return link
		}
		if code := codeAt(text); code != "" {
			text = text[len(code):]
			continue
		}
		taken := ""
		for _, rule := range []*regexp.Regexp{ruleEscape, ruleURL, ruleAngle} {
			if taken == "" {
				taken = rule.FindString(text)
			}
		}
		if taken != "" {
			text = text[len(taken):]
			continue
		}
		for _, rule := range []*regexp.Regexp{ruleStrong, ruleUnder, ruleStrike, ruleHidden, ruleEm} {
			if found := rule.FindStringSubmatch(text); found != nil {
				if inner := liveLink(strings.Join(found[1:], "")); inner != "" {
					return inner
				}
				taken = found[0]
				break
			}
		}
		if taken == "" {
			_, n := utf8.DecodeRuneInString(text)
			taken = text[:n]
		}
		text = text[len(taken):]
	}
	return ""
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
