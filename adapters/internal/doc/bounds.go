package doc

import (
	"regexp"
	"strings"
)

// Bounds of what is read as Markdown. The parser's time grows with the square of some of them, and real replies stay
// far below.
const (
	maxText  = 64 << 10 // bytes
	maxDepth = 40       // lists and quotations inside each other
	maxCells = 20_000   // of a table, and the rows that it could have
	maxMarks = 500      // signs of links and emphasis in a paragraph, a heading or a cell
)

// tangled reports whether a text would take too long to be parsed.
func tangled(s string) bool {
	lines := strings.Count(s, "\n") + 1
	for line := range strings.Lines(s) {
		columns := strings.Count(line, "|") + 1
		if deep.MatchString(line) || columns*lines > maxCells && strings.Trim(line, "|-: \t\r\n>") == "" {
			return true
		}
	}
	return len(s) > maxText
}

// deep matches a line that begins more than maxDepth quotations and items.
var deep = regexp.MustCompile(`^(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ \t])){41}`)

// depth is how many lists and quotations are inside each other.
func depth(blocks []Block) (most int) {
	for _, b := range blocks {
		for _, item := range b.Items {
			most = max(most, 1+depth(item))
		}
	}
	return most
}
