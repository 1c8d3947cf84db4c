package doc

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// formulas reads LaTeX: \(…\), \[…\], $$…$$ and, on one line, $…$. No surface draws it, so people see it as it was
// typed, with all of its backslashes, stars and underscores.
type formulas struct{}

// Trigger returns what a formula begins with.
func (formulas) Trigger() []byte { return []byte{'\\', '$'} }

// Parse returns a formula: emphasis of no level around its lines.
func (formulas) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	from, end := 2, map[string]string{`\(`: `\)`, `\[`: `\]`, `$$`: `$$`}[string(line[:min(len(line), 2)])]
	if end == "" {
		found := dollars.FindSubmatchIndex(line)
		if found == nil || util.IsAlphaNumeric(byte(block.PrecendingCharacter())) {
			return nil
		}
		from, end = found[3], "$"
	}
	formula := ast.NewEmphasis(0)
	start, at := block.Position()
	for range maxFormula {
		line, segment := block.PeekLine()
		found := bytes.Index(line[min(from, len(line)):], []byte(end))
		if found >= 0 {
			line = line[:from+found+len(end)]
		}
		if len(line) == 0 || bytes.IndexByte(line, '`') >= 0 {
			break
		}
		segment = segment.WithStop(segment.Start + len(line) - segment.Padding)
		words := ast.NewRawTextSegment(segment.TrimRightSpace(block.Source()))
		formula.AppendChild(formula, words)
		if found >= 0 {
			block.Advance(len(line))
			return formula
		}
		words.SetSoftLineBreak(true)
		block.AdvanceLine()
		from = 0
	}
	block.SetPosition(start, at)
	return nil
}

// maxFormula is how many lines a formula has at most.
const maxFormula = 50

// outside is a parser of blocks none of which begins within \(…\) or \[…\]: a line of a formula may begin with any
// sign.
type outside struct{ parser.BlockParser }

// Open opens a block.
func (o outside) Open(parent ast.Node, block text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if p, ok := pc.LastOpenedBlock().Node.(*ast.Paragraph); ok && p.Parent() == parent && formulaIn(p, block) != "" {
		return nil, parser.NoChildren
	}
	return o.BlockParser.Open(parent, block, pc)
}

// paragraph is the parser of paragraphs, which go on over empty lines within \[…\].
type paragraph struct{ parser.BlockParser }

// Continue takes the next line.
func (p paragraph) Continue(node ast.Node, block text.Reader, pc parser.Context) parser.State {
	line, segment := block.PeekLine()
	if !util.IsBlank(line) || formulaIn(node, block) != `\]` {
		return p.BlockParser.Continue(node, block, pc)
	}
	node.Lines().Append(segment)
	block.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// tables makes tables of paragraphs that have no formula of several lines: a minus alone on a line of one is no table.
type tables struct{ parser.ParagraphTransformer }

// Transform makes a table of a paragraph that is one.
func (t tables) Transform(p *ast.Paragraph, block text.Reader, pc parser.Context) {
	if !severalLines.Match(p.Lines().Value(block.Source())) {
		t.ParagraphTransformer.Transform(p, block, pc)
	}
}

// severalLines matches a formula of several lines.
var severalLines = regexp.MustCompile("\\\\\\((?:[^\\\\\n`]|\\\\[^)\n])*\\\\?\n[^`]*\\\\\\)|" +
	"\\\\\\[(?:[^\\\\\n`]|\\\\[^\\]\n])*\\\\?\n[^`]*\\\\\\]")

// formulaIn is the end of a formula that has begun in a paragraph and ends in a line that follows: \) or \]; "" if
// there is none.
func formulaIn(paragraph ast.Node, block text.Reader) (end string) {
	lines, from := paragraph.Lines(), 0
	var before []byte
	for i := max(0, lines.Len()-maxFormula); i < lines.Len(); i++ {
		line := lines.At(i)
		before = append(before, line.Value(block.Source())...)
	}
	for i := 0; i+1 < len(before); i++ {
		switch two := string(before[i : i+2]); {
		case two[0] != '\\':
			continue
		case end == "" && (two == `\(` || two == `\[`):
			end, from = map[string]string{`\(`: `\)`, `\[`: `\]`}[two], i
		case two == end:
			end = ""
		}
		i++
	}
	if end == "" || bytes.IndexByte(before[from:], '`') >= 0 {
		return ""
	}
	_, at := block.Position()
	rest := block.Source()[at.Start:]
	found := bytes.Index(rest, []byte(end))
	if found < 0 {
		return ""
	}
	rest = rest[:found]
	count := bytes.Count(before[from:], []byte("\n")) + bytes.Count(rest, []byte("\n"))
	if count >= maxFormula || bytes.IndexByte(rest, '`') >= 0 || end == `\)` && bytes.Contains(rest, []byte("\n\n")) {
		return ""
	}
	return end
}

// dollars matches a formula on one line, and finds all of it but its last sign: no price, and no name of a variable.
var dollars = regexp.MustCompile("^(\\$[^\\s$`](?:[^$`\n]*[^\\s$`\\\\])?)\\$(?:[^0-9A-Za-z$]|$)")

// escape matches an escaped sign that would be markup without the backslash. One before any other sign is there to be
// seen, as in LaTeX; so is a bracket apart from words, as around a formula with empty lines.
var escape = regexp.MustCompile(`\\([\\*_~#|<>!+.$` + "`" + `-]|\[\b)|\b\\(\])`)
