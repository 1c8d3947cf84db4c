package discordtest

import (
	"fmt"
	"net/http"
	"strings"
)

// failure is an answer that refuses.
type failure struct {
	status  int
	code    int
	message string
	errors  object // of 50035, nested by field
}

var (
	unauthorized       = &failure{status: 401, code: 0, message: "401: Unauthorized"}
	missingAccess      = &failure{status: 403, code: 50001, message: "Missing Access"}
	missingPermissions = &failure{status: 403, code: 50013, message: "Missing Permissions"}
	notAuthor          = &failure{status: 403, code: 50005, message: "Cannot edit a message authored by another user"}
	cannotMessageUser  = &failure{status: 403, code: 50007, message: "Cannot send messages to this user"}
	unknownChannel     = &failure{status: 404, code: 10003, message: "Unknown Channel"}
	unknownGuild       = &failure{status: 404, code: 10004, message: "Unknown Guild"}
	unknownMember      = &failure{status: 404, code: 10007, message: "Unknown Member"}
	unknownMessage     = &failure{status: 404, code: 10008, message: "Unknown Message"}
	unknownUser        = &failure{status: 404, code: 10013, message: "Unknown User"}
	unknownEmoji       = &failure{status: 400, code: 10014, message: "Unknown Emoji"}
	unknownWebhook     = &failure{status: 404, code: 10015, message: "Unknown Webhook"}
	unknownInteraction = &failure{status: 404, code: 10062, message: "Unknown interaction"}
	unknownCommand     = &failure{status: 404, code: 10063, message: "Unknown application command"}
	alreadyAnswered    = &failure{status: 400, code: 40060, message: "Interaction has already been acknowledged."}
	emptyMessage       = &failure{status: 400, code: 50006, message: "Cannot send an empty message"}
	wrongChannel       = &failure{status: 400, code: 50008, message: "Cannot send messages in a non-text channel"}
	wrongChannelType   = &failure{status: 400, code: 50024, message: "Cannot execute action on this channel type"}
	badWebhookToken    = &failure{status: 401, code: 50027, message: "Invalid Webhook Token"}
	threadArchived     = &failure{status: 400, code: 50083, message: "Thread is archived"}
	threadExists       = &failure{status: 400, code: 160004, message: "A thread has already been created for this message"}
	threadLocked       = &failure{status: 400, code: 160005, message: "The thread is locked"}
	notJSON            = &failure{status: 400, code: 50109, message: "The request body contains invalid JSON."}
	tooLarge           = &failure{status: 413, code: 40005, message: "Request entity too large"}
	noSuchRoute        = &failure{status: 404, code: 0, message: "404: Not Found"}
)

func (f *failure) body() object {
	o := object{"message": f.message, "code": f.code}
	if f.errors != nil {
		o["errors"] = f.errors
	}
	return o
}

// formErrors are the mistakes in the fields of a body.
type formErrors struct{ found []formError }

type formError struct{ where, code, message string }

func (b *formErrors) add(where, code, message string) {
	b.found = append(b.found, formError{where, code, message})
}

// failure is 50035 with the mistakes at their places, or nil if there are none.
func (b *formErrors) failure() *failure {
	if len(b.found) == 0 {
		return nil
	}
	root := object{}
	for _, e := range b.found {
		at := root
		for _, step := range strings.Split(e.where, ".") {
			inner, ok := at[step].(object)
			if !ok {
				inner = object{}
				at[step] = inner
			}
			at = inner
		}
		all, _ := at["_errors"].([]object)
		at["_errors"] = append(all, object{"code": e.code, "message": e.message})
	}
	return &failure{status: http.StatusBadRequest, code: 50035, message: "Invalid Form Body", errors: root}
}

// badField is a 50035 for one field.
func badField(where, code, format string, args ...any) *failure {
	b := &formErrors{}
	b.add(where, code, fmt.Sprintf(format, args...))
	return b.failure()
}
