package hrf

import (
	"bytes"
	"errors"
	"fmt"

	"gatehouse/core/strictjson"
)

// Option changes what Parse checks.
type Option func(*reader)

// StrictVars makes it an error that the script reads a variable that nothing can have set, instead of a warning.
func StrictVars(r *reader) { r.strictVars = true }

// Parse reads and checks an envelope, in time linear in its size. The envelope is nil if the report has an error. What
// the profile leaves to taste, such as a variable that nothing reads, is a warning. Such warnings are looked for only
// in an envelope without errors.
func Parse(text []byte, p Profile, options ...Option) (*Envelope, *Report) {
	r := &reader{text: text, compat: p == Compat}
	for _, o := range options {
		o(r)
	}
	var e *Envelope
	if root := r.root(); root != nil {
		r.duplicates(root)
		e = r.envelope(root)
	}
	if r.report.Valid() {
		r.judge(e)
	}
	r.report.sort()
	if !r.report.Valid() {
		e = nil
	}
	return e, &r.report
}

// reader reads one text.
type reader struct {
	text       []byte
	compat     bool
	strictVars bool
	report     Report

	terminations []*node // in the order of the messages that have one
	flow         *flow   // of the script that runs
}

// fail adds an error about a value. The hint says what to do; it may be empty.
func (r *reader) fail(n *node, broken rule, hint, format string, args ...any) {
	r.failAt(n.place(), broken, hint, format, args...)
}

func (r *reader) failAt(p Place, broken rule, hint, format string, args ...any) {
	r.report.Errors = append(r.report.Errors, finding(p, broken, hint, format, args...))
}

// warn adds a warning about a value.
func (r *reader) warn(n *node, about rule, hint, format string, args ...any) {
	r.warnAt(n.place(), about, hint, format, args...)
}

func (r *reader) warnAt(p Place, about rule, hint, format string, args ...any) {
	r.report.Warnings = append(r.report.Warnings, finding(p, about, hint, format, args...))
}

func finding(p Place, r rule, hint, format string, args ...any) Finding {
	return Finding{
		Code: r.code, Message: fmt.Sprintf(format, args...), Hint: hint, Pointer: p.Pointer, Line: p.Line,
		Column: p.Column, Rule: r.name,
	}
}

// mark is the byte order mark, with which some editors begin a file.
var mark = []byte("\xef\xbb\xbf")

// textRules are the rules that text breaks which is not JSON.
var textRules = map[strictjson.Code]rule{
	strictjson.Syntax: textSyntax, strictjson.Trailing: textTrailing, strictjson.Encoding: textEncoding,
	strictjson.TooDeep: textDepth, strictjson.TooMany: textValues,
}

// root parses the text. The node is nil if that is not possible; then the report says why.
func (r *reader) root() *node {
	start := Place{Line: 1, Column: 1}
	if rest, found := bytes.CutPrefix(r.text, mark); found {
		r.text = rest
		if r.compat {
			r.warnAt(start, compatMark, "", "the text begins with a byte order mark")
		} else {
			r.failAt(start, textMark, "save the file as UTF-8 without BOM", "the text begins with a byte order mark")
		}
	}
	v, err := strictjson.Parse(r.text, strictjson.Repeats)
	var fault *strictjson.Error
	if errors.As(err, &fault) {
		hint := ""
		if !bytes.HasPrefix(bytes.TrimSpace(r.text), []byte("{")) {
			hint = "an envelope is a JSON object, saved as UTF-8"
		}
		r.failAt(Place{fault.Pointer, fault.Line, fault.Column}, textRules[fault.Code], hint, "%s", fault.Reason)
		return nil
	}
	return &node{Value: v}
}

// duplicates reports every repeated key at any depth.
func (r *reader) duplicates(n *node) {
	switch n.Kind {
	case strictjson.Array:
		for i, item := range n.Items {
			if item.Kind == strictjson.Object || item.Kind == strictjson.Array {
				r.duplicates(n.item(i))
			}
		}
	case strictjson.Object:
		seen := make(map[string]bool, len(n.Members))
		for _, m := range n.Members {
			if seen[m.Key] {
				r.failAt(n.keyPlace(m), textDuplicate, "remove one of them", "the key %s is repeated", quote(m.Key))
			}
			seen[m.Key] = true
			r.duplicates(n.member(m))
		}
	}
}
