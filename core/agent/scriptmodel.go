package agent

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
	"gatehouse/core/llm"
)

// noModel is why a script without a model can't be answered.
const noModel = "no model is configured; an admin can set GATEHOUSE_MODEL, such as openai:gpt-5, or change the script"

// goOn is what a model is asked if the last line is its own.
const goOn = "Now write the answer to the user."

// scriptInput is the input of a script: text is the message that began the turn, words its words, args what follows the first of them, and rest
// what follows the first two.
func scriptInput(text string) map[string]any {
	text = strings.TrimSpace(text)
	words := []any{}
	for word := range strings.FieldsSeq(text) {
		words = append(words, word)
	}
	args := afterWord(text)
	return map[string]any{"text": text, "words": words, "args": args, "rest": afterWord(args)}
}

func afterWord(text string) string {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return ""
	}
	return strings.TrimSpace(text[end:])
}

// ask asks the model for a text.
func (r *scriptRun) ask(ctx context.Context, lines []interp.Line) (Answer, error) {
	if r.Tokens > 0 && r.kept.Tokens >= r.Tokens {
		return Answer{}, tooManyTokens(r.kept.Tokens, r.Tokens)
	}
	said, _ := r.kept.State.Input["text"].(string)
	turn, _ := core.TurnFrom(ctx)
	answer, err := r.Model.ask(ctx, turn.Actor.ID, llm.Request{Messages: dialogue(lines, said)})
	r.kept.Tokens += answer.Tokens
	return answer, err
}

// dialogue brings lines in the form that every provider takes: one system message, then a user's, and a user's at the end. A script that has no
// user's line before its own thoughts is about the message that began the turn.
func dialogue(lines []interp.Line, said string) []core.Message {
	var system []string
	var all []core.Message
	for _, l := range lines {
		if l.Role == hrf.System {
			system = append(system, l.Text)
			continue
		}
		all = append(all, core.Message{Role: core.Role(l.Role), Content: core.Text(l.Text)})
	}
	if said == "" {
		said = goOn
	}
	if len(all) == 0 || all[0].Role != core.User {
		all = slices.Insert(all, 0, core.Message{Role: core.User, Content: core.Text(said)})
	}
	if all[len(all)-1].Role != core.User {
		all = append(all, core.Message{Role: core.User, Content: core.Text(goOn)})
	}
	if len(system) > 0 {
		all = slices.Insert(all, 0, core.Message{Role: core.System, Content: core.Text(strings.Join(system, "\n\n"))})
	}
	return all
}
