package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
	"gatehouse/core/llm"
	"gatehouse/core/llm/view"
)

// noModel is why a script without a model can't be answered.
const noModel = "no model is configured; an admin can set GATEHOUSE_MODEL, such as openai:gpt-5, or change the script"

// goOn is what a model is asked if the last line is its own.
const goOn = "Now write the answer to the user."

// scriptInput is the input of a script: text is the message that began the turn, words its words, args what follows the
// first of them, and rest what follows the first two.
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
	turn, _ := core.TurnFrom(ctx)
	if err := r.Model.admit(ctx, turn.Actor.ID); err != nil {
		return Answer{}, err
	}
	said, _ := r.kept.State.Input["text"].(string)
	system, messages := dialogue(lines, said)
	answer, err := fitting(r.Model.Budget, func(budget int) (Answer, int, error) {
		shown, err := view.Of(messages, view.Options{System: system, Budget: budget})
		if err != nil {
			return Answer{}, 0, err
		}
		answer, err := r.Model.ask(ctx, turn.Actor.ID, llm.Request{Messages: shown.Messages, Estimate: shown.Tokens})
		return answer, shown.Tokens, err
	})
	r.kept.Tokens += answer.Tokens
	return answer, err
}

// dialogue brings lines in the form that every provider takes: one system prompt, and messages of which the first and
// the last are a user's. A script that has no user's line before its own thoughts is about the message that began the
// turn.
func dialogue(lines []interp.Line, said string) (system string, messages []core.Message) {
	var prompts []string
	for _, l := range lines {
		if l.Role == hrf.System {
			prompts = append(prompts, l.Text)
			continue
		}
		messages = append(messages, core.Message{Role: core.Role(l.Role), Content: core.Text(l.Text)})
	}
	if len(messages) == 0 || messages[0].Role != core.User {
		messages = slices.Insert(messages, 0, core.Message{Role: core.User, Content: core.Text(cmp.Or(said, goOn))})
	}
	if messages[len(messages)-1].Role != core.User {
		messages = append(messages, core.Message{Role: core.User, Content: core.Text(goOn)})
	}
	return strings.Join(prompts, "\n\n"), messages
}
