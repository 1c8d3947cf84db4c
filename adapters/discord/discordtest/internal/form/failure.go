// Package form checks what an app sends, as Discord does, and has Discord's error answers.
package form

import (
	"fmt"
	"net/http"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Failure is an error answer.
type Failure struct {
	Status  int
	Code    int
	Message string
	Errors  wire.Object // of 50035, nested by field
}

// The error answers.
var (
	Unauthorized       = &Failure{Status: 401, Code: 0, Message: "401: Unauthorized"}
	MissingAccess      = &Failure{Status: 403, Code: 50001, Message: "Missing Access"}
	MissingPermissions = &Failure{Status: 403, Code: 50013, Message: "Missing Permissions"}
	NotAuthor          = &Failure{Status: 403, Code: 50005, Message: "Cannot edit a message authored by another user"}
	CannotMessageUser  = &Failure{Status: 403, Code: 50007, Message: "Cannot send messages to this user"}
	UnknownChannel     = &Failure{Status: 404, Code: 10003, Message: "Unknown Channel"}
	UnknownGuild       = &Failure{Status: 404, Code: 10004, Message: "Unknown Guild"}
	UnknownMember      = &Failure{Status: 404, Code: 10007, Message: "Unknown Member"}
	UnknownMessage     = &Failure{Status: 404, Code: 10008, Message: "Unknown Message"}
	UnknownUser        = &Failure{Status: 404, Code: 10013, Message: "Unknown User"}
	UnknownWebhook     = &Failure{Status: 404, Code: 10015, Message: "Unknown Webhook"}
	UnknownInteraction = &Failure{Status: 404, Code: 10062, Message: "Unknown interaction"}
	UnknownCommand     = &Failure{Status: 404, Code: 10063, Message: "Unknown application command"}
	AlreadyAnswered    = &Failure{Status: 400, Code: 40060, Message: "Interaction has already been acknowledged."}
	EmptyMessage       = &Failure{Status: 400, Code: 50006, Message: "Cannot send an empty message"}
	WrongChannel       = &Failure{Status: 400, Code: 50008, Message: "Cannot send messages in a non-text channel"}
	WrongChannelType   = &Failure{Status: 400, Code: 50024, Message: "Cannot execute action on this channel type"}
	BadWebhookToken    = &Failure{Status: 401, Code: 50027, Message: "Invalid Webhook Token"}
	ThreadArchived     = &Failure{Status: 400, Code: 50083, Message: "Thread is archived"}
	ThreadExists       = &Failure{
		Status: 400, Code: 160004, Message: "A thread has already been created for this message",
	}
	ThreadLocked   = &Failure{Status: 400, Code: 160005, Message: "The thread is locked"}
	MessageBlocked = &Failure{Status: 400, Code: 200000, Message: "Message was blocked by automatic moderation"}
	TitleBlocked   = &Failure{Status: 400, Code: 200001, Message: "Title was blocked by automatic moderation"}
	HarmfulLink    = &Failure{Status: 400, Code: 240000, Message: "Message blocked by harmful links filter"}
	NotJSON        = &Failure{Status: 400, Code: 50109, Message: "The request body contains invalid JSON."}
	TooLarge       = &Failure{Status: 413, Code: 40005, Message: "Request entity too large"}
	NoSuchRoute    = &Failure{Status: 404, Code: 0, Message: "404: Not Found"}
)

// Body is the answer's JSON.
func (f *Failure) Body() wire.Object {
	o := wire.Object{"message": f.Message, "code": f.Code}
	if f.Errors != nil {
		o["errors"] = f.Errors
	}
	return o
}

// Errors are the errors in the fields of a body.
type Errors struct{ found []formError }

type formError struct{ where, code, message string }

// Add adds an error at a path of fields separated by dots.
func (b *Errors) Add(where, code, message string) {
	b.found = append(b.found, formError{where, code, message})
}

// Failure returns 50035 with the errors at their fields, or nil if there are none.
func (b *Errors) Failure() *Failure {
	if len(b.found) == 0 {
		return nil
	}
	root := wire.Object{}
	for _, e := range b.found {
		at := root
		for _, step := range strings.Split(e.where, ".") {
			inner, ok := at[step].(wire.Object)
			if !ok {
				inner = wire.Object{}
				at[step] = inner
			}
			at = inner
		}
		all, _ := at["_errors"].([]wire.Object)
		at["_errors"] = append(all, wire.Object{"code": e.code, "message": e.message})
	}
	return &Failure{Status: http.StatusBadRequest, Code: 50035, Message: "Invalid Form Body", Errors: root}
}

// BadField returns a 50035 for one field.
func BadField(where, code, format string, args ...any) *Failure {
	b := &Errors{}
	b.Add(where, code, fmt.Sprintf(format, args...))
	return b.Failure()
}
