package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"gatehouse/adapters/mcp/internal/gate"
	"gatehouse/core"
)

// failedCall is what is known about a call that has no result.
type failedCall struct {
	err    error
	unsent bool  // nothing of it was written
	again  bool  // it may be sent again: nothing of it was written, or the tool only reads
	lost   bool  // the session is of no use any more
	late   bool  // the time for it is over; a status that came afterwards says nothing
	status int   // of HTTP, where the answer is none of the server's tool; 0: there is none
	cause  error // why the connection ended; nil: it did not
}

// forgotten are the statuses of HTTP by which a server says that it does not know the session, after a restart. Others
// send them too.
var forgotten = []int{http.StatusNotFound, http.StatusGone, http.StatusBadRequest}

// refusals are the statuses of HTTP by which a server refuses a request before it acts. Of all others nobody can say
// whether it has acted: one that redirects by 302 or 303 may well have.
var refusals = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType,
	http.StatusTooManyRequests,
	http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

// failure is the typed error of a call that failed. The outcome of a call that the server had, and did neither answer
// nor refuse, is unknown if the tool may change something.
func (s *server) failure(ctx context.Context, d definition, f *failedCall) error {
	if ctx.Err() != nil && !f.late {
		return ctx.Err()
	}
	cause := errors.New(cut(s.hideError(f.err), maxReason))
	if answer := answerIn(f.err); answer != nil && f.status == 0 {
		category := core.ToolFailed
		if answer.Code == jsonrpc.CodeInvalidParams {
			category = core.ToolArguments
		}
		return core.Wrap(category, cause, "%s failed: %s", d.name, cut(s.hideReason(answer.Message), maxFailure))
	}
	if needsLogin(f.err) {
		return core.Wrap(core.ToolFailed, cause, "%s failed: the MCP server %s needs a new login by an admin.", d.name,
			s.Name)
	}
	why := s.reasonOf(f)
	switch {
	case f.unsent:
		return core.Wrap(core.ToolFailed, cause, "%s was not called, because %s. Nothing was done.", d.name, why)
	case d.standing == Reads || slices.Contains(refusals, f.status) && !f.late:
		return core.Wrap(core.ToolFailed, cause, "%s failed: %s.", d.name, why)
	}
	return core.Wrap(core.OutcomeUnknown, cause,
		"The outcome of %s is unknown: it was sent, and then %s. It is not sent again. Please check whether it took "+
			"effect.", d.name, why)
}

// answerIn gives the error that the server answered; nil if it did not answer. The SDK has an error of its own of the
// same type, for what it could not send.
func answerIn(err error) *jsonrpc.Error {
	var answer *jsonrpc.Error
	if errors.As(err, &answer) && answer.Code != rejectedCode {
		return answer
	}
	return nil
}

// rejectedCode is that of the SDK's own error.
const rejectedCode = -32005

// reasonOf says why there is no result, in a clause.
func (s *server) reasonOf(f *failedCall) string {
	who := "the MCP server " + s.Name
	var to redirected
	switch {
	case errors.Is(f.cause, gate.ErrTooLarge) || errors.Is(f.err, gate.ErrTooLarge):
		return who + " sent more than 4 MiB at once, so the connection to it was ended"
	case f.late:
		return who + " did not answer within " + s.times.call.Round(time.Millisecond).String()
	case errors.As(f.err, &to):
		return who + " answered HTTP status " + statusText(f.status) + ": " + s.hideReason(to.Error())
	case slices.Contains(refusals, f.status):
		return who + " refused the call with HTTP status " + statusText(f.status)
	case f.status != 0:
		return who + " answered HTTP status " + statusText(f.status)
	case f.unsent:
		return who + " can't be reached; it is being restarted"
	}
	return "the connection to " + who + " was lost"
}

// statusText names a status of HTTP, and says what to do about it.
func statusText(status int) string {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return text + "; correct the headers of this server in mcp.json"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return text + "; check the URL of this server in mcp.json"
	}
	return text
}
