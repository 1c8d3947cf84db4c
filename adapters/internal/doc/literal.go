package doc

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"gatehouse/adapters/internal/chat"
)

// Literal returns a model's Markdown as paragraphs of its characters as they are, with its blocks of code between them: for a reply that
// people could take for a card, and whose headings, tables and emphasis are therefore not drawn.
func Literal(markdown string) (all []Block) {
	source := []byte(chat.Clean(markdown))
	at := 0
	words := func(end int) {
		if piece := string(source[at:end]); strings.TrimSpace(piece) != "" {
			all = append(all, verbatim(strings.TrimSuffix(piece, "\n")))
		}
	}
	if len(source) <= maxText && !tangled(string(source)) {
		for n := outline.Parse(text.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
			code, ok := n.(*ast.FencedCodeBlock)
			if !ok || code.Lines().Len() == 0 || strings.TrimSpace(reader{source}.code(code).Code) == "" {
				continue
			}
			begin := lineStart(source, lineStart(source, code.Lines().At(0).Start)-1)
			words(begin)
			all = append(all, reader{source}.code(code))
			at = code.Lines().At(code.Lines().Len() - 1).Stop
			if next := bytes.IndexByte(source[at:], '\n'); next >= 0 && n.NextSibling() != nil {
				at += next + 1
			} else {
				at = len(source)
			}
		}
	}
	words(len(source))
	return all
}

// lineStart returns where the line of a place begins.
func lineStart(source []byte, at int) int { return bytes.LastIndexByte(source[:at], '\n') + 1 }
