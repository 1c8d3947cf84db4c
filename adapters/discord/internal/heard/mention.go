package heard

import (
	"slices"
	"strings"
)

// Addressed removes all mentions of the bot from the beginning of a message, each with a comma or colon after it.
// mentioned: the message mentions the bot or its own role somewhere, or is a reply that pings the bot. In code only
// those count that Discord lists.
func Addressed(m Message, me, role string) (rest string, mentioned bool) {
	tokens := []string{"<@" + me + ">", "<@!" + me + ">"}
	if role != "" {
		tokens = append(tokens, "<@&"+role+">")
		mentioned = slices.Contains(m.MentionRoles, role)
	}
	rest = strings.TrimSpace(m.Content)
	if me == "" {
		return rest, mentioned
	}
	mentioned = mentioned || slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == me })
	outsideCode(m.Content, func(s string) string {
		mentioned = mentioned || slices.ContainsFunc(tokens, func(t string) bool { return strings.Contains(s, t) })
		return s
	})
	for again := true; again; {
		again = false
		for _, token := range tokens {
			if after, ok := strings.CutPrefix(rest, token); ok {
				rest, again = strings.TrimSpace(strings.TrimLeft(after, ",:")), true
			}
		}
	}
	return rest, mentioned
}

// outsideCode replaces the parts of a text that are not code, where Discord reads no Markdown: neither a block between
// three backticks, nor what stands between equally many. Backticks that end nowhere may begin code with fewer of them.
func outsideCode(text string, replace func(string) string) string {
	var b strings.Builder
	plain, open := 0, map[int]bool{} // where the part begins that is not code; which ends do not come again
	for i := 0; i < len(text); {
		n, end := ticks(text[i:]), -1
		for _, opens := range []int{block, n, min(n, 2), min(n, 1)} {
			if n > 0 && end < 0 && !open[opens] {
				end = codeEnd(text, i, n, opens)
				open[opens] = end < 0 && (opens != block || n >= len(fence))
			}
		}
		switch {
		case end > 0:
			b.WriteString(replace(text[plain:i]) + text[i:end])
			i, plain = end, end
		case text[i] == '\\':
			i += 2 // what follows is no Markdown
		default:
			i += max(n, 1)
		}
	}
	return b.String() + replace(text[plain:])
}

const (
	fence = "```" // around a block of code
	block = 0     // the code is a block
)

// codeEnd returns where code ends that begins at the n backticks at start, of which so many open it; -1: it is no code.
func codeEnd(text string, start, n, opens int) int {
	i := start + n
	if opens == block {
		inside := min(start+len(fence)+1, len(text)) // a block is not empty
		if n < len(fence) {
			return -1
		}
		if at := strings.Index(text[inside:], fence); at >= 0 {
			return inside + at + len(fence)
		}
		return -1
	}
	for i < len(text) {
		closes := ticks(text[i:])
		if closes == opens {
			return i + closes
		}
		i += max(closes, 1)
	}
	return -1
}

// ticks is how many backticks a text begins with, of which no more than a hundred count.
func ticks(text string) int {
	text = text[:min(len(text), 100)]
	return len(text) - len(strings.TrimLeft(text, "`"))
}
