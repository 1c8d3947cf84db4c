package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// demoTail is how far back the demo looks for the call that a result answers.
const demoTail = 40

// Demo is a deterministic Model that needs no vendor.
type Demo struct{}

// Normalizer: the demo's calls are commands in free text.
func (Demo) Normalizer() (mode, id string) { return "text", demoCalls }

// DemoHelp is the demo's answer to help.
const DemoHelp = `I am gatehouse's demo agent. Try:
• calc 2+3*4 — calculates
• time, or time Europe/Berlin — tells the time
• note add milk — adds to the note book, after an approval
• note list — lists the note book
• call TOOL {…} — calls any tool with arguments in JSON, such as call demo.calc {"expression": "2+3"}
To anything else I answer with small talk.`

// Next answers the last message: a person's with a tool call or small talk, a tool's result with a sentence about it.
func (Demo) Next(ctx context.Context, history core.History, _ json.RawMessage) (Answer, error) {
	tail, err := history.Tail(ctx, demoTail)
	if err != nil || len(tail) == 0 {
		return Answer{}, err
	}
	last := tail[len(tail)-1]
	if last.Role == core.ToolRole {
		answer := textAnswer(report(callOf(tail, last.ToolCallID), last.Content.String()))
		return Answer{Message: answer}, write(ctx, answer)
	}
	answer := respond(last.Content.Own(), "call_"+strconv.Itoa(history.Len()))
	return Answer{Message: answer}, write(ctx, answer)
}

func textAnswer(text string) core.Message {
	return core.Message{Role: core.Assistant, Content: core.Text(text)}
}

func callAnswer(id, name string, args map[string]string) core.Message {
	text, _ := json.Marshal(args) // texts alone: can't fail
	return core.Message{Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: id, Name: name, Arguments: text}}}
}

// callOf gives the latest call of that id.
func callOf(msgs []core.Message, id string) core.ToolCall {
	for _, m := range slices.Backward(msgs) {
		if i := slices.IndexFunc(m.ToolCalls, func(c core.ToolCall) bool { return c.ID == id }); i >= 0 {
			return m.ToolCalls[i]
		}
	}
	return core.ToolCall{}
}

// respond parses a command, or makes small talk.
func respond(text, id string) core.Message {
	text = strings.TrimSpace(text)
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "calc":
		if rest == "" {
			return textAnswer("What should I calculate? For example: calc 2+3*4")
		}
		return callAnswer(id, "demo.calc", map[string]string{"expression": rest})
	case "time":
		if rest == "" {
			return callAnswer(id, "demo.time", map[string]string{})
		}
		return callAnswer(id, "demo.time", map[string]string{"zone": strings.TrimPrefix(rest, "in ")})
	case "call":
		if name, args, ok := requested(rest); ok {
			return respondCall(name, args, id)
		}
	case "note", "notes":
		return respondNote(rest, id)
	}
	return textAnswer(smallTalk(text))
}

// requested splits what follows call into a tool's name and its arguments; ok is false if there is no such name: people
// say call too.
func requested(rest string) (name, args string, ok bool) {
	name, args, _ = strings.Cut(rest, " ")
	return name, strings.TrimSpace(args), tool.ValidName(name)
}

// respondCall requests any tool. A phone's keyboard may have made the quotes curly.
func respondCall(name, args, id string) core.Message {
	object := func(text string) bool {
		v, err := strictjson.Parse([]byte(text))
		return err == nil && v.Kind == strictjson.Object
	}
	if args = cmp.Or(args, "{}"); !object(args) {
		args = strings.NewReplacer("“", `"`, "”", `"`).Replace(args)
	}
	if !object(args) {
		return textAnswer("The arguments are not a JSON object. For example: call " + name + ` {"amount": 2}`)
	}
	return core.Message{
		Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: id, Name: name, Arguments: json.RawMessage(args)}},
	}
}

func respondNote(rest, id string) core.Message {
	verb, text, _ := strings.Cut(rest, " ")
	text = strings.TrimSpace(text)
	switch strings.ToLower(verb) {
	case "add":
		if text == "" {
			return textAnswer("What should I add? For example: note add milk")
		}
		return callAnswer(id, "note.add", map[string]string{"text": text})
	case "list", "":
		return callAnswer(id, "note.list", map[string]string{})
	}
	return textAnswer("I know two note commands: note add milk, and note list")
}

// smallTalk answers a few words, and points to help for all others.
func smallTalk(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return strings.ContainsRune(" ,.!?;:'’", r)
	})
	has := func(wanted ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(wanted, w) })
	}
	switch {
	case has("help"):
		return DemoHelp
	case has("hello", "hi", "hey", "morning", "evening"):
		return "Hello! I am gatehouse's demo agent. Say help to see what I can do."
	case has("thanks", "thank", "thx"):
		return "You are welcome."
	case has("bye", "goodbye", "ciao"):
		return "Goodbye! This conversation is kept."
	case has("how") && has("you"):
		return "I am well, thank you. How are you?"
	case has("who", "what") && has("you"):
		return "I am gatehouse's demo agent. I have no model, only a few commands. Say help to see them."
	}
	return "I am only the demo agent and did not understand that. Say help to see what I can do."
}

// report describes a call's result.
func report(call core.ToolCall, result string) string {
	if f, failed := tool.FailureOf(result); failed {
		return strings.TrimSpace(failure(call, f) + " " + f.Changed)
	}
	var args map[string]string
	_ = json.Unmarshal(call.Arguments, &args) // other arguments than the demo's own leave it empty
	switch call.Name {
	case "demo.calc":
		return args["expression"] + " = " + result
	case "demo.time":
		return "It is " + result + "."
	case "note.add":
		if sentence, _ := tool.Changed(result); sentence != "" {
			return "Done. " + sentence
		}
		return "Done: “" + args["text"] + "” is in the note book."
	case "people.ask":
		return reportAnswer(result)
	case "note.list":
		if result == core.NoOutput {
			return "The note book is empty."
		}
		return "In the note book:\n" + result
	}
	return result
}

func failure(call core.ToolCall, f tool.Failure) string {
	if call.Name == "note.add" && refused(f) {
		return "I did not add it. " + f.Message
	}
	return strings.TrimSpace(f.Message + "\n" + f.Output)
}

// refused reports whether a call failed because it may not run: nothing was done.
func refused(f tool.Failure) bool {
	switch f.Category {
	case core.ApprovalDenied, core.ApprovalExpired, core.ApprovalCanceled, core.PolicyDenied, core.ApprovalMissing,
		core.ApprovalMismatch:
		return true
	}
	return false
}
