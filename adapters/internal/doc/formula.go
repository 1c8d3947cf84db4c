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

// dollars matches a formula on one line, and finds all of it but its last sign: no price, and no name of a variable.
var dollars = regexp.MustCompile("^(\\$[^\\s$`](?:[^$`\n]*[^\\s$`\\\\])?)\\$(?:[^0-9A-Za-z$]|$)")

// escape matches an escaped sign that would be markup without the backslash. One before any other sign is there to be
// seen, as in LaTeX; so is a bracket apart from words, as around a formula with empty lines.
var escape = regexp.MustCompile(`\\([\\*_~#|<>!+.$` + "`" + `-]|\[\b)|\b\\(\])`)
