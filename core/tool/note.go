package tool

import (
	"context"
	"encoding/json"
	"strings"

	"gatehouse/core"
)

// NoteAdd adds to the conversation's note book. It is the mutating tool of the demo. Arguments: {"text": "milk"}.
func NoteAdd(add func(ctx context.Context, owner, text string) error) Tool {
	return Tool{
		Name:        "note.add",
		Description: "Adds a line to the conversation's note book.",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string","minLength":1}},"required":["text"]}`),
		Mutating: true,
		Summarize: func(args json.RawMessage) string {
			return "Add “" + argument(args, "text") + "” to the note book."
		},
		Says: func(args json.RawMessage) bool { return Says(args, []string{"text"}, []string{"text"}) },
		Do: func(ctx context.Context, _ string, args json.RawMessage) (string, error) {
			if err := add(ctx, owner(ctx), argument(args, "text")); err != nil {
				return "", err
			}
			return "Added.", nil
		},
	}
}

// NoteList lists the note book, one "• milk" a line. Arguments: {}.
func NoteList(list func(ctx context.Context, owner string) ([]string, error)) Tool {
	return Tool{
		Name:        "note.list",
		Description: "Lists the lines of the conversation's note book.",
		Schema:      json.RawMessage(`{"type":"object"}`),
		Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
			notes, err := list(ctx, owner(ctx))
			if err != nil || len(notes) == 0 {
				return "", err
			}
			return "• " + strings.Join(notes, "\n• "), nil
		},
	}
}

// owner is the conversation that a note book belongs to.
func owner(ctx context.Context) string {
	turn, _ := core.TurnFrom(ctx)
	return string(turn.Conversation)
}
