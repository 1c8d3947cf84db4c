package hrf

import "strings"

// CallVariable is the variable that holds the result of a message with the termination call.
const CallVariable = "last_tool_result"

// judge adds what can be said about the script of a valid envelope as a whole: markers and variables.
func (r *reader) judge(e *Envelope) {
	if e.Script == nil {
		return
	}
	calls, early := r.markers(e)
	r.report.Warnings = append(r.report.Warnings, r.flow.warnings...)
	if !early {
		r.report.Warnings = append(r.report.Warnings, r.flow.replaced...)
	}
	for _, d := range r.flow.declared {
		if !r.flow.used[strings.ToLower(d.member.Key)] {
			r.warnAt(d.object.keyPlace(d.member), varsUnused, "", "nothing reads the variable %s", quote(d.member.Key))
		}
	}
	for _, v := range r.flow.unset {
		name := strings.ToLower(v.name)
		switch {
		case calls && name == CallVariable:
		case r.flow.ever[name]:
			r.warnAt(v.place, varsEarly, "", "the variable %s is read before a step sets it", quote(v.name))
		case r.strictVars:
			r.failAt(v.place, varsUnset, "", "nothing sets the variable %s", quote(v.name))
		default:
			r.warnAt(v.place, varsUnset, "", "nothing sets the variable %s, so it is null", quote(v.name))
		}
	}
}

// markers warns of terminations that don't do what they seem to. It reports whether one calls a tool, and whether one
// ends the script after its first step. A termination of a message that holds a script has no effect.
func (r *reader) markers(e *Envelope) (calls, early bool) {
	at := 0 // in r.terminations
	for _, m := range e.Messages {
		if m.Termination == "" {
			continue
		}
		n := r.terminations[at]
		at++
		switch {
		case m.ContentType == ScriptType:
		case m.Termination == Call:
			calls = true
			if m.Recipient == "" {
				r.warn(n, terminationCall, "add a recipient to the message", "the call has no recipient")
			}
		case len(e.Script.Steps) > 1:
			early = true
			r.warn(n, terminationEarly, "remove it, or leave the script one step",
				"%s ends the script after its first step", m.Termination)
		}
	}
	return calls, early
}
