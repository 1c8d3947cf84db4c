package doc

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Bounds of what is read as Markdown. The parser's time grows with the square of some of them, and real replies stay far below.
const (
	maxText     = 64 << 10 // bytes
	maxDepth    = 40       // elements inside each other
	maxCells    = 20_000   // of a table, and the rows that it could have
	maxBrackets = 4_000    // in all
	maxMarks    = 500      // signs in one paragraph, heading or cell that may be markup
)

// tangled reports whether a text would take too long to be divided into blocks.
func tangled(s string) bool {
	if strings.Count(s, "[") > maxBrackets {
		return true
	}
	lines := strings.Count(s, "\n") + 1
	for line := range strings.Lines(s) {
		containers := 0
		for rest := line; containers <= maxDepth; containers++ {
			found := container.FindString(rest)
			if found == "" {
				break
			}
			rest = rest[len(found):]
		}
		columns := strings.Count(line, "|") + 1
		if containers > maxDepth || columns*lines > maxCells && strings.Trim(line, "|-: \t\r\n>") == "" {
			return true
		}
	}
	return false
}

// container matches the beginning of a quote or a list item.
var container = regexp.MustCompile(`^[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ \t])`)

// knotted reports whether a text that is divided into blocks has a block with too much markup, or is nested too deeply.
func knotted(n ast.Node, source []byte, depth int) bool {
	marks := 0
	if !n.IsRaw() {
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			for _, c := range line.Value(source) {
				if strings.IndexByte("[]*_~`<!", c) >= 0 {
					marks++
				}
			}
		}
	}
	if marks > maxMarks || depth > maxDepth {
		return true
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock && knotted(c, source, depth+1) {
			return true
		}
	}
	return false
}
