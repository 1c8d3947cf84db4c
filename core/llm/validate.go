package llm

import (
	"math"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Validate checks a request before anything of it is sent (llm-provider §§3–6): each message by itself, their order,
// the tools, the choice and the configuration. Every Provider calls it. It does not ask that every call in the messages
// be answered: that is a vendor's rule, and the view of a history that is sent keeps it.
//
// Errors: provider_invalid_request.
func (r Request) Validate() error {
	for _, check := range []func(Request) error{
		checkMessages, checkOrder, checkResults, checkTools, checkChoice, checkConfig,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return core.Errorf(core.ProviderInvalidRequest, format, args...)
}

func checkMessages(r Request) error {
	if len(r.Messages) == 0 {
		return invalid("A request needs at least one message.")
	}
	for i, m := range r.Messages {
		if err := m.Validate(); err != nil {
			return invalid("Message %d: %s.", i+1, core.MessageOf(err))
		}
		if len(m.StoredImages()) > 0 {
			return invalid("Message %d has a stored image; its bytes must be loaded before it is sent.", i+1)
		}
		for _, c := range m.ToolCalls {
			if v, err := strictjson.Parse(c.Arguments, strictjson.Repeats, strictjson.Replace); len(c.Arguments) > 0 &&
				(err != nil || v.Kind != strictjson.Object && v.Kind != strictjson.Null) {
				return invalid("Message %d: the arguments of the call %s must be an object or null.", i+1, c.ID)
			}
		}
	}
	return nil
}

func checkOrder(r Request) error {
	for i, m := range r.Messages {
		if m.Role == core.System && i > 0 {
			return invalid("Message %d is a system message; only the first one may be.", i+1)
		}
	}
	first := r.Messages[0]
	if first.Role == core.System && len(r.Messages) > 1 {
		first = r.Messages[1]
	}
	if first.Role != core.User {
		return invalid("The first message, after a system message, must be a user's, not %s.", first.Role)
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role != core.User && last.Role != core.ToolRole {
		return invalid("The last message must be a user's or a tool's, not %s: there is nothing to answer.", last.Role)
	}
	return nil
}

// checkResults requires that each tool message names a call of an earlier message.
func checkResults(r Request) error {
	called := map[string]bool{}
	for i, m := range r.Messages {
		for _, c := range m.ToolCalls {
			called[c.ID] = true
		}
		if m.Role == core.ToolRole && !called[m.ToolCallID] {
			return invalid("Message %d is the result of the call %q, which no earlier message has.", i+1, m.ToolCallID)
		}
	}
	return nil
}

func checkTools(r Request) error {
	seen := map[string]bool{}
	for i, t := range r.Tools {
		switch {
		case t.Name == "":
			return invalid("Tool %d needs a name.", i+1)
		case seen[t.Name]:
			return invalid("There are two tools of the name %s.", t.Name)
		}
		seen[t.Name] = true
		if len(t.Parameters) == 0 {
			continue
		}
		v, err := strictjson.Parse(t.Parameters)
		if err != nil {
			return core.Wrap(core.ProviderInvalidRequest, err, "The parameters of the tool %s are not valid JSON.",
				t.Name)
		}
		if typ := v.Get("type"); v.Kind != strictjson.Object || typ != nil && typ.String != "object" {
			return invalid("The parameters of the tool %s must be the JSON Schema of an object.", t.Name)
		}
	}
	return nil
}

func checkChoice(r Request) error {
	switch c := r.Choice; c.Mode {
	case "", ChooseAuto, ChooseNone:
	case ChooseRequired:
		if len(r.Tools) == 0 {
			return invalid("The model is required to call a tool, but there are no tools.")
		}
	case ChooseTool:
		for _, t := range r.Tools {
			if t.Name == c.Tool {
				return nil
			}
		}
		return invalid("The model is required to call the tool %q, which is not among the tools.", c.Tool)
	default:
		return invalid("Unknown tool choice %q: use auto, required, none or tool.", c.Mode)
	}
	if r.Choice.Tool != "" {
		return invalid("The tool choice %q names the tool %q; only the choice tool does.", r.Choice.Mode, r.Choice.Tool)
	}
	return nil
}

func checkConfig(r Request) error {
	for name, f := range map[string]*float64{"temperature": r.Config.Temperature, "top_p": r.Config.TopP,
		"frequency_penalty": r.Config.FrequencyPenalty, "presence_penalty": r.Config.PresencePenalty} {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			return invalid("%s must be a number.", name)
		}
	}
	for key, v := range r.Config.Extra {
		if _, err := strictjson.Parse(v); err != nil {
			return core.Wrap(core.ProviderInvalidRequest, err, "The extra setting %s is not valid JSON.", key)
		}
	}
	return nil
}
