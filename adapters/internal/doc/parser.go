package doc

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// whole reads GitHub's flavour without raw HTML and without definitions of links; outline reads its paragraphs, lists, tables and the like,
// and leaves what is in them; inline reads what is in a paragraph.
var (
	whole   = newParser(blockParsers, inlineParsers, extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify)
	outline = newParser(blockParsers, nil, extension.Table)
	inline  = newParser(blockParsers[len(blockParsers)-1:], inlineParsers, extension.Strikethrough, extension.Linkify)
)

// The numbers are the library's own: they order its parsers among each other.
var (
	blockParsers = []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	inlineParsers = []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	}
)

func newParser(blocks, inline []util.PrioritizedValue, more ...goldmark.Extender) parser.Parser {
	p := parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(inline...))
	return goldmark.New(goldmark.WithParser(p), goldmark.WithExtensions(more...)).Parser()
}
