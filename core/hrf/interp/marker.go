package interp

import (
	"slices"

	"gatehouse/core/hrf"
)

// marker is the termination of a message, if it has an effect; else "".
func marker(m hrf.Message) string {
	if m.Role != hrf.Assistant || m.ContentType == hrf.ScriptType {
		return ""
	}
	return m.Termination
}

// markers looks at the messages after a top-level step.
func (r *run) markers() Effect {
	for i, m := range r.program.Envelope.Messages {
		switch marker(m) {
		case hrf.End:
			r.note(m.Place, Event{Type: hrf.End})
			return r.done()
		case hrf.Return:
			r.note(m.Place, Event{Type: hrf.Return})
			return r.finish()
		case hrf.Call:
			if !slices.Contains(r.Fired, i) {
				r.Fired = append(r.Fired, i)
				args, _ := callArgs(m) // was checked
				return r.call(onCall, m.Place,
					Event{Type: hrf.Call, Recipient: m.Recipient, Set: []string{hrf.CallVariable}}, args)
			}
		}
	}
	return nil
}

// callArgs gives the arguments of a message that calls; ok is false if they are no object.
func callArgs(m hrf.Message) (args map[string]any, ok bool) {
	if text, ok := plainText(m); ok {
		return map[string]any{"input": text}, true
	}
	if m.ContentType == "" || m.Content == nil {
		return map[string]any{}, true
	}
	args, ok = m.Content.Any().(map[string]any)
	return args, ok
}

// callResult is the result of a message that called. The other messages follow.
func (r *run) callResult(result Result) Effect {
	i, messages := r.Fired[len(r.Fired)-1], r.program.Envelope.Messages
	if i >= len(messages) || marker(messages[i]) != hrf.Call || !r.waits(messages[i].Pointer, messages[i].Recipient) {
		return r.changed()
	}
	if fault := r.keep(hrf.CallVariable, result, messages[i].Recipient, messages[i].Place); fault != nil {
		return fault
	}
	return r.markers()
}
