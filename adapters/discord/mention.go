package discord

import (
	"slices"
	"strings"
)

// addressed removes all mentions of the bot from the beginning of a message, each with a comma or colon after it.
// mentioned: the message mentions the bot or its own role somewhere, or is a reply that pings the bot. In code only
// those count that Discord lists.
func addressed(m message, me, role string) (rest string, mentioned bool) {
	tokens := []string{"<@" + me + ">", "<@!" + me + ">"}
	if role != "" {
		tokens = append(tokens, "<@&"+role+">")
		mentioned = slices.Contains(m.MentionRoles, role)
	}
	rest = strings.TrimSpace(m.Content)
	if me == "" {
		return rest, mentioned
	}
	mentioned = mentioned || slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == me })
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

// outsideCode replaces the parts of a text that are not code, where Discord reads no Markdown. Code ends at as many
// backticks as it begins with, a block of code at three or more. As on Discord, backticks that end nowhere may begin
// code with fewer of them.
func outsideCode(text string, replace func(string) string) string {
	var b strings.Builder
	plain, open := 0, map[int]bool{} // where the part begins that is not code; how many backticks do not come again
	for i := 0; i < len(text); {
		n := ticks(text[i:])
		end := -1
		for _, n := range []int{n, min(n, blockTicks), min(n, 2), min(n, 1)} {
			if n > 0 && end < 0 && !open[n] {
				end = codeEnd(text, i+ticks(text[i:]), n)
				open[n] = end < 0
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

// blockTicks is how many backticks begin a block of code.
const blockTicks = 3

// codeEnd returns where code ends whose text begins at from, after so many backticks; -1: it is no code.
func codeEnd(text string, from, opened int) int {
	for i := from; i < len(text); {
		n := ticks(text[i:])
		if n == opened || n > opened && opened >= blockTicks {
			return i + n
		}
		i += max(n, 1)
	}
	return -1
}

// ticks is how many backticks a text begins with.
func ticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }
