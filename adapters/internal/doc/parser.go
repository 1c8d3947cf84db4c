package doc

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// whole reads GitHub's flavour without raw HTML and without definitions of links; inline reads what is in a paragraph.
// The numbers are the library's own: they order its parsers among each other.
var (
	whole = newParser(
		util.Prioritized(outside{parser.NewSetextHeadingParser()}, 100),
		util.Prioritized(outside{parser.NewThematicBreakParser()}, 200),
		util.Prioritized(outside{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(outside{parser.NewATXHeadingParser()}, 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(outside{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(paragraph{parser.NewParagraphParser()}, 1000),
	)
	inline = newParser(util.Prioritized(parser.NewParagraphParser(), 1000))
)

func newParser(blocks ...util.PrioritizedValue) parser.Parser {
	p := parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(
		util.Prioritized(formulas{}, 50),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(few{parser.NewLinkParser()}, 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(few{parser.NewEmphasisParser()}, 500),
		util.Prioritized(few{extension.NewStrikethroughParser()}, 500),
	))
	p.AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(tables{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	return goldmark.New(goldmark.WithParser(p), goldmark.WithExtensions(extension.Linkify)).Parser()
}

// few is a parser of signs that looks at maxMarks of them in a paragraph, and leaves all others as text.
type few struct{ parser.InlineParser }

// Parse reads a sign.
func (f few) Parse(paragraph ast.Node, block text.Reader, pc parser.Context) ast.Node {
	count, _ := paragraph.AttributeString("marks")
	n, _ := count.(int)
	if n == maxMarks {
		return nil
	}
	paragraph.SetAttributeString("marks", n+1)
	return f.InlineParser.Parse(paragraph, block, pc)
}

// CloseBlock ends a paragraph.
func (f few) CloseBlock(paragraph ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := f.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(paragraph, block, pc)
	}
}
