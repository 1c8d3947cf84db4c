package hrf

import (
	"errors"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

// expression compiles a text of extract-input.
func (s *scriptReader) expression(n *node) *expr.Expr {
	e, err := expr.Compile(n.String)
	if s.failed(n, err) {
		return nil
	}
	s.reads(n, e.Refs())
	s.barewords(n, e.Barewords())
	return e
}

// condition compiles the condition of an if.
func (s *scriptReader) condition(n *node) *expr.Condition {
	c, err := expr.CompileCondition(n.String)
	if s.failed(n, err) {
		return nil
	}
	s.reads(n, c.Refs())
	s.barewords(n, c.Barewords())
	return c
}

// template compiles the template of an assistant-message.
func (s *scriptReader) template(n *node) *expr.Template {
	t := expr.CompileTemplate(n.String)
	s.reads(n, t.Refs())
	for _, text := range t.Unknown() {
		s.flow.warn(n, templateUnknown, "write {{vars.NAME}} or {{input.NAME}}",
			"%s is not a placeholder, so it stays as it is", quote("{{"+text+"}}"))
	}
	return t
}

// arguments compiles the arguments of a tool-call.
func (s *scriptReader) arguments(n *node) *expr.Args {
	args, faults := expr.CompileArgs(n.Value)
	if len(faults) > 0 {
		for _, f := range faults {
			s.failIn(f.Value, n.pointer(f.Path...), f.Err)
		}
		return nil
	}
	for _, ref := range args.Refs() {
		s.flow.read(ref, n.place)
	}
	s.barewords(n, args.Barewords())
	return args
}

// failed reports whether an expression could not be compiled, and adds the error.
func (s *scriptReader) failed(n *node, err error) bool {
	var fault *expr.Error
	if !errors.As(err, &fault) {
		return false
	}
	s.failIn(n.Value, n.pointer(), fault)
	return true
}

// failIn adds an error at its very place in the text of an expression.
func (s *scriptReader) failIn(v *strictjson.Value, pointer string, fault *expr.Error) {
	place := Place{pointer, v.Line, v.Columns(s.text, fault.Column-1)[0]}
	s.failAt(place, expressionSyntax, fault.Hint, "%s", fault.Reason)
}

// barewords warns of words without quotes: a name that lacks its $vars. looks like one.
func (s *scriptReader) barewords(n *node, words []string) {
	for _, word := range words {
		s.flow.warn(n, expressionBareword, "write it in quotes, or $vars. before a variable",
			"%s is read as text", quote(word))
	}
}

// reads notes the references in a text.
func (s *scriptReader) reads(n *node, refs []expr.Ref) {
	offsets := make([]int, len(refs))
	for i, ref := range refs {
		offsets[i] = ref.Column - 1
	}
	for i, column := range n.Columns(s.text, offsets...) {
		s.flow.read(refs[i], func() Place { return Place{n.pointer(), n.Line, column} })
	}
}
