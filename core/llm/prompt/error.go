package prompt

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// Error is an error about one prompt (prompt-management §11). Its category, and the sentence for people, are those of
// the *core.Error that it wraps.
type Error struct {
	Name, Version, Label string // Version is "" if nothing was fetched

	Variables   map[string]any // of a rendering. A value may be a secret; none is in the error's text
	Description string         // what is wrong

	cause *core.Error
}

// Error is the text of the *core.Error, for logs.
func (e *Error) Error() string { return e.cause.Error() }

// Unwrap gives the *core.Error.
func (e *Error) Unwrap() error { return e.cause }

// NotFound is the error of a backend that has no such prompt: prompt_not_found.
func NotFound(name, label string) error {
	description := fmt.Sprintf("there is no prompt %q with the label %q", name, label)
	return &Error{Name: name, Label: label, Description: description, cause: core.Errorf(core.PromptNotFound,
		"There is no prompt %q with the label %q. Add it to the prompts, or correct the name or the label.", name,
		label)}
}

// Unavailable is the error of a backend that can't be reached: prompt_store_unavailable. cause may be nil.
func Unavailable(name, label string, cause error) error {
	return &Error{
		Name: name, Label: label, Description: "the store of prompts can't be reached",
		cause: core.Wrap(core.PromptStoreUnavailable, cause,
			"The prompt %q could not be fetched, because no store of prompts can be reached. Try again later.", name),
	}
}

// renderError is prompt_render_error.
func (p Prompt) renderError(in Input, description string) error {
	place := ""
	for _, part := range []struct{ what, value string }{{"version", p.Version}, {"label", p.Label}} {
		if part.value != "" {
			place += ", " + part.what + " " + part.value
		}
	}
	if place != "" {
		place = " (" + strings.TrimPrefix(place, ", ") + ")"
	}
	return &Error{Name: p.Name, Version: p.Version, Label: p.Label, Variables: in.Variables, Description: description,
		cause: core.Errorf(core.PromptRenderError, "The prompt %q%s can't be rendered: %s.", p.Name, place,
			description)}
}
