package doc

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"gatehouse/adapters/internal/safetext"
)

// Literal returns a model's Markdown as paragraphs of its characters as they are, with its blocks of code between them:
// for a reply that people could take for a card, and whose headings, tables and emphasis are therefore not drawn.
func Literal(markdown string) (all []Block) {
	s := safetext.Clean(markdown)
	source := []byte(s)
	at := 0
	words := func(end int) {
		if piece := s[at:end]; strings.TrimSpace(piece) != "" {
			all = append(all, verbatim(strings.TrimSuffix(piece, "\n")))
		}
	}
	if !tangled(s) {
		for n := whole.Parse(text.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
			fenced, ok := n.(*ast.FencedCodeBlock)
			if !ok || fenced.Lines().Len() == 0 {
				continue
			}
			code := reader{source}.code(fenced)
			if strings.TrimSpace(code.Code) == "" {
				continue
			}
			words(strings.LastIndexByte(s[:n.Pos()], '\n') + 1)
			all = append(all, code)
			at = fenced.Lines().At(fenced.Lines().Len() - 1).Stop
			if _, after, more := strings.Cut(s[at:], "\n"); more { // the line that ends it
				at = len(s) - len(after)
			} else {
				at = len(s)
			}
		}
	}
	words(len(s))
	return all
}
