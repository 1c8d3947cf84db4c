package hrf

import (
	"strings"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

// scriptOf reads the script of a message. The first one in a message whose role may have one is the envelope's; the
// others are only checked.
func (r *reader) scriptOf(e *Envelope, role string, n *node) {
	s := &scriptReader{reader: r, flow: newFlow()}
	script := s.script(n)
	allowed := role == System || r.compat && (role == Assistant || role == developer)
	switch {
	case role == "": // it is reported
	case !allowed:
		r.warn(n, scriptIgnored, "move it to a message of the role system",
			"this script is never run: its message is not of the role system")
	case r.flow != nil:
		r.warn(n, scriptIgnored, "", "this script is never run: only the first one is")
	default:
		if role != System {
			r.warn(n, compatScript, "", "the strict profile has scripts only in messages of the role system")
		}
		e.Script, r.flow = script, s.flow
	}
}

// scriptReader reads one script.
type scriptReader struct {
	*reader
	flow *flow
}

func (s *scriptReader) script(n *node) *Script {
	if n.Kind != strictjson.Object {
		s.fail(n, scriptType, `write {"steps": […]}`, "a script must be an object, not %s", article(n.Kind))
		return nil
	}
	o := object{s.reader, n, "the script", []string{"vars", "steps"}, scriptUnknown, scriptMissing, scriptType}
	o.checkNames()
	script := &Script{}
	if vars := o.optional("vars", strictjson.Object); vars != nil {
		for _, m := range vars.Members {
			script.Vars = append(script.Vars, Var{m.Key, m.Value.Any()})
			s.flow.declare(vars, m)
			s.data(vars.member(m))
		}
	}
	steps := o.required("steps", strictjson.Array)
	if steps == nil {
		return script
	}
	if len(steps.Items) == 0 {
		s.fail(steps, scriptEmpty, "", "steps must not be empty")
	}
	script.Steps, _ = s.steps(steps)
	return script
}

// data warns of texts in a variable's value that look like expressions.
func (s *scriptReader) data(n *node) {
	switch n.Kind {
	case strictjson.Object:
		for _, m := range n.Members {
			s.data(n.member(m))
		}
	case strictjson.Array:
		for i := range n.Items {
			s.data(n.item(i))
		}
	case strictjson.String:
		if !strings.HasPrefix(n.String, "$") {
			return
		}
		if _, err := expr.Compile(n.String); err == nil {
			s.flow.warn(n, varsExpression, "set the variable in an extract-input step",
				"%s is not evaluated: the values of vars are data", quote(n.String))
		}
	}
}
