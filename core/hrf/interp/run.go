package interp

import (
	"fmt"
	"strings"

	"gatehouse/core/hrf"
	"gatehouse/core/hrf/expr"
)

// run is one Next: a state that changes. Its methods return the next effect; nil: go on.
type run struct {
	program *Program
	limits  Limits
	State
	sizes map[string]int // of the variables; nil: not yet measured
	size  int            // of all together
}

// accept takes the result of the last effect.
func (r *run) accept(result Result) Effect {
	if r.Phase == begin {
		return r.begin()
	}
	if r.program.Envelope.Script == nil {
		return r.changed()
	}
	switch r.Phase {
	case onTool:
		step, ok := r.step().(*hrf.ToolCall)
		if !ok || !r.waits(step.Pointer, step.Recipient) {
			return r.changed()
		}
		return r.toolResult(step, result)
	case onReply:
		step, ok := r.step().(*hrf.AssistantMessage)
		if !ok || !r.waits(step.Pointer, "") {
			return r.changed()
		}
		return r.reply(step, result)
	case onCall:
		return r.callResult(result)
	case onSummary:
		return r.summary(result)
	}
	return r.fail(Details{}, "the run has ended")
}

// waits reports whether a step or a message is the one that the last effect was of.
func (r *run) waits(pointer, recipient string) bool {
	last := r.Trace[len(r.Trace)-1]
	return last.Pointer == pointer && last.Recipient == recipient
}

func (r *run) changed() Effect {
	return r.fail(Details{}, "the script was changed while it waited; start it again")
}

// begin checks the program and prepares variables and chat.
func (r *run) begin() Effect {
	if fault := r.check(); fault != nil {
		return fault
	}
	r.Phase, r.Path, r.Vars = stepping, []int{0}, map[string]any{}
	for _, v := range r.program.Envelope.Script.Vars {
		if fault := r.set(v.Name, v.Value, hrf.Place{}); fault != nil {
			return fault
		}
	}
	return r.startChat()
}

// startChat shows the model the plain system messages, then the first plain user message.
func (r *run) startChat() Effect {
	for _, role := range []string{hrf.System, hrf.User} {
		for _, m := range r.program.Envelope.Messages {
			text, ok := plainText(m)
			if !ok || m.Role != role {
				continue
			}
			if fault := r.show(Line{role, text}, m.Place); fault != nil {
				return fault
			}
			if role == hrf.User {
				break
			}
		}
	}
	return nil
}

// walk executes steps up to an effect.
func (r *run) walk() Effect {
	r.Phase = stepping
	step := r.step()
	if step != nil {
		return r.execute(step)
	}
	if len(r.Path) > 1 { // the end of a branch
		r.Path = r.Path[:len(r.Path)-2]
		return r.completed()
	}
	return r.finish()
}

// step gives the step at Path; nil: there is none.
func (r *run) step() (step hrf.Step) {
	steps := r.program.Envelope.Script.Steps
	for i := 0; i < len(r.Path); i += 2 {
		if i > 0 {
			branches, ok := step.(*hrf.If)
			if !ok {
				return nil
			}
			steps = branches.Then
			if r.Path[i-1] == 1 {
				steps = branches.Else
			}
		}
		if r.Path[i] >= len(steps) {
			return nil
		}
		step = steps[r.Path[i]]
	}
	return step
}

// completed goes on from the step at Path, which is done.
func (r *run) completed() Effect {
	r.Path[len(r.Path)-1]++
	if len(r.Path) == 1 {
		return r.markers()
	}
	return nil
}

// finish ends the run: with the text, or with a summary of the model if there is none.
func (r *run) finish() Effect {
	if strings.TrimSpace(r.Text) == "" {
		return r.askSummary()
	}
	return r.done()
}

func (r *run) done() Effect {
	r.Phase = ended
	return Done{r.Text}
}

func (r *run) fail(d Details, format string, args ...any) Effect {
	r.Phase = ended
	return Failed{&hrf.Error{Code: hrf.ExecutionError, Message: fmt.Sprintf(format, args...), Details: d}}
}

// scope is what expressions see.
func (r *run) scope() expr.Scope { return expr.Scope{Vars: r.Vars, Input: r.Input} }

func (r *run) note(p hrf.Place, e Event) {
	e.Pointer, e.Line = p.Pointer, p.Line
	r.Trace = append(r.Trace, e)
}
