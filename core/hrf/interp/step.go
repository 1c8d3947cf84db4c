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
	text, fault := r.text(step)
	if fault != nil {
		return fault
	}
	blank := strings.TrimSpace(text) == ""
	e := Event{Type: "assistant-message", Channel: step.Channel}
	if step.Channel == hrf.Analysis {
		return r.think(step, e, text, blank)
	}
	if blank || step.Template == nil && strings.TrimSpace(text) == "." {
		return r.ask(onReply, step.Place, e, r.Chat)
	}
	r.Text = text
	r.note(step.Place, e)
	return r.completed()
}

// think shows a text to the model alone.
func (r *run) think(step *hrf.AssistantMessage, e Event, text string, blank bool) Effect {
	if !blank {
		if fault := r.show(Line{hrf.Assistant, text}, step.Place); fault != nil {
			return fault
		}
	}
	r.note(step.Place, e)
	return r.completed()
}

// text gives what a message of the script says.
func (r *run) text(step *hrf.AssistantMessage) (string, Effect) {
	if step.Template == nil {
		return step.Content, r.fits(len(step.Content), "the text", step.Place)
	}
	if fault := r.defined(step.Template.Refs(), step.Place); fault != nil {
		return "", fault
	}
	text, ok := step.Template.Render(r.scope(), r.limits.Size)
	if !ok {
		return "", r.tooLarge("the text", step.Place)
	}
	return text, nil
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
			r.sizes[name] = len(name) + expr.Size(value)
			r.size += r.sizes[name]
		}
	}
	r.size -= r.sizes[name]
	r.sizes[name] = len(name) + expr.Size(value)
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
		if ref.Root == "vars" && !r.has(ref.Name) {
			d := at(p)
			d.Variable = ref.Name
			return r.fail(d, "the variable %s has no value: nothing has set it", ref.Name)
		}
	}
	return nil
}

// has reports whether a variable has been set; expressions find it by its name in any case.
func (r *run) has(name string) bool {
	if _, ok := r.Vars[name]; ok {
		return true
	}
	for known := range r.Vars {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}
