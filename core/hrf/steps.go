package hrf

import (
	"slices"

	"gatehouse/core/strictjson"
)

// ending is what a step, or a list of them, does to the rest of the script.
type ending struct {
	halts   bool // always
	mayHalt bool
	says    bool // always sets the final text
}

// steps reads a list of steps.
func (s *scriptReader) steps(list *node) ([]Step, ending) {
	steps := make([]Step, 0, len(list.Items))
	var all ending
	var final *node // the message whose text is the final one so far
	warned := false
	for i := range list.Items {
		n := list.item(i)
		if all.halts && !warned {
			warned = true
			s.flow.warn(n, stepUnreachable, "", "this step is never run: the script has already halted")
		}
		step, e := s.step(n)
		if step == nil {
			continue
		}
		if final != nil && e.says && !all.halts {
			s.flow.replaced = append(s.flow.replaced,
				finding(final.place(), finalReplaced, "", "this final text is never sent: a later step replaces it"))
		}
		if _, isMessage := step.(*AssistantMessage); isMessage && e.says {
			final = n
		} else if e.says || e.mayHalt {
			final = nil
		}
		steps = append(steps, step)
		all = ending{all.halts || e.halts, all.mayHalt || e.mayHalt, all.says || e.says}
	}
	return steps, all
}

// The types of steps.
const (
	extractInput     = "extract-input"
	toolCall         = "tool-call"
	branch           = "if"
	assistantMessage = "assistant-message"
	halt             = "halt"
)

// stepNames are the properties of each type of step.
var stepNames = map[string][]string{
	extractInput:     {"type", "output"},
	toolCall:         {"type", "recipient", "channel", "args", "save_as"},
	branch:           {"type", "condition", "then", "else"},
	assistantMessage: {"type", "channel", "content", "content_template"},
	halt:             {"type"},
}

// anyStepNames are the properties that a step of some type has.
var anyStepNames = []string{
	"type", "output", "recipient", "channel", "args", "save_as", "condition", "then", "else", "content",
	"content_template",
}

var stepTypes = []string{extractInput, toolCall, branch, assistantMessage, halt}

// step reads one step by its type. The step is nil if that is unknown.
func (s *scriptReader) step(n *node) (Step, ending) {
	if n.Kind != strictjson.Object {
		s.fail(n, stepType, "", "a step must be an object, not %s", article(n.Kind))
		return nil, ending{}
	}
	o := object{s.reader, n, "the step", anyStepNames, stepUnknown, stepMissing, stepType}
	kind := o.required("type", strictjson.String)
	if kind == nil {
		o.checkNames()
		return nil, ending{}
	}
	names, known := stepNames[kind.String]
	if !known {
		s.fail(kind, stepKind, suggest(kind.String, stepTypes, oneOf(stepTypes)),
			"unknown step type %s", quote(kind.String))
		return nil, ending{}
	}
	o.name, o.names = "a step of type "+kind.String, names
	o.checkNames()
	switch kind.String {
	case extractInput:
		return s.extractInput(o), ending{}
	case toolCall:
		return s.toolCall(o), ending{}
	case branch:
		return s.branch(o)
	case assistantMessage:
		step := s.assistantMessage(o)
		return step, ending{says: step.Channel == Final}
	}
	return &Halt{n.place()}, ending{halts: true, mayHalt: true}
}

func (s *scriptReader) extractInput(o object) *ExtractInput {
	step := &ExtractInput{Place: o.place()}
	output := o.required("output", strictjson.Object)
	if output == nil {
		return step
	}
	if len(output.Members) == 0 {
		s.fail(output, extractInputOutput, "", "output must not be empty")
	}
	for _, m := range output.Members {
		n := output.member(m)
		if isBlank(m.Key) {
			s.failAt(output.keyPlace(m), extractInputOutput, "", "the name of a variable must not be blank")
		}
		switch {
		case n.Kind != strictjson.String:
			s.fail(n, stepType, "", "an expression must be a string, not %s", article(n.Kind))
		case isBlank(n.String):
			s.fail(n, extractInputOutput, "write $input.NAME", "the expression must not be blank")
		default:
			step.Output = append(step.Output, Assignment{m.Key, s.expression(n)})
			s.flow.declare(output, m)
		}
	}
	return step
}

func (s *scriptReader) toolCall(o object) *ToolCall {
	step := &ToolCall{Place: o.place()}
	if n := o.required("recipient", strictjson.String); n != nil {
		step.Recipient = n.String
		if !isRecipient(n.String) {
			s.fail(n, toolCallRecipient, "write PLUGIN.FUNCTION, of letters, digits, _ and -",
				"%s is not the name of a tool", quote(n.String))
		}
	}
	if n := o.required("channel", strictjson.String); n != nil && n.String != Commentary {
		s.fail(n, toolCallChannel, suggest(n.String, []string{Commentary}, "write "+Commentary),
			"the channel of a tool-call can't be %s", quote(n.String))
	}
	if n := o.required("args", strictjson.Object); n != nil {
		step.Args = s.arguments(n)
	}
	if n := o.required("save_as", strictjson.String); n != nil {
		step.SaveAs = n.String
		if isBlank(n.String) {
			s.fail(n, toolCallSaveAs, "name a variable", "save_as must not be blank")
		}
		s.flow.write(n.String)
	}
	return step
}

// isRecipient reports whether a text has the form plugin.function.
func isRecipient(text string) bool {
	dots := 0
	for i, c := range []byte(text) {
		switch {
		case c == '.' && i > 0 && i < len(text)-1:
			dots++
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return dots == 1
}

func (s *scriptReader) branch(o object) (*If, ending) {
	step := &If{Place: o.place()}
	if n := o.required("condition", strictjson.String); n != nil {
		if isBlank(n.String) {
			s.fail(n, ifCondition, "write $vars.NAME or a comparison", "the condition must not be blank")
		} else {
			step.Condition = s.condition(n)
		}
	}
	var then, otherwise ending
	before := s.flow.mark()
	if n := o.required("then", strictjson.Array); n != nil {
		step.Then, then = s.steps(n)
	}
	set := s.flow.undo(before)
	if n := o.required("else", strictjson.Array); n != nil {
		step.Else, otherwise = s.steps(n)
	}
	s.flow.redo(set)
	return step, ending{then.halts && otherwise.halts, then.mayHalt || otherwise.mayHalt, then.says && otherwise.says}
}

var stepChannels = []string{Analysis, Final}

func (s *scriptReader) assistantMessage(o object) *AssistantMessage {
	step := &AssistantMessage{Place: o.place()}
	if n := o.required("channel", strictjson.String); n != nil {
		step.Channel = n.String
		if !slices.Contains(stepChannels, n.String) {
			s.fail(n, messageStepChannel, suggest(n.String, stepChannels, oneOf(stepChannels)),
				"the channel of an assistant-message can't be %s", quote(n.String))
		}
	}
	if n := o.optional("content", strictjson.String); n != nil {
		step.Content = n.String
	}
	if n := o.optional("content_template", strictjson.String); n != nil && isMaterial(n.String) {
		step.Template = s.template(n)
		if isMaterial(step.Content) {
			s.fail(n, messageStepTexts, "remove one of them",
				"only one of content and content_template may have a text")
		}
	}
	return step
}
