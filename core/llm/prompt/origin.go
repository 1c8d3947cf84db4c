package prompt

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// origin is where a template begins in its file.
type origin struct {
	line, column int  // column 0: not known
	verbatim     bool // the template's line breaks are the file's
}

// originOf is where a text of a YAML file begins.
func originOf(n *yaml.Node) origin {
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		return origin{line: n.Line + 1, verbatim: true} // below its mark, by as many columns as it is indented
	case n.Style&yaml.FoldedStyle != 0:
		return origin{line: n.Line + 1}
	}
	return origin{line: n.Line, column: n.Column}
}

// after is the place in the file that some of the template comes before.
func (o origin) after(text string) (line, column int) {
	if !o.verbatim {
		return o.line, o.column
	}
	line, column = o.line+strings.Count(text, "\n"), o.column
	if column > 0 {
		column = 1 + utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
	}
	return line, column
}

// checkTemplate reports a template that has no text, whose expressions are not valid, or that uses a variable that
// there is not.
func (r *reader) checkTemplate(begins origin, template string) {
	if template == "" {
		r.FaultAt(begins.line, begins.column, "write its text", "the template is empty")
		return
	}
	pieces, err := parse(template)
	if syntax := (*syntaxError)(nil); errors.As(err, &syntax) {
		what, do, _ := strings.Cut(syntax.reason, "; ")
		if do == "" {
			do = "close it"
		}
		line, column := begins.after(template[:syntax.at])
		r.FaultAt(line, column, do, "%s", what)
	}
	for _, p := range pieces {
		if p.variable != "" && r.variables != nil && !slices.Contains(r.variables, p.variable) {
			line, column := begins.after(template[:p.at])
			r.FaultAt(line, column, "use "+strings.Join(r.variables, ", "), "there is no variable %s", p.variable)
		}
	}
}
