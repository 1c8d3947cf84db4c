package interp

import (
	"strings"

	"gatehouse/core/hrf"
	"gatehouse/core/hrf/expr"
)

// execute executes one step.
func (r *run) execute(step hrf.Step) Effect {
	if fault := r.spend("steps", &r.Used.Steps, r.limits.Steps, step.Where()); fault != nil {
		return fault
	}
	switch step := step.(type) {
	case *hrf.ExtractInput:
		return r.extract(step)
	case *hrf.ToolCall:
		return r.tool(step)
	case *hrf.If:
		return r.branch(step)
	case *hrf.AssistantMessage:
		return r.message(step)
	}
	r.note(step.Where(), Event{Type: "halt"})
	return r.finish()
}

func (r *run) extract(step *hrf.ExtractInput) Effect {
	e := Event{Type: "extract-input"}
	for _, a := range step.Output {
		if fault := r.defined(a.Value.Refs(), step.Place); fault != nil {
			return fault
		}
		if fault := r.set(a.Name, a.Value.Eval(r.scope()), step.Place); fault != nil {
			return fault
		}
		e.Set = append(e.Set, a.Name)
	}
	r.note(step.Place, e)
	return r.completed()
}

func (r *run) branch(step *hrf.If) Effect {
	if fault := r.defined(step.Condition.Refs(), step.Place); fault != nil {
		return fault
	}
	name, branch := "then", 0
	if !step.Condition.Eval(r.scope()) {
		name, branch = "else", 1
	}
	r.note(step.Place, Event{Type: "if", Branch: name})
	r.Path = append(r.Path, branch, 0)
	return nil
}

func (r *run) message(step *hrf.AssistantMessage) Effect {
	text := step.Content
	if step.Template != nil {
		if fault := r.defined(step.Template.Refs(), step.Place); fault != nil {
			return fault
		}
		text = step.Template.Render(r.scope())
	}
	if fault := r.fits(len(text), "the text", step.Place); fault != nil {
		return fault
	}
	blank := strings.TrimSpace(text) == ""
	e := Event{Type: "assistant-message", Channel: step.Channel}
	if step.Channel == hrf.Analysis {
		r.note(step.Place, e)
		if blank {
			return r.completed()
		}
		if fault := r.show(Line{hrf.Assistant, text}, step.Place); fault != nil {
			return fault
		}
		return r.completed()
	}
	if blank || step.Template == nil && strings.TrimSpace(text) == "." {
		e.Model = true
		r.note(step.Place, e)
		return r.ask(onReply, step.Place, r.Chat)
	}
	r.note(step.Place, e)
	r.Text = text
	return r.completed()
}

// reply is the model's text for a final message.
func (r *run) reply(step *hrf.AssistantMessage, result Result) Effect {
	text, fault := r.modelText(result, step.Place)
	if fault != nil {
		return fault
	}
	r.Text = text
	return r.completed()
}

// set sets a variable.
func (r *run) set(name string, value any, p hrf.Place) Effect {
	if r.sizes == nil {
		r.sizes = map[string]int{}
		for name, value := range r.Vars {
			r.sizes[name] = len(name) + sizeOf(value)
			r.size += r.sizes[name]
		}
	}
	r.size -= r.sizes[name]
	r.sizes[name] = len(name) + sizeOf(value)
	r.size += r.sizes[name]
	if fault := r.fits(r.size, "the variables, with "+name+",", p); fault != nil {
		return fault
	}
	r.Vars[name] = value
	return nil
}

// show adds a line to the chat for the model.
func (r *run) show(l Line, p hrf.Place) Effect {
	size := len(l.Text)
	for _, shown := range r.Chat {
		size += len(shown.Text)
	}
	if fault := r.fits(size, "the chat for the model", p); fault != nil {
		return fault
	}
	r.Chat = append(r.Chat, l)
	return nil
}

// defined fails in strict runs if nothing has set a variable.
func (r *run) defined(refs []expr.Ref, p hrf.Place) Effect {
	if !r.program.StrictVars {
		return nil
	}
	for _, ref := range refs {
		if _, ok := r.Vars[ref.Name]; ref.Root == "vars" && !ok {
			d := at(p)
			d.Variable = ref.Name
			return r.fail(d, "the variable %s has no value: nothing has set it", ref.Name)
		}
	}
	return nil
}
